"""The top-k SVM: all classes in one problem, trained so that the true class is among the k best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.utils import column_or_1d

from ...base import KernelClassifier, forget
from ...data import WeightedRows, check_alpha, check_choice, check_flag, check_number
from ...kernels import KernelData, Linear, Precomputed
from ...metrics import top_k_accuracy
from ...solving import Callback, SolverResult, State, Status, Stop, without_bound_words
from ..linear import linear_outputs
from .ascent import SAMPLING, SOLVERS, AscentMethod, topk
from .loss import TRUE_CLASS, TopKHinge
from .problem import TopKProblem, TopKResult, WarmShares

OPTIONAL_ATTRIBUTES = ("coef_", "support_", "support_vectors_", "dual_coef_")


class TopKSVC(KernelClassifier):
    """The top-k SVM of several classes, certified by its duality gap.

    Over W, a column for each class, it minimises

        alpha/2 ||W||^2 + (1/N) sum_i s_i Phi(W'x_i; y_i),     N = sum_i s_i,

    where s_i is the sample's weight times its class's and Phi the mean of the k largest violations
    ``1 + <w_g, x> - <w_y, x>``, if that is positive. With k = 1 this is the SVM of Crammer and Singer, with
    C = 1 / (alpha N). A larger k asks only that the true class is among the first k.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR: it is computed in double, also for
    float32 rows and their kernel values.

    Parameters
    ----------
    k : int, default=1
        Less than the number of classes.
    alpha : float, default=1e-3
        Weight of the norm against the mean loss.
    true_class : {"include", "exclude"}, default="include"
        Whether the true class, with violation 0, may be one of the k. "include" is the published loss,
        "exclude" the one that its authors' code computes; for k = 1 they are the same.
    solver : {"auto", "dual-ascent", "frank-wolfe"}, default="auto"
        "dual-ascent" takes exact block steps, and second-order steps once these become slow; "auto" is the
        same. "frank-wolfe" is the block-coordinate Frank-Wolfe method.
    sampling : {"uniform", "gaps"}, default="uniform"
        For "frank-wolfe": how the sample of a step is drawn, uniformly or in proportion to its last known
        duality gap.
    averaging : bool, default=False
        For "frank-wolfe": return the mean of the iterates, with more weight on later ones.
    kernel : str, callable or Kernel, default="linear"
        "linear" works with the features themselves, dense or CSR. Others as in :class:`KernelSVC`.
    gamma, degree, coef0
        As in :class:`KernelSVC`.
    fit_intercept : bool, default=True
        An intercept is a feature that is 1 everywhere, penalised with the rest; 1 is added to a kernel.
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
        Bound on the relative duality gap.
    max_iter : int, default=1000
        Epochs, in which each sample has a block step or is known to need none, and second-order steps.
    max_seconds : float, default=3600.0
    n_jobs : int, optional
        Threads; None leaves the choice to the environment. The result does not depend on it.
    warm_start : bool, default=False
        Start from the dual variables of the last fit, where it had the same loss and as many samples, of
        the same classes: for other values of alpha, or other weights.
    random_state : int, RandomState or None
        The order of the samples, and ``gamma="median"``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        With the linear kernel; for two classes (1, n_features), the difference.
    intercept_ : ndarray of shape (n_classes,), or (1,)
    support_, support_vectors_, dual_coef_
        With other kernels: rows of X with a coefficient, these rows (for a precomputed kernel the numbers of
        its columns), and the coefficients, (n_classes, n_support) or (1, n_support).
    n_support_ : int
        How many different samples have a coefficient.
    objective_ : float
        The primal value.
    dual_gap_ : float
        The relative duality gap; what rounding of scores in double can do is added.
    history_ : list of one tuple of Check
    status_ : str
        "converged", or why it stopped before.
    classes_, n_iter_, kernel_, gamma_, code_, decoder_, n_features_in_
        As in :class:`KernelSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import TopKSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = TopKSVC(k=3).fit(X / 16, y)
    >>> bool(model.dual_gap_ <= 1e-3)
    True
    >>> classes, scores = model.predict_top_k(X[:2] / 16)
    >>> classes.shape
    (2, 3)
    """

    code = "one-vs-rest"  # one column of outputs for each class
    decoder = "margins"
    _joint = True
    _remedy_for_overflow = "raise alpha"

    def __init__(
        self,
        k: int = 1,
        alpha: float = 1e-3,
        *,
        true_class: str = "include",
        solver: str = "auto",
        sampling: str = "uniform",
        averaging: bool = False,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.true_class = true_class
        self.solver = solver
        self.sampling = sampling
        self.averaging = averaging
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("k", self.k, at_least=1, integer=True)
        check_number("alpha", self.alpha, above=0.0)
        check_choice("true_class", self.true_class, TRUE_CLASS)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("sampling", self.sampling, SAMPLING)
        check_flag("averaging", self.averaging)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)
        self._check_kernel()
        self._check_stopping()

    def _prepare(self, data: WeightedRows) -> None:
        n_classes = len(self.classes_)
        if self.k >= n_classes:
            raise ValueError(
                f"k must be less than the number of classes, or no prediction is wrong; got k={self.k} and "
                f"{n_classes} classes. Use k={n_classes - 1} or less."
            )
        super()._prepare(data)
        check_alpha(self.alpha, self._largest_product(data))

    def _largest_product(self, data: WeightedRows) -> float:
        """The largest ``|k(x, z)|`` of a precomputed kernel; of others, which should be positive, k(x, x)."""
        if isinstance(self.kernel_, Precomputed):
            X = data.rows.X
            return max(float(X.max()), -float(X.min()))
        if isinstance(self.kernel_, Linear):
            return float(data.rows.sqnorms().max())
        with np.errstate(over="ignore"):
            return float(np.square(self._kernel_data(data).lengths(np.arange(len(data.rows))).max()))

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        problem = TopKProblem(
            data=data.rows if isinstance(self.kernel_, Linear) else self._double_kernel(data),
            labels=data.labels.astype(np.int64),
            weight=data.weight,
            alpha=float(self.alpha),
            loss=TopKHinge(int(self.k), self.true_class),  # type: ignore[arg-type]
            n_classes=len(self.classes_),
            constant=1.0 if self.fit_intercept else 0.0,
        )
        start = self._earlier_shares(problem)
        method = AscentMethod(self.solver, self.sampling, self.averaging)
        result = topk(problem, solver=method, stop=stop, seed=self._seed, state=start, callback=callback)
        return [replace(result, problem=problem)]

    def _double_kernel(self, data: WeightedRows) -> KernelData:
        """Kernel values in double: rounded to single, their matrix is not positive and a gap has a floor."""
        kernel = self._kernel_data(data)
        if not kernel.compiled or kernel.dtype == np.float64:
            return kernel.in_double()
        X = kernel.X[kernel.index].astype(np.float64)
        return KernelData(self.kernel_, X, np.arange(len(kernel)), kernel.n_threads, cancel=kernel.cancel)

    def _earlier_shares(self, problem: TopKProblem) -> State | None:
        """A start at the last fit's shares, where they are feasible here."""
        last = getattr(self, "_last", None)
        return last.state(problem) if self.warm_start and last is not None else None

    def _remedy(self) -> str:
        ended, finite = Status(self.status_), np.isfinite(self.objective_)
        unbounded = self.dual_gap_ == np.inf and finite and ended not in (Status.DIVERGED, Status.FAILED)
        return without_bound_words(self.kernel) if unbounded else super()._remedy()

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        result = cast(TopKResult, results[0])
        forget(
            self,
            "_last",
            *OPTIONAL_ATTRIBUTES,
        )
        if self.warm_start:
            self._last = WarmShares(result.problem.loss, result.problem.labels, cast(Any, result.dual_coef))
        coef, offset = result.coef, result.offset
        if len(self.classes_) == 2:
            coef, offset = np.diff(coef, axis=1), np.diff(offset)
        if isinstance(self.kernel_, Linear):
            self.coef_ = np.ascontiguousarray(coef.T)
            self.n_support_ = result.history[-1].n_support
        else:
            support = np.flatnonzero(coef.any(axis=1))
            points = self._kernel_data(data).points(support)
            self._keep(points, coef[support], data.rows.index[support], data.labels[support])
        self.intercept_ = offset

    def _column_outputs(self, X: Any) -> np.ndarray:
        if not isinstance(self.kernel_, Linear):
            return super()._column_outputs(X)
        return linear_outputs(X, self.coef_, self.intercept_, self.n_jobs)

    def predict_top_k(self, X: Any, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The k classes with the largest scores, the best one first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        k : int, optional
            At most the number of classes; by default the k of the fit.

        Returns
        -------
        classes : ndarray of shape (n_samples, k)
            The first column is ``predict(X)``.
        scores : ndarray of shape (n_samples, k)
            Their scores. Two classes have plus and minus half the value of ``decision_function``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-0.5 * scores, 0.5 * scores])
        k = self.k if k is None else k
        check_number("k", k, at_least=1, integer=True)
        if k > scores.shape[1]:
            raise ValueError(f"k must be at most the number of classes, {scores.shape[1]}; got {k}.")
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return self.classes_[best], np.take_along_axis(scores, best, axis=1)

    def score(self, X: Any, y: Any, k: int | None = None, sample_weight: Any = None) -> float:
        """The share of samples whose class is among the k with the highest scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        k : int, optional
            By default 1, the accuracy, whatever the k of the fit, so that models with different k compare.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        y = column_or_1d(y)
        k = 1 if k is None else k
        return top_k_accuracy(y, self, k, X=X, sample_weight=sample_weight)

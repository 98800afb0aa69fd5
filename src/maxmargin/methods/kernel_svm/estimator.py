"""``KernelSVC``, the exact kernel SVM: one certified problem per column of a code."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from ..._native import GroupedMatrix
from ...base import FitInput, FoldOutputs, KernelClassifier, first_step_of, forget, linear_weights
from ...checkpoints import FitRecord
from ...codes import PairCode
from ...data import (
    WeightedRows,
    check_choice,
    check_costs,
    check_flag,
    check_grid,
    check_number,
)
from ...kernels import KernelData, points_of
from ...solving import (
    Callback,
    Deadline,
    SolverResult,
    Stop,
    ended_in_time,
    summary_of,
    without_bound_words,
)
from .column_fit import ColumnFit, check_feasible, column_in_words
from .columns import SvmColumn, SvmColumns
from .out_of_fold import outputs_without_folds
from .pairs import PairProblem, PairResults, pairs_of, small_pairs_of, solve_pairs
from .problem import SvmProblem
from .row_cache import cache_megabytes, check_cache_mb
from .working_set import PAIR_LIMITS

LOSSES = {
    "hinge": "hinge",
    "squared-hinge": "squared-hinge",
    "squared_hinge": "squared-hinge",
    "ramp": "ramp",
}


class KernelSVC(KernelClassifier):
    """Soft-margin kernel SVM, certified by its duality gap.

    For every column of the code, with targets y in {-1, +1}, it minimises over f and b

        1/2 ||f||^2 + C sum_i s_i loss(y_i (f(x_i) + b)),    f(x) = sum_j a_j k(x, x_j),

    where s_i is the sample weight times the class weight and the loss is max(0, 1 - m) ("hinge", the problem
    of scikit-learn's ``SVC``) or max(0, 1 - m)^2 / 2 ("squared-hinge"). The intercept is not penalised.

    A working-set method solves the dual: it optimises blocks of violating samples by pairs chosen with
    second-order information, caches a limited number of kernel rows, and shrinks the problem to the samples
    that are not yet settled at a bound. A fit ends when the relative duality gap over all samples is at most
    ``tol``; problems of up to 1,000 samples are then solved to the precision of their kernel values.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR, and their kernel values in exact
    arithmetic. Kernel values of float32 rows are computed in float32; every certificate measures on a sample
    of rows what that can do, and adds it to the gap. Where it could decide whether a fit has converged, terms
    of the gap are computed in double, and the fit continues in double if they are too large (as a rule, for C
    above 1,000). A precomputed float32 matrix is taken as exact.

    Parameters
    ----------
    C : float, default=1.0
        Ignored with ``nu``.
    loss : {"hinge", "squared-hinge", "ramp"}, default="hinge"
        "ramp" cuts the hinge off at the margin -1, against wrong labels; the solution is a stationary point,
        not the optimum, and ``objective_`` and ``dual_gap_`` are those of its last convex step.
    nu : float, optional
        In (0, 1]: C is found, not given (``NuSVC``), for each column. At the optimum at most this share of
        its rows (by weight) has margins below 1, and at least this share are support vectors. Outputs are
        those of ``KernelSVC(C_[t])``; ``objective_`` and ``dual_gap_`` those of a problem with a margin rho,
        1/2 ||f||^2 - nu rho + sum_i s_i max(0, rho - y_i (f(x_i) + b)) / sum_i s_i; below 1e-10 of
        (nu r)^2 / 2, r the largest distance to one row in feature space, its value counts as 0. A nu above
        twice the share of a column's lighter side is infeasible, and so is one so small that zero
        coefficients are optimal.
    kernel : str, callable or Kernel, default="rbf"
        "linear", "polynomial", "rbf", "sigmoid", "laplacian", "exponential", "precomputed" (square to fit,
        then one column for each training row), or a function ``k(X, Z) -> matrix`` of any objects.
    gamma : float or {"scale", "auto", "median"}, default="scale"
        As in scikit-learn; "median" is the median of 1 / ||x - z||^2. The exponential kernel takes the root.
    degree, coef0 : float
        For "polynomial" and "sigmoid".
    code : str or Code, default="one-vs-one"
        How to reduce several classes to binary problems: a ``Code``, or a name in ``maxmargin.codes.CODES``.
    decoder : str, default="auto"
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
        Bound on the relative duality gap.
    max_iter : int, default=100000
        Rounds (one block each) per column; with ``nu``, of all its fits together.
    max_seconds : float, default=3600.0
    cache_mb : float or "auto", default="auto"
        Memory for kernel rows, shared by the columns solved in parallel. "auto" takes a quarter of the
        available memory, at most 1,000 MB. At least two rows are always cached.
    shrinking : bool, default=True
        Set settled samples aside, and start large problems on a subset of their rows.
    n_jobs : int, optional
        Number of threads; all cores by default. Results are bit-identical for any value.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if it had the same number of rows and the same classes.
        No effect with ``nu``.
    random_state : int, RandomState or None
        Used only by ``gamma="median"``; nothing else is random.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Rows of X with a non-zero coefficient in some column, sorted by class.
    support_vectors_ : array of shape (n_support, n_features)
        For a precomputed kernel, the column indices.
    dual_coef_ : ndarray of shape (n_columns, n_support)
        0 if a column does not use the support vector. For one-vs-one with three or more classes it is made
        from ``pair_coef_`` at each access.
    pair_coef_ : ndarray of shape (n_support, n_classes - 1)
        Only for one-vs-one with three or more classes: the coefficient of each support vector in the columns
        of its own class, by the other class in ascending order.
    intercept_ : ndarray of shape (n_columns,)
    n_support_ : int
    objective_ : float
        The primal value, summed over the columns.
    dual_gap_ : float
        The largest relative duality gap of a column.
    history_ : sequence of tuple of Check
        The certificates of each column: bounds, KKT violation, kernel values computed, cache hit rate.
    status_ : str
        "converged", or why a column stopped early.
    C_ : ndarray of shape (n_columns,)
        Only with ``nu``: the C found.
    cache_mb_ : float
        The memory limit in effect.
    classes_, n_iter_, gamma_, kernel_, code_, decoder_, n_features_in_
        As in :class:`SparseKernelClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelSVC
    >>> model = KernelSVC(C=10).fit(*load_iris(return_X_y=True))
    >>> model.status_, bool(model.dual_gap_ < 1e-9)
    ('converged', True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        nu: float | None = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-one",
        decoder: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_seconds: float = 3600.0,
        cache_mb: Any = "auto",
        shrinking: bool = True,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_mb = cache_mb
        self.shrinking = shrinking
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        check_choice("loss", self.loss, LOSSES)
        if self.nu is not None:
            self._check_nu(self.nu)
        check_flag("shrinking", self.shrinking)
        check_flag("warm_start", self.warm_start)
        check_cache_mb(self.cache_mb)
        self._check_kernel()
        self._check_stopping()

    def _check_nu(self, nu: float) -> None:
        check_number("nu", nu, above=0.0)
        if nu > 1.0:
            raise ValueError(f"nu must be None or a number > 0 and at most 1; got {nu!r}.")
        if self.loss != "hinge":
            raise ValueError(
                f"nu finds the C of loss='hinge'; got loss={self.loss!r}. Set loss to 'hinge', or nu to None."
            )

    def _read_machine(self, record: FitRecord) -> None:
        """Set ``cache_mb_``."""
        self.cache_mb_ = cache_megabytes(self.cache_mb, record)

    def _prepare(self, data: WeightedRows) -> None:
        check_costs(self._cost(), data.weight)
        super()._prepare(data)
        forget(self, "C_")
        if self.nu is not None:
            check_feasible(self.nu, self.code_, self.classes_, data.labels, data.weight)

    def _earlier_coefficients(self, data: WeightedRows) -> np.ndarray | None:
        """Coefficients of the last fit, (n_samples, n_columns), if it had the same shape; else None."""
        last = getattr(self, "_last_rows", None)
        if last is None or getattr(self, "support_", None) is None:
            return None
        if last != (data.rows.X.shape[0], self.classes_.tolist(), self.code_.n_columns):
            return None
        if "pair_coef_" in vars(self) and not isinstance(self.code_, PairCode):  # of another code
            return None
        coef = np.zeros((data.rows.X.shape[0], self.code_.n_columns))
        coef[self.support_] = self.dual_coef_.T
        return coef

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> Sequence[SolverResult]:
        earlier = self._earlier_coefficients(data) if self.warm_start else None
        columns, fit = self._columns(data), self._column_fit(callback)

        def solve_column(begun: dict[int, np.ndarray], column: SvmColumn, stop: Stop) -> list[SolverResult]:
            t = column.number
            coef = begun.get(t) if earlier is None else earlier[column.problem.kernel.index, t]
            return [fit.solve(column, stop, coef)]

        def solve(numbers: np.ndarray | None, stop: Stop, begun: dict[int, np.ndarray]) -> list[SolverResult]:
            some = columns.solve(partial(solve_column, begun), stop, n_threads, numbers=numbers)
            return [only for (only,) in some]

        together = columns.small_pairs and self.loss != "ramp" and self.nu is None
        pairs = small_pairs_of(self.code_) if together else None
        if pairs is not None and earlier is None and callback is None and stop.journal is None:
            squared = LOSSES[self.loss] == "squared-hinge"
            problem = PairProblem(columns.kernel, self.C * data.weight, squared, pairs, data.labels)
            found = solve_pairs(problem, PAIR_LIMITS, solve, stop, n_threads)
            return found if pairs is self.code_ else [found[0]]
        results = solve(None, stop, {})
        if self.nu is not None:
            self.C_ = np.array([getattr(result, "C", 0.0) for result in results])
        return self._gathered(results, data)

    def _gathered(self, results: list[SolverResult], data: WeightedRows) -> Sequence[SolverResult]:
        """The results of one-vs-one in arrays, others as they are."""
        pairs = pairs_of(self.code_)
        return results if pairs is None else PairResults.of(results, pairs, data.labels)

    def _column_fit(self, callback: Callback | None = None) -> ColumnFit:
        words = partial(column_in_words, self.code_, self.classes_)
        return ColumnFit(self.loss == "ramp", self.nu, self.shrinking, callback, words)

    def _columns(self, data: WeightedRows) -> SvmColumns:
        cache_bytes = int(self.cache_mb_ * 1e6)
        return SvmColumns(self._kernel_data(data), data, self.code_, self._problem, cache_bytes)

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> list[KernelSVC]:
        """Models for several values of C, each warm-started from the one before, with its cached kernel rows.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        Cs : array-like of shape (n_models,)
            Solved in this order; from small to large is fastest.

        Returns
        -------
        list of KernelSVC
            One fitted model per C. ``max_seconds`` limits the average time per model; this estimator itself
            is not fitted.
        """
        Cs = check_grid("Cs", Cs)
        if self.nu is not None:
            raise ValueError(f"path varies C, which nu={self.nu!r} replaces. Set nu to None.")
        common = clone(self).set_params(C=float(max(Cs)))
        common._check_parameters()
        with Deadline(self.max_seconds * len(Cs)) as deadline, ended_in_time(deadline, first_step_of(self)):
            return common._path(Cs, common._begin(X, y, sample_weight, deadline))

    def _path(self, Cs: np.ndarray, fit: FitInput) -> list[KernelSVC]:
        """The models of :meth:`path`; the C of this one is the largest."""

        solve_column = partial(self._column_fit().path, factors=[C / self.C for C in Cs])
        columns = self._columns(fit.data).solve(
            solve_column, self._stop(fit.deadline), fit.n_threads, len(Cs)
        )
        models = []
        for C, results in zip(Cs, zip(*columns)):
            model, found = copy(self).set_params(C=float(C)), self._gathered(list(results), fit.data)
            model._store(found, fit.data)
            model._certify(summary_of(found), model._learn_to_decode(fit, found, None))
            models.append(model)
        return models

    def _problem(
        self, kernel: KernelData, targets: np.ndarray, weight: np.ndarray, C: float | None = None
    ) -> SvmProblem:
        cost = (self._cost() if C is None else C) * weight
        return SvmProblem(kernel, targets, cost, LOSSES[self.loss] == "squared-hinge")

    def _cost(self, t: int | None = None) -> float:
        """C, or that to which nu has led in a column; the search for it begins with weights as costs."""
        if self.nu is None:
            return float(self.C)
        return 1.0 if t is None else float(self.C_[t])

    def _out_of_fold(
        self, data: WeightedRows, fold: np.ndarray, stop: Stop, callback: Callback | None, n_threads: int
    ) -> FoldOutputs:
        if self.loss == "ramp":
            return super()._out_of_fold(data, fold, stop, callback, n_threads)
        everywhere = not getattr(self._learner, "own_rows_only", False)
        return outputs_without_folds(
            self, data, fold, self.dual_coef_, stop, everywhere=everywhere, callback=callback
        )

    def _remedy(self) -> str:
        without_bound = self.dual_gap_ == np.inf and np.isfinite(self.objective_)
        return without_bound_words(self.kernel) if without_bound else super()._remedy()

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        forget(self, "pair_coef_", "_dense_coef")
        if isinstance(results, PairResults):
            self._keep_pairs(results, data)
        else:
            self._keep_columns(results, data)
        self._last_rows = (data.rows.X.shape[0], self.classes_.tolist(), self.code_.n_columns)

    def _keep_pairs(self, results: PairResults, data: WeightedRows) -> None:
        """Store the columns of one-vs-one: the support vectors by class, and ``pair_coef_``."""
        used = results.coef.any(axis=1)
        support, every = results.rows.order[used], bool(used.all())
        chosen = data.rows.index[support]
        self.support_, self.n_support_ = chosen, len(chosen)
        self.support_vectors_ = points_of(self.kernel_, data.rows.X, chosen)
        self.pair_coef_ = results.coef if every else results.coef[used]
        self.intercept_ = results.intercept
        self._groups = np.searchsorted(data.labels[support], np.arange(self.code_.n_classes + 1))
        self._group_columns = None

    coef_ = property(linear_weights)

    @property
    def dual_coef_(self) -> np.ndarray:
        """The coefficients of all columns, (n_columns, n_support), from ``pair_coef_`` if there is one."""
        if "pair_coef_" not in vars(self):
            return self._dense_coef
        coef = np.zeros((self.code_.n_columns, self.n_support_))
        columns = cast(PairCode, self.code_).columns_of_classes
        for c, (first, end) in enumerate(pairwise(cast(np.ndarray, self._groups))):
            coef[columns[c], first:end] = self.pair_coef_[first:end].T
        return coef

    @dual_coef_.setter
    def dual_coef_(self, coef: np.ndarray) -> None:
        forget(self, "pair_coef_")
        self._dense_coef = coef

    def _coefficients(self) -> np.ndarray | GroupedMatrix:
        if "pair_coef_" not in vars(self):
            return super()._coefficients()
        columns = cast(PairCode, self.code_).columns_of_classes
        return GroupedMatrix.of_pairs(self.pair_coef_, cast(np.ndarray, self._groups), columns)

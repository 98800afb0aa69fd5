"""The all-pairs M-SVM: all classes in one problem, with a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ...base import KernelClassifier
from ...data import WeightedRows, check_costs, check_kernel_sums, check_number
from ...solving import (
    FLOAT_EPS,
    Callback,
    SolverResult,
    Status,
    Stop,
    bounds_cross,
    is_indefinite,
    most_important,
    without_bound,
    without_bound_words,
)
from .problem import AllPairsProblem
from .sweeps import AllPairsResult, all_pairs

MAX_SAMPLES = 5_000  # their kernel matrix takes 200 MB
MAX_PAIRS = 150_000  # of a sample and a class
VALUE_ROUNDING = 2 * FLOAT_EPS  # relative error of a kernel value


class AllPairsSVC(KernelClassifier):
    """The multiclass SVM of all pairs of classes (Weston and Watkins), as one certified problem.

    Over functions f_g and intercepts b_g, one for each class, it minimises

        1/2 sum_g ||f_g||^2 + C sum_i s_i sum_{g != y_i} max(0, 1 - (F_{y_i}(x_i) - F_g(x_i))),

    where F_g(x) = f_g(x) + b_g, f_g(x) = sum_j a_jg k(x, x_j) and s_i is the sample's weight times its
    class's: every wrong class should score at least 1 less than the true one. Intercepts are not penalised;
    they sum to zero, as the f_g do at the optimum. With G classes the penalty
    ``1/2 sum_{g<h} ||f_g - f_h||^2`` is G times this one, so its problem for a cost c is ``C=c/G`` here; with
    two classes f_1 - f_0 is the :class:`KernelSVC` of cost 2 C.

    The kernel matrix is held whole, so this is for problems of moderate size: up to 5,000 different samples
    and 150,000 pairs of a sample and a class. Sweeps over the samples come first, then working sets of
    pairs that an interior-point method solves.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR: kernel values and the certificate
    are computed in double, also for float32 rows.

    Parameters
    ----------
    C : float, default=1.0
    kernel : str, callable or Kernel, default="rbf"
        "linear", "polynomial", "rbf", "sigmoid", "laplacian", "exponential", "precomputed" (square to fit,
        then one column for each training row), or a function ``k(X, Z) -> matrix`` of any objects.
    gamma : float or {"scale", "auto", "median"}, default="scale"
        As in scikit-learn; "median" is the median of 1 / ||x - z||^2. The exponential kernel takes the root.
    degree, coef0 : float
        For "polynomial" and "sigmoid".
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
        Bound on the relative duality gap.
    max_iter : int, default=1000
        Groups of sweeps, and working sets.
    max_seconds : float, default=3600.0
    n_jobs : int, optional
        Number of threads for kernel values. It does not change the result, bit for bit.
    random_state : int, RandomState or None
        The order of the sweeps, and ``gamma="median"``.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Rows of X with a coefficient in some f_g, class by class.
    support_vectors_ : array of shape (n_support, n_features)
        For a precomputed kernel the numbers of the columns.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Those of f_g; for two classes (1, n_support), of f_1 - f_0.
    intercept_ : ndarray of shape (n_classes,)
        For two classes (1,), b_1 - b_0.
    n_support_ : int
    objective_ : float
        The primal value.
    dual_gap_ : float
        The relative duality gap; what rounding can do is added where it is more than 5e-8 of the objective.
        Infinite for a kernel that is not positive semi-definite on the rows: no bound is known.
    history_ : list of one tuple of Check
    status_ : str
        "converged", or why the fit stopped early.
    classes_, n_iter_, gamma_, kernel_, code_, decoder_, n_features_in_
        As in :class:`KernelSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import AllPairsSVC
    >>> model = AllPairsSVC(C=10).fit(*load_iris(return_X_y=True))
    >>> model.status_, bool(model.dual_gap_ <= 1e-3), model.dual_coef_.shape[0]
    ('converged', True, 3)
    """

    code = "one-vs-rest"  # one column of outputs for each class
    decoder = "margins"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        self._check_kernel()
        self._check_stopping()

    def _prepare(self, data: WeightedRows) -> None:
        n_samples, n_classes = len(data.rows), len(self.classes_)
        if n_samples > MAX_SAMPLES or n_samples * n_classes > MAX_PAIRS:
            raise ValueError(
                f"AllPairsSVC holds the whole kernel matrix and a variable for each sample and class: up to "
                f"{MAX_SAMPLES} different samples, and {MAX_PAIRS} samples times classes; got {n_samples} "
                f"samples of {n_classes} classes. Fit a subsample, or use KernelSVC."
            )
        check_costs(self.C, data.weight)
        super()._prepare(data)

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        kernel = self._kernel_data(data)
        K = kernel.gram(kernel.points(slice(None)))
        check_kernel_sums(kernel.dtype, K)
        _make_symmetric(K)
        labels = data.labels.astype(np.int64)
        problem = AllPairsProblem(
            K, labels, self.C * data.weight, len(self.classes_), value_rounding=VALUE_ROUNDING
        )
        result = all_pairs(problem, stop=stop, seed=self._seed, callback=callback)
        refuted = not kernel.kernel.positive and (bounds_cross(result) or _refutes(K, result.coef))
        return [without_bound(result) if refuted else result]

    def _remedy(self) -> str:
        ended, finite = Status(self.status_), np.isfinite(self.objective_)
        unbounded = self.dual_gap_ == np.inf and finite and ended is not Status.DIVERGED
        return without_bound_words(self.kernel) if unbounded else super()._remedy()

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        result = cast(AllPairsResult, results[0])
        coef, intercepts = result.coef, result.intercepts
        if len(self.classes_) == 2:
            coef, intercepts = np.diff(coef, axis=1), np.diff(intercepts)
        support = np.flatnonzero(coef.any(axis=1))
        points = self._kernel_data(data).points(support)
        self._keep(points, coef[support], data.rows.index[support], data.labels[support])
        self.intercept_ = intercepts


def _refutes(K: np.ndarray, B: np.ndarray) -> bool:
    """Whether the rows with the largest coefficients prove an unknown kernel indefinite."""
    if not np.isfinite(B).all():
        return False
    rows = most_important(np.abs(B).sum(axis=1))
    return is_indefinite(K[np.ix_(rows, rows)], balanced=True)


def _make_symmetric(K: np.ndarray, tile: int = 256) -> None:
    """Replace K by the mean of K and its transpose, tile by tile, in case rounding made them differ."""
    for i in range(0, len(K), tile):
        for j in range(0, i + 1, tile):
            below, above = K[i : i + tile, j : j + tile], K[j : j + tile, i : i + tile]
            below[:] = 0.5 * (below + above.T)
            above[:] = below.T

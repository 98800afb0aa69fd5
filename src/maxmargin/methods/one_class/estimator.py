"""``OneClassSVM``: which rows are unlike most of the training rows, by one certified problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from ...base import KernelMachine, linear_weights
from ...checkpoints import FitRecord
from ...data import WeightedRows, check_flag, check_number
from ...kernels import KernelData, Precomputed
from ...solving import Callback, SolverResult, Stop
from ..kernel_svm import cache_megabytes, check_cache_mb, outputs_of, start, working_sets
from .problem import SMALLEST_NU, first_point, one_class_problem

__all__ = ["OneClassSVM"]

SINGLE_ROUNDING, DOUBLE_ROUNDING = 2e-6, 1e-12  # of scores, relative to the offset or to their terms


class OneClassSVM(OutlierMixin, KernelMachine):  # type: ignore[misc]
    """One-class SVM for novelty detection, certified by its duality gap.

    It minimises over f and rho, with f(x) = sum_j a_j k(x, x_j), weights s_i and their sum S,

        1/2 ||f||^2 + 1 / (nu S) sum_i s_i max(0, rho - f(x_i)) - rho.

    A row is an outlier where f(x) < rho. At the optimum at most a share ``nu`` of the training rows (by
    weight) has f(x_i) < rho, and at least that share are support vectors.

    The dual is solved by the working sets of :class:`KernelSVC`. scikit-learn's ``OneClassSVM`` has the same
    solution times ``nu * n_samples``, and so are its scores and its offset.

    **Precision.** As in :class:`KernelSVC`: ``dual_gap_`` holds for the rows as given, float32 included. An
    objective below 1e-9 of the largest k(x, x) / 2 counts as 0.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: an upper bound on the share of training rows that are outliers.
    kernel, gamma, degree, coef0
        As in :class:`KernelSVC`.
    tol : float, default=1e-3
        Bound on the relative duality gap.
    max_iter : int, default=100000
        Rounds (one block each).
    max_seconds : float, default=3600.0
    cache_mb : float or "auto", default="auto"
        Memory for kernel rows. "auto" takes a quarter of the available memory, at most 1,000 MB.
    shrinking : bool, default=True
        Set settled rows aside.
    n_jobs : int, optional
        Number of threads; all cores by default. Results are bit-identical for any value.
    random_state : int, RandomState or None
        Used only by ``gamma="median"``; nothing else is random.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho; ``decision_function`` is ``score_samples`` minus this.
    support_ : ndarray of shape (n_support,)
        Rows of X with a non-zero coefficient.
    support_vectors_ : array of shape (n_support, n_features)
        For a precomputed kernel, the column indices.
    dual_coef_ : ndarray of shape (1, n_support)
        They sum to 1.
    intercept_ : ndarray of shape (1,)
        ``-offset_``.
    objective_, dual_gap_, history_, status_, n_iter_, n_support_, cache_mb_, gamma_, kernel_, n_features_in_
        As in :class:`KernelSVR`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import OneClassSVM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.status_, bool((model.predict(X) == -1).mean() <= 0.1)
    ('converged', True)
    """

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_seconds: float = 3600.0,
        cache_mb: Any = "auto",
        shrinking: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_mb = cache_mb
        self.shrinking = shrinking
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("nu", self.nu, above=0.0)
        if not SMALLEST_NU <= self.nu <= 1.0:
            raise ValueError(
                f"nu must be a number > 0 (at least {SMALLEST_NU:g}) and at most 1; got {self.nu!r}."
            )
        check_flag("shrinking", self.shrinking)
        check_cache_mb(self.cache_mb)
        self._kernel_parameter()
        self._check_stopping()

    def _read_machine(self, record: FitRecord) -> None:
        """Set ``cache_mb_``."""
        self.cache_mb_ = cache_megabytes(self.cache_mb, record)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used without a copy; anything else is converted to float64.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals repeating the row, a weight of 0 omitting it.

        Returns
        -------
        self
        """
        return self._fit_to(X, None, sample_weight)

    def _solve_all(
        self, kernel: KernelData, data: WeightedRows, stop: Stop, callback: Callback | None
    ) -> Sequence[SolverResult]:
        problem = one_class_problem(kernel, data.weight, self.nu)
        a = first_point(problem)
        found = working_sets(
            problem,
            stop=stop,
            cache_bytes=int(self.cache_mb_ * 1e6),
            shrinking=self.shrinking,
            state=start(problem, stop.tol, self.shrinking, a, outputs_of(problem, a)),
            callback=callback,
        )
        t = problem.sum_a
        return [replace(found, coef=found.coef / t, intercept=found.intercept / t)]

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        super()._store(results, data)
        self.offset_ = -self.intercept_

    def score_samples(self, X: Any) -> np.ndarray:
        """``f(x)``, larger for rows that are more like the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    def decision_function(self, X: Any) -> np.ndarray:
        """``f(x) - offset_``: negative for outliers, 0 for rows that differ from the offset by rounding only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        outputs = self._outputs(X)[:, 0]
        single = getattr(self.support_vectors_, "dtype", None) == np.float32
        rounding = SINGLE_ROUNDING if single else DOUBLE_ROUNDING
        size = np.maximum(np.abs(self.offset_), self._size_of_terms(X))
        return np.where(np.abs(outputs) <= rounding * size, 0.0, outputs)

    def _size_of_terms(self, X: Any) -> np.ndarray:
        """The norm of the terms a_j k(z_j, x) at the longest x; terms may cancel, as in centred data."""
        a = self.dual_coef_[0]
        if isinstance(self.kernel_, Precomputed):
            return np.asarray(np.linalg.norm(np.asarray(X)[:, self.support_vectors_] * a, axis=1))
        lengths = np.sqrt(np.maximum(self.kernel_.diagonal(self.support_vectors_), 0.0))
        return np.array([float(np.linalg.norm(a * lengths)) * float(lengths.max())])

    def predict(self, X: Any) -> np.ndarray:
        """1 for inliers, -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    coef_ = property(linear_weights)

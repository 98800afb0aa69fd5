"""Features from kernels: any linear method on them is a non-linear one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._native import effective_n_threads, is_sparse
from ...base import (
    canonical_rows,
    check_precomputed,
    forget,
    kernel_data,
    kernel_tags,
    object_array,
    resolved_kernel,
    set_kernel,
    takes_objects,
)
from ...data import (
    WeightedRows,
    check_choice,
    check_number,
    check_rows,
    check_sample_weight,
    validate_rows,
)
from ...kernels import Kernel, Precomputed, kernel_from_name
from ...solving import Deadline, ended_in_time
from .features import EIGEN_METHODS, EigenFeatures, find_eigen_features


class KernelEigenMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Coordinates along the leading eigenvectors of a kernel matrix, or of an approximation of it.

    For the rows of a fit the features D, (n_samples, S), have

        D D' ~ K,    D' D = diag(l),    l_1 >= l_2 >= ... > 0,

    so a product of two rows of features is nearly their kernel value, and each feature is of length
    ``sqrt(l_k)`` and orthogonal to the others. With ``method="exact"`` D D' is the best approximation of rank
    S. The other methods choose landmarks z_1, ..., z_m and approximate K by ``K_nm K_mm^{-1} K_mn`` and this
    one by its S leading eigenvectors; they never form the n x n matrix. A new x has the features
    ``k(x, landmarks_) @ projection_``.

    **Precision.** Features have the precision of the rows, dense or CSR, and no certificate.

    Parameters
    ----------
    n_components : int, default=100
        S, the largest number of features. There are fewer, ``n_components_``, where the kernel matrix has a
        lower rank: eigenvalues below 1e-13 of the largest (1e-6 for float32 data) are dropped.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "polynomial", "rbf", "sigmoid", "laplacian", "exponential", "precomputed", a kernel, or a
        function ``k(X, Z) -> matrix`` of two arrays or of two sequences of any objects.
    gamma : float, "scale", "auto" or "median", default="scale"
    degree : float, default=3
    coef0 : float, default=0.0
    method : str, default="auto"
        "exact": eigenvectors of the kernel matrix, for at most 5,000 different rows.
        "randomized": from a basis of the range of a few products with the kernel matrix: nearly exact, but
        each product takes n^2 kernel values, and a new x one for each row.
        "pivoted-cholesky": from landmarks that are drawn one after the other, with probability proportional
        to the error left at each row.
        "landmarks": from landmarks drawn uniformly, or given.
        "auto": "landmarks" if these are given as points, else "exact" for up to 1,000 different rows and
        "pivoted-cholesky" for more.
    landmarks : int or array-like, default=None
        How many landmarks, for "pivoted-cholesky" (by default a tenth more than components) and "landmarks"
        (by default as many): the more, the closer are the features to the exact ones. Or the landmarks
        themselves: points, or for a precomputed kernel the numbers of its columns.
    max_seconds : float, default=3600.0
        Seconds after which ``fit`` raises ``TimeoutError``.
    n_jobs : int, default=None
        Number of threads; it does not change the result.
    random_state : int, RandomState or None, default=None
        Determines the landmarks, or the random basis.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        l, descending: of the kernel matrix, or of its approximation.
    trace_captured_ : float
        ``sum(l) / trace(K)``: the share of the squared lengths of the rows, in the kernel's feature space,
        that the features have.
    n_components_ : int
    landmarks_ : points of shape (n_landmarks, n_features)
        Rows of X, or those given but for what depends on the others; all rows for "exact" and "randomized".
    landmark_indices_ : ndarray of shape (n_landmarks,), or None where points were given
        Their numbers in the X of the fit.
    projection_ : ndarray of shape (n_landmarks, n_components_)
    method_ : str
        The method that was used.
    kernel_, gamma_, n_features_in_, feature_names_in_
        As in :class:`KernelSVC`.

    Notes
    -----
    The signs of the features are arbitrary. Equal rows are merged, rows of weight 0 are dropped, and random
    draws depend on the content of the rows: so a weight of 2 is a row given twice, and the order of the rows
    does not matter (except for objects and precomputed kernels). For kernels that are not positive
    semi-definite only positive eigenvalues are used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from maxmargin import KernelEigenMap, LinearSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> features = KernelEigenMap(200, gamma=1e-3, random_state=0).fit(X)
    >>> features.method_, features.n_components_, round(features.trace_captured_, 1)
    ('pivoted-cholesky', 200, 0.7)
    >>> make_pipeline(features, LinearSVC()).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        method: str = "auto",
        landmarks: Any = None,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.landmarks = landmarks
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used as they are, without a copy; anything else becomes float64.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is a row given twice, a weight of 0 a row not given.

        Returns
        -------
        self
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the features, and return those of X: ``fit(X).transform(X)`` without computing them twice.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        rows, index, features = self._fit(X, sample_weight)
        if len(index) < len(features):  # equal rows, and rows of weight 0
            others = np.setdiff1d(np.arange(len(features)), index)
            features[others] = self._features_of(rows[others])
        return features

    def transform(self, X: Any) -> np.ndarray:
        """The features of any rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        return self._features_of(self._rows(X, reset=False))

    # ---- fitting ----

    @np.errstate(under="ignore")
    def _fit(self, X: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Valid rows, which of them count, and their features, each in its row."""
        forget(self, "projection_")  # not fitted until this fit ends
        self._check_parameters()
        with (
            Deadline(self.max_seconds) as deadline,
            ended_in_time(deadline, "the features of KernelEigenMap"),
        ):
            return self._find(X, sample_weight, deadline)

    def _find(self, X: Any, sample_weight: Any, deadline: Deadline) -> tuple[Any, np.ndarray, np.ndarray]:
        n_threads = effective_n_threads(self.n_jobs)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        kernel = self._kernel_parameter()
        rows = self._rows(X, reset=True)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        labels = np.zeros(len(weight), dtype=np.int64)
        data = canonical_rows(kernel, rows, labels, weight, self._rng(0), n_threads=n_threads)
        data = data.until(deadline.flag)
        set_kernel(self, resolved_kernel(kernel, data, self._rng(1)))
        found = find_eigen_features(
            kernel_data(self.kernel_, data),
            self.n_components,
            method=self.method,
            rng=self._rng(2),
            landmarks=self._landmarks(rows),
            weight=data.weight,
            place=(rows.shape[0], data.rows.index),
        )
        self._store(found, data)
        return rows, data.rows.index, found.features

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, at_least=1, integer=True)
        check_choice("method", self.method, EIGEN_METHODS)
        check_number("max_seconds", self.max_seconds, above=0.0)
        if self.landmarks is not None and np.ndim(self.landmarks) == 0 and not is_sparse(self.landmarks):
            check_number("landmarks", self.landmarks, at_least=1, integer=True)
        self._kernel_parameter()

    def _kernel_parameter(self) -> Kernel:
        return kernel_from_name(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, stream])

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X in the core's layout, or as an array of objects."""
        kernel = self._kernel_parameter()
        if takes_objects(kernel, X):
            return object_array(X)
        rows = validate_rows(self, X, reset=reset)
        if reset:
            check_precomputed(kernel, rows)
        return rows

    def _landmarks(self, rows: Any) -> Any:
        """The number of landmarks, or the points given, in the layout of the rows."""
        given = self.landmarks
        if given is None or isinstance(given, Integral):
            return given
        if isinstance(self.kernel_, Precomputed):
            return self._columns(given, len(rows))
        if takes_objects(self._kernel_parameter(), given):
            return object_array(given)
        points = check_rows(given, input_name="landmarks")
        if rows.ndim == 2:
            if points.shape[1] != rows.shape[1]:
                raise ValueError(
                    f"landmarks must have as many features as X, {rows.shape[1]}; got "
                    f"{points.shape[1]} features."
                )
            points = points.astype(rows.dtype, copy=False)
            if is_sparse(rows) != is_sparse(points):
                points = sparse.csr_array(points) if is_sparse(rows) else points.toarray()
        return points

    def _columns(self, given: Any, n: int) -> np.ndarray:
        columns = np.asarray(given)
        if columns.ndim != 1 or columns.dtype.kind not in "iu" or not np.isin(columns, np.arange(n)).all():
            raise ValueError(
                f"landmarks of a precomputed kernel must be numbers of its columns, 0 to {n - 1}; "
                f"got {given!r}."
            )
        return columns.astype(np.int64)

    def _store(self, found: EigenFeatures, data: WeightedRows) -> None:
        if len(found.eigenvalues) == 0:
            raise ValueError(
                "the kernel matrix of these rows has no positive eigenvalue, so there are no features. A "
                "linear or polynomial kernel is zero between rows of zeros: use 'rbf', or set coef0 > 0."
            )
        self.eigenvalues_ = found.eigenvalues
        self.trace_captured_ = found.trace_captured
        self.n_components_ = len(found.eigenvalues)
        self.landmarks_ = found.points
        self.landmark_indices_ = None if found.index is None else data.rows.index[found.index]
        self.method_ = found.method
        self.projection_ = found.projection

    # ---- features ----

    @np.errstate(under="ignore")
    def _features_of(self, rows: Any) -> np.ndarray:
        if isinstance(self.kernel_, Precomputed):
            features = rows[:, self.landmarks_] @ self.projection_
        else:
            n_jobs = effective_n_threads(self.n_jobs)
            features = self.kernel_.matmul(rows, self.landmarks_, self.projection_, n_jobs=n_jobs)
        return np.asarray(features, dtype=rows.dtype if rows.ndim == 2 else np.float64)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "projection_")

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted, and precision kept."""
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

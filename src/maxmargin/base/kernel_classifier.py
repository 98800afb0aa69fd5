"""The base class of kernel classifiers: a resolved kernel, any input, prediction from support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._native import GroupedMatrix, columns_of_groups
from ..data import WeightedRows, check_label_types, stratified_folds
from ..kernels import Kernel, KernelData, Precomputed, kernel_from_name, points_of
from ..solving import SolverResult, unsolved
from .classifier import NOT_GIVEN, CodedClassifier
from .kernel_rows import (
    canonical_rows,
    check_precomputed,
    expansion,
    kernel_data,
    kernel_tags,
    object_array,
    resolved_kernel,
    set_kernel,
    takes_objects,
)
from .suspects import label_suspects


class KernelClassifier(CodedClassifier):
    """A classifier ``f_t(x) = sum_j a_jt k(x, z_j) + b_t``, one f for each column t of its code.

    A subclass has the parameters ``kernel, gamma, degree, coef0`` in addition to those of every classifier.
    Its ``_store`` calls ``_keep`` with the support vectors and their coefficients. ``_rng(stream)`` returns
    random generators, all derived from ``_seed``.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any

    def _check_kernel(self) -> None:
        """Raise if kernel parameters are invalid; sets nothing."""
        self._kernel_parameter()

    def _kernel_parameter(self) -> Kernel:
        return kernel_from_name(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, *stream])

    # ---- data ----

    def _validated(self, X: Any, y: Any = NOT_GIVEN) -> Any:
        if y is NOT_GIVEN and isinstance(X, np.ndarray) and X.ndim == 2:
            return super()._validated(X)
        kernel = self._kernel_parameter()
        if not takes_objects(kernel, X):
            checked = super()._validated(X, y)
            if y is not NOT_GIVEN:
                check_precomputed(kernel, checked[0])
            return checked
        objects = object_array(X)
        if y is NOT_GIVEN:
            return objects
        check_label_types(y)
        y = np.asarray(y)
        if y.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        check_consistent_length(objects, y)
        return objects, y

    def _canonical(self, X: Any, labels: np.ndarray, weight: np.ndarray, n_threads: int) -> WeightedRows:
        merge = getattr(self, "merge_duplicates", True)
        kernel, rng = self._kernel_parameter(), self._rng(0)
        return canonical_rows(kernel, X, labels, weight, rng, merge_duplicates=merge, n_threads=n_threads)

    def _prepare(self, data: WeightedRows) -> None:
        """Resolve the kernel; sets ``kernel_``, and ``gamma_`` if the kernel has a gamma."""
        set_kernel(self, resolved_kernel(self._kernel_parameter(), data, self._rng(1)))

    def _unsolved(self, data: WeightedRows, column: int) -> SolverResult:
        return unsolved(np.zeros(len(self.code_.column(data.labels, column)[0])))

    def _kernel_data(self, data: WeightedRows) -> KernelData:
        return kernel_data(self.kernel_, data)

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted; a precomputed kernel is pairwise."""
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

    def _folds(self, data: WeightedRows, n_folds: int) -> np.ndarray:
        # Objects and rows of a kernel matrix are shuffled; their folds follow the order given.
        precomputed = self.kernel is not None and isinstance(self.kernel_, Precomputed)
        hashed = data.rows.X.ndim == 2 and not precomputed
        order = np.arange(len(data.rows)) if hashed else np.argsort(data.rows.index)
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = stratified_folds(data.labels[order], n_folds)
        return fold

    def suspects(self, X: Any, y: Any, cv: Any = 5) -> np.ndarray:
        """Rank rows by how likely their label is wrong.

        Copies of this estimator are fitted without one fold after the other; a row's rank is that of its
        label's margin there, the score of the label minus the largest score of another class. Works best with
        ``loss="ramp"``, whose fits follow wrong labels the least.

        Parameters
        ----------
        X, y
            As for ``fit``.
        cv : int or scikit-learn splitter, default=5
            Folds. A number deals the rows of each class out at random.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions of the rows, the most suspicious first.
        """
        self._check_parameters()
        return label_suspects(self, X, y, cv)

    # ---- prediction ----

    def _keep(
        self, points: Any, coef: np.ndarray, support: np.ndarray | None, labels: np.ndarray | None = None
    ) -> None:
        """Store support vectors, their coefficients (n_support, n_columns), and their row numbers in X.

        ``support`` is None if the support vectors are not rows of X. For a precomputed kernel the points are
        column indices of its matrix. Pass ``labels``, the classes of the support vectors, if each one takes
        part only in the columns of its own class: support vectors are then sorted by class, and those without
        a non-zero coefficient are dropped.
        """
        self._groups: np.ndarray | None = None  # start of each class
        self._group_columns: np.ndarray | None = (
            None  # (n_classes, n_columns), which columns have coefficients
        )
        if labels is not None:
            order = np.argsort(labels, kind="stable")
            order = order[(coef != 0.0).any(axis=1)[order]]
            if not np.array_equal(order, np.arange(len(labels))):
                points, coef, labels = points[order], coef[order], labels[order]
                support = None if support is None else support[order]
            self._group(coef, np.searchsorted(labels, np.arange(self.code_.n_classes + 1)))
        self.support_ = support
        self.support_vectors_ = points
        self.dual_coef_ = np.ascontiguousarray(coef.T, dtype=np.float64)
        self.intercept_ = np.zeros(coef.shape[1])
        self.n_support_ = len(coef)

    def _keep_columns(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        """Store columns that were solved separately, each with a coefficient for each of its rows."""
        rows, values = [], []
        for t, result in enumerate(results):
            own = np.flatnonzero(result.coef)
            rows.append(self.code_.column(data.labels, t)[0][own])
            values.append(result.coef[own])
        used = np.zeros(len(data.rows), dtype=bool)
        used[np.concatenate(rows)] = True
        support = np.flatnonzero(used)
        support = support[np.argsort(data.labels[support], kind="stable")]  # class by class
        place = np.empty(len(used), dtype=np.int64)
        place[support] = np.arange(len(support))
        coef = np.zeros((len(results), len(support)))
        for t, (own, value) in enumerate(zip(rows, values, strict=True)):
            coef[t, place[own]] = value
        chosen = data.rows.index[support]
        points = points_of(self.kernel_, data.rows.X, chosen)
        self._keep(points, coef.T, chosen, data.labels[support])
        self.intercept_ = np.array([result.intercept for result in results])

    def _group(self, coef: np.ndarray, starts: np.ndarray) -> None:
        """Store groups of support vectors and their columns, if that halves the number of coefficients."""
        used = columns_of_groups(coef, starts)
        if 2 * (np.diff(starts) @ used.sum(axis=1)) < coef.size:
            self._groups, self._group_columns = starts, used

    def _coefficients(self) -> np.ndarray | GroupedMatrix:
        """``dual_coef_`` transposed, as a grouped matrix if there are groups."""
        coef = self.dual_coef_.T
        if self._groups is None or self._group_columns is None:
            return coef
        return GroupedMatrix.cut(coef, self._groups, self._group_columns)

    def _expansion(self, X: Any) -> np.ndarray:
        """``K(X, support vectors) @ coefficients``; within a fit, such as a search, until its deadline."""
        return expansion(self.kernel_, X, self.support_vectors_, self._coefficients(), self.n_jobs)

    def _column_outputs(self, X: Any) -> np.ndarray:
        if isinstance(self.kernel_, Precomputed):
            outputs = X[:, self.support_vectors_] @ self._coefficients()
        elif self.n_support_ == 0:
            outputs = np.zeros((X.shape[0], len(self.intercept_)))
        else:
            outputs = self._expansion(X)
        outputs = np.asarray(outputs, dtype=np.float64)
        outputs += self.intercept_
        return outputs

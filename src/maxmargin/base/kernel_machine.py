"""The base class of kernel machines with real outputs: regression and novelty detection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..data import WeightedRows, numeric_targets, validate_rows
from ..kernels import Kernel, KernelData, Precomputed, kernel_from_name, points_of
from ..solving import Callback, SolverResult, Stop, without_bound_words
from . import certified
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
from .machine import CertifiedMachine

__all__ = ["KernelMachine"]


class KernelMachine(CertifiedMachine):
    """Outputs ``f_t(x) = sum_j a_jt k(x, z_j) + b_t`` fitted to real targets, or to none.

    A subclass has the parameters ``kernel, gamma, degree, coef0`` besides those of every machine. It solves
    all outputs in ``_solve_all`` and turns each result into coefficients of the rows as given.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any

    @abstractmethod
    def _solve_all(
        self, kernel: KernelData, data: WeightedRows, stop: Stop, callback: Callback | None
    ) -> Sequence[SolverResult]:
        """One result for each output."""

    # ---- fit ----

    def _canonical(self, X: Any, targets: np.ndarray, weight: np.ndarray, n_threads: int) -> WeightedRows:
        return canonical_rows(self._kernel_parameter(), X, targets, weight, self._rng(0), n_threads=n_threads)

    def _prepare(self, data: WeightedRows) -> None:
        set_kernel(self, resolved_kernel(self._kernel_parameter(), data, self._rng(1)))

    def _results(self, data: WeightedRows, stop: Stop, callback: Callback | None) -> Sequence[SolverResult]:
        return self._solve_all(kernel_data(self.kernel_, data), data, stop, callback)

    def _kernel_parameter(self) -> Kernel:
        return kernel_from_name(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows in the core's layout, or objects, and real targets, which are 0 where there are none."""
        kernel = self._kernel_parameter()
        if takes_objects(kernel, X) and (y is not None or not self.__sklearn_tags__().target_tags.required):
            X = object_array(X)
            targets = np.zeros(len(X)) if y is None else np.asarray(numeric_targets(y), dtype=np.float64)
            if targets.ndim != 1 or not np.isfinite(targets).all():
                raise ValueError(f"y must be a 1d array of finite numbers; got shape {targets.shape}.")
            check_consistent_length(X, targets)
            return X, targets
        X, targets = super()._checked(X, y)
        check_precomputed(kernel, X)
        return X, targets

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        """Store the rows with a coefficient in some output, in canonical order."""
        coef = np.stack([result.coef for result in results])
        used = np.flatnonzero(coef.any(axis=0))
        chosen = data.rows.index[used]
        self.support_, self.n_support_ = chosen, len(chosen)
        self.support_vectors_ = points_of(self.kernel_, data.rows.X, chosen)
        self.dual_coef_ = np.ascontiguousarray(coef[:, used])
        self.intercept_ = np.array([result.intercept for result in results])

    def _remedy(self) -> str:
        without_bound = self.dual_gap_ == np.inf and np.isfinite(self.objective_)
        return without_bound_words(self.kernel) if without_bound else certified.remedy(self)

    # ---- prediction ----

    def _validated(self, X: Any) -> Any:
        """The rows to predict."""
        return object_array(X) if takes_objects(self.kernel_, X) else validate_rows(self, X, reset=False)

    def _column_outputs(self, X: Any) -> np.ndarray:
        if isinstance(self.kernel_, Precomputed):
            outputs = X[:, self.support_vectors_] @ self.dual_coef_.T
        elif self.n_support_ == 0:
            outputs = np.zeros((X.shape[0], len(self.intercept_)))
        else:
            outputs = expansion(self.kernel_, X, self.support_vectors_, self.dual_coef_.T, self.n_jobs)
        return np.asarray(outputs, dtype=np.float64) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted; a precomputed kernel is pairwise."""
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

"""The base class of kernel machines with real outputs: regression and novelty detection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .. import checkpoints
from .._native import effective_n_threads
from ..checkpoints import Checkpoint, FitRecord, data_identity, fit_record, parameter_identity
from ..data import WeightedRows, check_sample_weight, validate_rows
from ..kernels import Kernel, KernelData, Precomputed, kernel_from_name, points_of
from ..solving import Callback, Deadline, SolverResult, Status, Stop, summary_of, without_bound_words
from . import certified
from .callbacks import CallbackSupportMixin, fit_callback, with_callbacks
from .certified import SUCCESS, fit_deadline
from .decoded import drawn_seed, without_process_parts
from .importance import own_importances
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

__all__ = ["KernelMachine"]


class KernelMachine(BaseEstimator, CallbackSupportMixin):  # type: ignore[misc]
    """Outputs ``f_t(x) = sum_j a_jt k(x, z_j) + b_t`` fitted to real targets, or to none.

    A subclass has the parameters ``kernel, gamma, degree, coef0, tol, max_iter, max_seconds, n_jobs``. It
    checks them in ``_check_parameters``, solves all outputs in ``_solve_all`` from canonical rows whose
    ``labels`` are the targets, and turns each result into coefficients of the rows as given.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    n_jobs: Any
    _seed: int
    _checkpoint: Checkpoint | None = None

    _success: tuple[Status, ...] = SUCCESS
    _remedy_for_overflow: str = "lower C and the weights"
    _remedy_for_divergence: str = "lower C and the weights"
    __sklearn_is_fitted__ = certified.has_ended
    __sklearn_clone__ = certified.clone_with_functions
    set_callbacks = certified.set_callbacks
    _stop = certified.limits
    _check_stopping = certified.check_stopping
    _keep_certificates = certified.keep_certificates
    _warn_unless_success = certified.warn_unless_success
    set_checkpoint = checkpoints.set_checkpoint

    def __getstate__(self) -> Any:
        """The model alone: the checkpoint file and callback functions are not pickled."""
        return without_process_parts(super().__getstate__())

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for invalid parameters before any work is done."""

    def _read_machine(self, record: FitRecord) -> None:
        """Make choices that depend on the machine; a resumed fit takes them from its record."""

    @abstractmethod
    def _solve_all(
        self, kernel: KernelData, data: WeightedRows, stop: Stop, callback: Callback | None
    ) -> Sequence[SolverResult]:
        """One result for each output."""

    # ---- fit ----

    def _fit_to(self, X: Any, y: Any, sample_weight: Any) -> Self:
        # numbers may become 0, whatever the caller has set
        with np.errstate(under="ignore"), fit_deadline(self) as deadline, fit_record(self) as record:
            return self._fit(X, y, sample_weight, record=record, deadline=deadline)

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any, *, record: FitRecord, deadline: Deadline) -> Self:
        """``fit`` until ``deadline``, with its progress stored in ``record``."""
        data = self._begin(X, y, sample_weight, record, deadline)
        with fit_callback(self, X, y) as callback:
            values = kernel_data(self.kernel_, data)
            results = self._solve_all(values, data, record.limits(self._stop(deadline)), callback)
        self._finish(results, data)
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, record: FitRecord, deadline: Deadline
    ) -> WeightedRows:
        """Canonical rows with their targets; sets the seed and ``kernel_``."""
        self._seed = drawn_seed(self, record)
        n_threads, kernel = effective_n_threads(self.n_jobs), self._kernel_parameter()
        X, targets = self._checked(kernel, X, y)
        weight = check_sample_weight(sample_weight, len(targets))
        data = canonical_rows(kernel, X, targets, weight, self._rng(0), n_threads=n_threads)
        data = data.until(deadline.flag)
        if record.part is not None:
            record.bind(parameter_identity(self) | {"seed": str(self._seed)} | data_identity(data))
        self._read_machine(record)
        set_kernel(self, resolved_kernel(kernel, data, self._rng(1)))
        return data

    def _finish(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        """Store the solution and its certificates; warn where it did not converge."""
        self._store(results, data)
        found = summary_of(results)
        self._keep_certificates(found)
        self._warn_unless_success(found.status)

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, *stream])

    def _kernel_parameter(self) -> Kernel:
        return kernel_from_name(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _checked(self, kernel: Kernel, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows in the core's layout, or objects, and real targets, which are 0 where there are none."""
        if y is None and self.__sklearn_tags__().target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if takes_objects(kernel, X):
            X = object_array(X)
            targets = np.zeros(len(X)) if y is None else np.asarray(y, dtype=np.float64)
            if targets.ndim != 1 or not np.isfinite(targets).all():
                raise ValueError(f"y must be a 1d array of finite numbers; got shape {targets.shape}.")
            check_consistent_length(X, targets)
            return X, targets
        if y is None:
            X = validate_rows(self, X, ensure_min_samples=1)
            targets = np.zeros(X.shape[0])
        else:
            X, targets = validate_rows(self, X, y=y, y_numeric=True)
        check_precomputed(kernel, X)
        return X, np.asarray(targets, dtype=np.float64)

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

    def _outputs(self, X: Any) -> np.ndarray:
        """All outputs, (n_samples, n_outputs), with their intercepts."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which raises; it takes time to look at tags first
        with np.errstate(under="ignore"):
            return self._column_outputs(self._validated(X))

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

    feature_importances_ = property(own_importances)

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted; a precomputed kernel is pairwise."""
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

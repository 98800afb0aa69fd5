"""The base class of estimators without classes: the flow of a fit to real targets, or to none."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checkpoints
from .._native import effective_n_threads
from ..checkpoints import Checkpoint, FitRecord, data_identity, fit_record, parameter_identity
from ..data import WeightedRows, canonical, check_sample_weight, check_weights, numeric_targets, validate_rows
from ..solving import Callback, Deadline, SolverResult, Status, Stop, summary_of
from . import certified
from .callbacks import CallbackSupportMixin, fit_callback, with_callbacks
from .certified import SUCCESS, fit_deadline
from .decoded import drawn_seed, without_process_parts
from .importance import own_importances

__all__ = ["CertifiedMachine"]


class CertifiedMachine(BaseEstimator, CallbackSupportMixin):  # type: ignore[misc]
    """Certified outputs fitted to real targets, or to none.

    A subclass has the parameters ``tol, max_iter, max_seconds, n_jobs``. It checks them in
    ``_check_parameters``, makes choices that depend on the data in ``_prepare``, solves all outputs in
    ``_results`` from canonical rows whose ``labels`` are the targets, stores them in ``_store`` and evaluates
    them in ``_column_outputs``.
    """

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
    _remedy = certified.remedy
    set_checkpoint = checkpoints.set_checkpoint

    def __getstate__(self) -> Any:
        """The model alone: the checkpoint file and callback functions are not pickled."""
        return without_process_parts(super().__getstate__())

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for invalid parameters before any work is done."""

    def _read_machine(self, record: FitRecord) -> None:
        """Make choices that depend on the machine; a resumed fit takes them from its record."""

    def _prepare(self, data: WeightedRows) -> None:
        """Make choices that depend on the data; raise for data that no solver could handle."""

    @abstractmethod
    def _results(self, data: WeightedRows, stop: Stop, callback: Callback | None) -> Sequence[SolverResult]:
        """One result for each output."""

    @abstractmethod
    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        """Store what prediction needs, as arrays."""

    @abstractmethod
    def _column_outputs(self, X: Any) -> np.ndarray:
        """All outputs of validated rows, (n_samples, n_outputs), with their intercepts."""

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
            results = self._results(data, record.limits(self._stop(deadline)), callback)
        self._finish(results, data)
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, record: FitRecord, deadline: Deadline
    ) -> WeightedRows:
        """Canonical rows with their targets; sets the seed and what ``_prepare`` chooses."""
        self._seed = drawn_seed(self, record)
        n_threads = effective_n_threads(self.n_jobs)
        X, targets = self._checked(X, y)
        weight = check_sample_weight(sample_weight, len(targets))
        data = self._canonical(X, targets, weight, n_threads).until(deadline.flag)
        if record.part is not None:
            record.bind(parameter_identity(self) | {"seed": str(self._seed)} | data_identity(data))
        self._read_machine(record)
        self._prepare(data)
        return data

    def _finish(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        """Store the solution and its certificates; warn where it did not converge."""
        self._store(results, data)
        found = summary_of(results)
        self._keep_certificates(found)
        self._warn_unless_success(found.status)

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, *stream])

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows in the core's layout and real targets, which are 0 where there are none."""
        if y is None and self.__sklearn_tags__().target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if y is None:
            X = validate_rows(self, X, ensure_min_samples=1)
            targets = np.zeros(X.shape[0])
        else:
            X, targets = validate_rows(self, X, y=numeric_targets(y), y_numeric=True)
        return X, np.asarray(targets, dtype=np.float64)

    def _canonical(self, X: Any, targets: np.ndarray, weight: np.ndarray, n_threads: int) -> WeightedRows:
        """The weighted multiset of (row, target) pairs that the fit is a function of."""
        check_weights(weight)
        return canonical(X, targets, weight, n_threads=n_threads)

    # ---- prediction ----

    def _outputs(self, X: Any) -> np.ndarray:
        """All outputs, (n_samples, n_outputs), with their intercepts."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which raises; it takes time to look at tags first
        with np.errstate(under="ignore"):
            return self._column_outputs(self._validated(X))

    def _validated(self, X: Any) -> Any:
        """The rows to predict."""
        return validate_rows(self, X, reset=False)

    feature_importances_ = property(own_importances)

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

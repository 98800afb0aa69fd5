"""The base class of classifiers that solve one certified problem for each column of a code."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._native import Cancelled, effective_n_threads
from ..checkpoints import FitRecord, data_identity, fit_record, parameter_identity
from ..data import (
    WeightedRows,
    apart_by_folds,
    canonical,
    check_label_types,
    stratified_folds,
    validate_rows,
)
from ..decoders import Decoder
from ..solving import (
    Callback,
    Deadline,
    SolverResult,
    Status,
    Stop,
    Summary,
    solve_columns,
    summary_of,
    unsolved,
    until_cut,
    worst_status,
)
from . import certified
from .callbacks import CallbackSupportMixin, fit_callback, with_callbacks
from .certified import SUCCESS, fit_deadline
from .decoded import DecodedClassifier
from .fold_outputs import FoldOutputs, outputs_by_refits, outputs_on_rows
from .importance import own_importances

NOT_GIVEN = object()  # marks a prediction, which has no y; y=None is an error
SHARE_BEFORE_FOLDS = 0.5  # of the time, if folds for a decoder are fitted after the columns
MAX_OUTPUTS_AT_ONCE = 1 << 23  # of columns that decision_function has in memory
N_FOLDS = 5  # for decoders trained on out-of-fold outputs


@dataclass(frozen=True)
class FitInput:
    """The validated input of one fit.

    ``data`` holds the rows in canonical form. ``labels`` (class numbers ``0, 1, ...``) and ``weight`` (class
    weights included) belong to the rows as given. ``folds`` is the number of folds for training a decoder, or
    the fold of each canonical row. ``record`` stores the progress of the fit, ``deadline`` is when it ends.
    """

    data: WeightedRows
    labels: np.ndarray
    weight: np.ndarray
    folds: int | np.ndarray
    record: FitRecord
    deadline: Deadline
    n_threads: int


class CodedClassifier(DecodedClassifier, CallbackSupportMixin):  # type: ignore[misc]
    """A classifier that solves one binary problem for each column of a code.

    A subclass stores its parameters, checks them in ``_check_parameters``, makes choices that depend on the
    data in ``_prepare``, solves one column in ``_solve``, stores the results in ``_store`` and evaluates all
    columns in ``_column_outputs``. A subclass that solves all columns together overrides ``_solve_all``
    instead and returns one result for the joint problem. The results carry whatever ``_store`` needs beyond
    coefficients. ``_report`` adds what only a fit to all rows can provide, such as leave-one-out errors.
    ``_success`` lists the statuses that cause no warning, ``_stop`` returns the limits of a fit.
    """

    _success: tuple[Status, ...] = SUCCESS
    _remedy_for_overflow: str = "lower C and the weights"
    _remedy_for_divergence: str = "raise max_iter, lower C and the weights"
    __sklearn_is_fitted__ = certified.has_ended
    __sklearn_clone__ = certified.clone_with_functions
    set_callbacks = certified.set_callbacks
    _stop = certified.limits
    _check_stopping = certified.check_stopping
    _keep_certificates = certified.keep_certificates
    _warn_unless_success = certified.warn_unless_success
    _remedy = certified.remedy

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for invalid parameters before any work is done."""

    def _read_machine(self, record: FitRecord) -> None:
        """Make choices that depend on the machine; a resumed fit takes them from its record."""

    def _prepare(self, data: WeightedRows) -> None:
        """Make choices that depend on the data; raise for data that no solver could handle."""

    def _solve(
        self, data: WeightedRows, targets: np.ndarray, column: int, stop: Stop, callback: Callback | None
    ) -> SolverResult:
        """Solve the binary problem of one column; ``targets`` are in {-1, +1}."""
        raise NotImplementedError

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> Sequence[SolverResult]:
        """One result per column, or a single result for all columns together."""

        def solve_column(column: int, stop: Stop, n_inner: int) -> SolverResult:
            which, targets = self.code_.column(data.labels, column)
            return self._solve(data.take(which, n_inner, stop.cancel), targets, column, stop, callback)

        return solve_columns(
            solve_column, self.code_.n_columns, stop, n_threads, unsolved=partial(self._unsolved, data)
        )

    def _unsolved(self, data: WeightedRows, column: int) -> SolverResult:
        """The result of a column whose turn came when the time was up: zero coefficients."""
        return unsolved(np.zeros(data.rows.n_features))

    @abstractmethod
    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        """Store what prediction needs, as arrays."""

    def _report(self, results: Sequence[SolverResult], fit: FitInput) -> None:
        """Store attributes beyond the model; called for the fit to all rows only, never for folds."""

    @abstractmethod
    def _column_outputs(self, X: Any) -> np.ndarray:
        """Outputs of all columns, (n_samples, n_columns)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used without a copy; anything else is converted to float64.
        y : array-like of shape (n_samples,)
            Class labels, numbers or strings, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals repeating the row, a weight of 0 omitting it.

        Returns
        -------
        self
        """
        # numbers may become 0, whatever the caller has set
        with np.errstate(under="ignore"), fit_deadline(self) as deadline, fit_record(self) as record:
            return self._fit(X, y, sample_weight, record=record, deadline=deadline)

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        record: FitRecord,
        deadline: Deadline,
        folds: int | np.ndarray = N_FOLDS,
    ) -> Self:
        """``fit`` until ``deadline``, with its progress stored in ``record``, which may be part of another's.

        ``folds`` is the number of folds for training a decoder, or the fold of each row.
        """
        fit = self._begin(X, y, sample_weight, deadline, record, folds)
        needs_folds = self._learner is not None and self._learner.learns_from == "out-of-fold"
        until = deadline.part(SHARE_BEFORE_FOLDS) if needs_folds else deadline
        with fit_callback(self, X, y) as callback:
            results = self._solve_all(fit.data, record.limits(self._stop(until)), callback, fit.n_threads)
            self._store(results, fit.data)
            found = summary_of(results)
            learned_from = self._learn_to_decode(fit, results, callback) if found.finite else None
        complete = not found.finite
        with until_cut(deadline):
            if not complete:
                self._report(results, fit)
            complete = True
        self._certify(found, learned_from, complete)
        return self

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        deadline: Deadline,
        record: FitRecord = FitRecord(),  # noqa: B008 (it is stateless)
        folds: int | np.ndarray = N_FOLDS,
    ) -> FitInput:
        """Everything before the solver: a code, data in canonical form, choices that depend on the data."""
        n_threads = effective_n_threads(self.n_jobs)
        self._draw_seed(record)
        X, labels, weight = self._labelled(X, y, sample_weight)
        self._choose_code()
        if isinstance(folds, np.ndarray):
            data, folds = apart_by_folds(
                lambda numbers: self._canonical(X, numbers, weight, n_threads), labels, folds
            )
        else:
            data = self._canonical(X, labels, weight, n_threads)
        data = data.until(deadline.flag)
        if record.part is not None:
            record.bind(parameter_identity(self) | {"seed": str(self._seed)} | data_identity(data))
        self._read_machine(record)
        self._prepare(data)
        return FitInput(data, labels, weight, folds, record, deadline, n_threads)

    def _weighted_rows(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> WeightedRows:
        """Validated data in canonical form; sets ``classes_``, ``code_`` and ``decoder_``."""
        X, labels, weight = self._labelled(X, y, sample_weight)
        self._choose_code()
        return self._canonical(X, labels, weight, n_threads)

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Validated rows, labels ``0, 1, ...`` and weights; sets ``classes_``."""
        X, y = self._validated(X, y)
        return X, *self._labels_and_weights(y, sample_weight)

    # ---- decoders that learn ----

    def _learn_to_decode(
        self, fit: FitInput, results: Sequence[SolverResult], callback: Callback | None
    ) -> FoldOutputs | None:
        """Train the decoder on the columns' outputs, if it needs training; sets ``decoder_``.

        Returns the out-of-fold outputs, if the decoder is trained on them. If the time is up before it is
        trained, the code's default decoder remains, and empty outputs are returned.
        """
        if self._learner is None:
            return None
        record = fit.record.below("folds")
        if summary_of(results).status is Status.TIME_LIMIT:
            record = FitRecord()  # the folds may start from these results, which another run does not have
        try:
            return self._learn_from(self._learner, fit, record, callback)
        except Cancelled:
            if not fit.deadline.has_cut:
                raise
            return FoldOutputs(np.empty((0, self.code_.n_columns)), np.inf, Status.TIME_LIMIT)

    def _learn_from(
        self, learner: Decoder, fit: FitInput, record: FitRecord, callback: Callback | None
    ) -> FoldOutputs | None:
        data, found = fit.data, None
        if learner.learns_from == "out-of-fold":
            fold = fit.folds if isinstance(fit.folds, np.ndarray) else self._folds(data, fit.folds)
            stop = record.limits(self._stop(fit.deadline))
            found = self._out_of_fold(data, fold, stop, callback, fit.n_threads)
            self.fold_gap_ = found.gap
        outputs = outputs_on_rows(self, data) if found is None else found.outputs
        self.decoder_ = learner.fit(outputs, data.labels, self.code_, data.weight)
        return found

    def _folds(self, data: WeightedRows, n_folds: int) -> np.ndarray:
        """The fold of each canonical row."""
        return stratified_folds(data.labels, n_folds)

    def _out_of_fold(
        self, data: WeightedRows, fold: np.ndarray, stop: Stop, callback: Callback | None, n_threads: int
    ) -> FoldOutputs:
        """Outputs of the columns fitted without each row's fold."""
        return outputs_by_refits(self, data, fold, stop, callback, n_threads)

    def _validated(self, X: Any, y: Any = NOT_GIVEN) -> Any:
        """X in the core's layout and, at fit time, y; raises if they are invalid."""
        check_label_types(y)
        targets = {"reset": False} if y is NOT_GIVEN else {"y": y}
        return validate_rows(self, X, **targets)

    def _canonical(self, X: Any, labels: np.ndarray, weight: np.ndarray, n_threads: int) -> WeightedRows:
        """The weighted multiset of (row, label) pairs that the fit is a function of."""
        return canonical(X, labels, weight, n_threads=n_threads)

    def _certify(self, found: Summary, folds: FoldOutputs | None = None, complete: bool = True) -> None:
        """Store the certificates, and warn if a column or a fold did not converge.

        A fit that is not ``complete`` had no time for its report.
        """
        self._keep_certificates(found)
        worst = found.status
        untrained = folds is not None and not len(folds.outputs)
        if untrained or not complete:
            worst = worst_status([worst, Status.TIME_LIMIT])
        late = folds is not None and folds.status is Status.TIME_LIMIT
        self.status_ = str(worst_status([worst, Status.TIME_LIMIT]) if late else worst)
        undone = ", before its decoder was trained: the code's default decoder predicts" if untrained else ""
        if self._warn_unless_success(worst, undone):
            return
        if folds is not None and folds.status not in self._success:
            warnings.warn(
                f"{type(self).__name__}: the cross-validation fits that train the decoder stopped "
                f"({folds.status}) with relative duality gaps up to {folds.gap:.1e}; raise max_iter or "
                "max_seconds, raise tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _outputs(self, X: Any) -> np.ndarray:
        with np.errstate(under="ignore"):
            return self._column_outputs(self._rows_to_predict(X))

    def _output_blocks(self, X: Any) -> Iterator[np.ndarray]:
        X = self._rows_to_predict(X)
        n, step = X.shape[0], max(1, MAX_OUTPUTS_AT_ONCE // self.code_.n_columns)
        for start in range(0, max(n, 1), step):
            with np.errstate(under="ignore"):
                outputs = self._column_outputs(X if n <= step else X[start : start + step])
            yield outputs

    def _rows_to_predict(self, X: Any) -> Any:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which raises; it takes time to look at tags first
        return self._validated(X)

    feature_importances_ = property(own_importances)

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

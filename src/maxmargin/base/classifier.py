"""The base class of classifiers that solve one certified problem for each column of a code."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .._native import LAYOUT, as_rows, effective_n_threads
from ..checkpoints import FitRecord, data_identity, fit_record, parameter_identity
from ..data import WeightedRows, apart_by_folds, canonical, check_number, stratified_folds
from ..solving import Callback, SolverResult, Status, Stop, solve_columns, worst_status
from .callbacks import CallbackSupportMixin, fit_callback, plain_functions, with_callbacks
from .decoded import DecodedClassifier, forget
from .fold_outputs import FoldOutputs, outputs_by_refits, outputs_on_rows

NOT_GIVEN = object()  # marks a prediction, which has no y; y=None is an error
SUCCESS = (Status.CONVERGED, Status.BUDGET_FULL, Status.NO_LOSS_LEFT, Status.STOPPED)
N_FOLDS = 5  # for decoders trained on out-of-fold outputs


@dataclass(frozen=True)
class FitInput:
    """The validated input of one fit.

    ``data`` holds the rows in canonical form. ``labels`` (class numbers ``0, 1, ...``) and ``weight`` (class
    weights included) belong to the rows as given. ``folds`` is the number of folds for training a decoder, or
    the fold of each canonical row. ``record`` stores the progress of the fit.
    """

    data: WeightedRows
    labels: np.ndarray
    weight: np.ndarray
    folds: int | np.ndarray
    record: FitRecord
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
    ) -> list[SolverResult]:
        """One result per column, or a single result for all columns together."""

        def solve_column(column: int, stop: Stop, n_inner: int) -> SolverResult:
            which, targets = self.code_.column(data.labels, column)
            return self._solve(data.take(which, n_inner, stop.cancel), targets, column, stop, callback)

        return solve_columns(solve_column, self.code_.n_columns, stop, n_threads)

    @abstractmethod
    def _store(self, results: list[SolverResult], data: WeightedRows) -> None:
        """Store what prediction needs, as arrays."""

    def _report(self, results: list[SolverResult], fit: FitInput) -> None:
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
        with fit_record(self) as record:
            return self._fit(X, y, sample_weight, record=record)

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        record: FitRecord,
        folds: int | np.ndarray = N_FOLDS,
    ) -> Self:
        """``fit`` with its progress stored in ``record``, which may be part of an outer estimator's record.

        ``folds`` is the number of folds for training a decoder, or the fold of each row.
        """
        fit = self._begin(X, y, sample_weight, record, folds)
        stop = record.limits(self._stop())
        with fit_callback(self, X, y) as callback:
            results = self._solve_all(fit.data, stop, callback, fit.n_threads)
            self._store(results, fit.data)
            learned_from = self._learn_to_decode(fit, callback) if _finite(results) else None
        if _finite(results):
            self._report(results, fit)
        self._certify(results, learned_from)
        return self

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        record: FitRecord = FitRecord(),  # noqa: B008 (it is stateless)
        folds: int | np.ndarray = N_FOLDS,
    ) -> FitInput:
        """Everything before the solver: checked parameters, a code, data in canonical form."""
        forget(self, "status_")  # not fitted until this fit ends
        self._check_parameters()
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
        if record.part is not None:
            record.bind(parameter_identity(self) | {"seed": str(self._seed)} | data_identity(data))
        self._read_machine(record)
        self._prepare(data)
        return FitInput(data, labels, weight, folds, record, n_threads)

    def _stop(self) -> Stop:
        """The limits of a fit."""
        return Stop(tol=self.tol, max_iter=self.max_iter, max_seconds=self.max_seconds)

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "status_")

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

    def _learn_to_decode(self, fit: FitInput, callback: Callback | None) -> FoldOutputs | None:
        """Train the decoder on the columns' outputs, if it needs training; sets ``decoder_``.

        Returns the out-of-fold outputs, if the decoder is trained on them.
        """
        data, found = fit.data, None
        if self._learner is None:
            return None
        if self._learner.learns_from == "out-of-fold":
            fold = fit.folds if isinstance(fit.folds, np.ndarray) else self._folds(data, fit.folds)
            stop = fit.record.below("folds").limits(self._stop())
            found = self._out_of_fold(data, fold, stop, callback, fit.n_threads)
            self.fold_gap_ = found.gap
        outputs = outputs_on_rows(self, data) if found is None else found.outputs
        self.decoder_ = self._learner.fit(outputs, data.labels, self.code_, data.weight)
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
        targets = {"reset": False} if y is NOT_GIVEN else {"y": y}
        checked = validate_data(self, X, **targets, **LAYOUT)
        return as_rows(checked) if y is NOT_GIVEN else (as_rows(checked[0]), checked[1])

    def _canonical(self, X: Any, labels: np.ndarray, weight: np.ndarray, n_threads: int) -> WeightedRows:
        """The weighted multiset of (row, label) pairs that the fit is a function of."""
        return canonical(X, labels, weight, n_threads=n_threads)

    def _certify(self, results: list[SolverResult], folds: FoldOutputs | None = None) -> None:
        """Store the certificates, and warn if a column or a fold did not converge."""
        self.history_ = [result.history for result in results]
        self.n_iter_ = max(result.n_iter for result in results)
        self.objective_ = float(sum(result.objective for result in results))
        self.dual_gap_ = float(np.max([result.gap for result in results]))
        worst = worst_status(result.status for result in results)
        self.status_ = str(worst)
        if not _finite(results):
            del self.status_
            raise ValueError(
                f"{type(self).__name__} failed: its coefficients are not finite. Scale the features, for "
                f"example with sklearn.preprocessing.StandardScaler, or {self._remedy_for_overflow}."
            )
        if worst not in self._success:
            gap = f" with relative duality gap {self.dual_gap_:.1e}" if np.isfinite(self.dual_gap_) else ""
            warnings.warn(
                f"{type(self).__name__} stopped ({worst}){gap} after {self.n_iter_} iterations; "
                f"{self._remedy()}",
                ConvergenceWarning,
                stacklevel=5,
            )
        elif folds is not None and folds.status not in self._success:
            warnings.warn(
                f"{type(self).__name__}: the cross-validation fits that train the decoder stopped "
                f"({folds.status}) with relative duality gaps up to {folds.gap:.1e}; raise max_iter or "
                "max_seconds, raise tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _remedy(self) -> str:
        """Advice for a fit that stopped before it converged."""
        return "raise max_iter or max_seconds, raise tol, or scale the features."

    def _check_stopping(self) -> None:
        """Check the stopping parameters that every solver has."""
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, at_least=1, integer=True)
        check_number("max_seconds", self.max_seconds, above=0.0)

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set the callbacks of later fits, replacing earlier ones; without arguments, remove them.

        Parameters
        ----------
        *callbacks : callables or scikit-learn callbacks
            Functions ``f(check, state) -> stop``, or objects that follow the ``sklearn.callback`` protocol.
        """
        functions, others = plain_functions(callbacks)
        if CallbackSupportMixin is not object:
            super().set_callbacks(*others)
        self._functions = functions
        return self

    def __sklearn_clone__(self) -> Any:
        """A clone inherits plain functions, as it inherits scikit-learn's callbacks."""
        copy = super().__sklearn_clone__()
        if functions := getattr(self, "_functions", None):
            copy._functions = list(functions)
        return copy

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._column_outputs(self._validated(X))

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _finite(results: list[SolverResult]) -> bool:
    return all(np.isfinite(result.coef).all() for result in results)

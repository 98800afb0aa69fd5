"""What learned decoders share: data in canonical form, focus, folds, the report of a fit, equality."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from ..codes import Code
from ..data import check_number, check_sample_weight, stratified_folds
from ..solving import Check, Status
from .margin_sums import checked_outputs
from .protocol import Decoder

__all__ = ["DecoderReport", "LabelledOutputs", "LearnedWeights", "checked_labels", "labelled_outputs"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
N_COMPARISON_FOLDS = 3  # for choosing a parameter
FOCUSES = ("support-vectors",)
OMEGA_STEP = 2.0**-30  # omegas are multiples of it: their sums are exact in any order of the rows
MAX_FITTED_OUTPUT = 1e100  # larger outputs are clipped


@dataclass(frozen=True)
class DecoderReport:
    """What a fit did: loss and training error before and after, and a lower bound on the loss.

    The loss is the mean over the rows, weighted by sample weight times omega; that of :class:`PriorDecoder`
    includes ``nu/2 ||V - V0||^2``. ``n_constraints`` of the ``n_pairs`` pairs of a row and a wrong class were
    active. ``chosen`` is the margin, or nu, of the fit. ``focused`` is False if all rows counted equally:
    there was no focus, or it found no row to focus on.

    Attributes
    ----------
    status : str
        Why the solver stopped.
    n_iter : int
    n_constraints : int
        Constraints generated.
    n_pairs : int
        Pairs of a row and a wrong class.
    loss_before, loss_after : float
        Of equal weights, and of those found.
    bound : float
        Lower bound on the loss.
    chosen : float
        The parameter chosen on held-out rows.
    focused : bool
        Whether rows were weighted.
    error_before, error_after : float
        On the rows that the choice held out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.decoders import PriorDecoder
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(code="exhaustive", decoder=PriorDecoder(), random_state=0).fit(X, y)
    >>> model.decoder_.report.status
    'converged'
    """

    status: str
    n_iter: int
    n_constraints: int
    n_pairs: int
    loss_before: float
    loss_after: float
    bound: float
    chosen: float
    focused: bool
    error_before: float = np.nan
    error_after: float = np.nan

    @property
    def gap(self) -> float:
        """The relative duality gap of the loss after learning."""
        return Check(0, self.loss_after, self.bound, 0.0).gap if self.loss_after > 0.0 else 0.0


@dataclass(frozen=True)
class LabelledOutputs:
    """Outputs, labels and positive weights, with the classes sorted by their rows in the code.

    The rows of a code differ, so permuting the classes changes only ``classes``: the given class of each row
    of ``code``.
    """

    F: FloatArray
    labels: IntArray
    weight: FloatArray
    code: Code
    classes: IntArray

    def error(self, decoder: Decoder) -> float:
        """The weighted error rate of a decoder."""
        wrong = decoder.scores(self.F, self.code).argmax(axis=1) != self.labels
        return float(self.weight @ wrong / self.weight.sum())

    def in_given_order(self, W: FloatArray) -> FloatArray:
        """Weights with one row per class in the given order, read-only."""
        weights = np.empty_like(W)
        weights[self.classes] = W
        weights.setflags(write=False)
        return weights


def labelled_outputs(
    F: ArrayLike, y: ArrayLike, code: Code, sample_weight: ArrayLike | None
) -> LabelledOutputs:
    """Check outputs, labels and weights, and drop rows of weight 0."""
    F = checked_outputs(F, code)
    labels = checked_labels(y, len(F), code)
    weight = check_sample_weight(sample_weight, len(F))
    kept = weight > 0.0
    classes = np.lexsort(code.matrix.T[::-1])
    place = np.argsort(classes)
    ordered = code if np.array_equal(place, np.arange(len(place))) else _quietly_permuted(code, classes)
    F = np.clip(F[kept], -MAX_FITTED_OUTPUT, MAX_FITTED_OUTPUT)
    return LabelledOutputs(F, place[labels[kept]], weight[kept], ordered, classes)


def checked_labels(y: ArrayLike, n_rows: int, code: Code) -> IntArray:
    """Labels as integers; raises unless there is a class of the code for each row of outputs."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,) or not np.isin(labels, np.arange(code.n_classes)).all():
        raise ValueError(
            f"y must have a class from 0 to {code.n_classes - 1}, a row of the code, for each of the "
            f"{n_rows} rows of F; got shape {labels.shape} and {np.unique(labels).tolist()[:5]}."
        )
    return labels.astype(np.intp)


def _quietly_permuted(code: Code, classes: IntArray) -> Code:
    """The code with its rows in this order; its warnings were given when it was constructed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Code(code.matrix[classes], code.name)


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """Base of decoders with learned ``weights`` (n_classes, n_columns) and the ``report`` of the fit."""

    def __eq__(self, other: object) -> bool:
        """Whether parameters, weights and reports are equal."""
        if type(self) is not type(other):
            return NotImplemented
        pairs = [(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)]
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b) for a, b in pairs)

    def __hash__(self) -> int:
        """Equal decoders hash alike."""
        return hash(repr(getattr(self, "report", None)))

    def _learned(self) -> FloatArray:
        weights = getattr(self, "weights", None)
        if weights is None:
            raise ValueError(f"{type(self).__name__} is not fitted; call fit and use the decoder it returns.")
        return np.asarray(weights)


def sample_focus(F: FloatArray, labels: NDArray[np.intp], code: Code, floor: float) -> FloatArray:
    """``omega_i``: how strongly columns have a sample on the wrong side, less than one from the boundary.

    A column with slack ``s = max(0, 1 - c_yq f_q)`` contributes ``2 - s`` if 1 < s < 2, else 0. The sum over
    columns is divided by the number of non-zero entries of row y, and raised to ``floor`` if it is smaller.
    """
    with np.errstate(over="ignore"):
        slack = 1.0 - code.matrix[labels] * np.clip(F, -2.0, 2.0)
    near = np.where((slack > 1.0) & (slack < 2.0), 2.0 - slack, 0.0)
    omega = near.sum(axis=1) / np.abs(code.matrix).sum(axis=1, dtype=np.float64)[labels]
    return np.maximum(np.round(omega / OMEGA_STEP) * OMEGA_STEP, floor)


def check_learning(decoder: Any, chosen: str) -> None:
    """Check the parameters; the one named ``chosen`` may be a number or ``"auto"``."""
    if decoder.focus is not None and decoder.focus not in FOCUSES:
        raise ValueError(f"focus must be None or one of {sorted(FOCUSES)}; got {decoder.focus!r}.")
    value = getattr(decoder, chosen)
    if not isinstance(value, str):
        check_number(chosen, value, above=0.0)
    elif value != "auto":
        raise ValueError(f"{chosen} must be 'auto' or a finite number > 0; got {value!r}.")
    check_number("floor", decoder.floor, at_least=0.0)
    check_number("tol", decoder.tol, above=0.0)
    check_number("max_iter", decoder.max_iter, at_least=1, integer=True)
    check_number("max_seconds", decoder.max_seconds, above=0.0)


def warn_unless_converged(decoder: Any, report: DecoderReport) -> None:
    """Warn if a fit stopped early; its weights are the best found."""
    if report.status != str(Status.CONVERGED):
        warnings.warn(
            f"{type(decoder).__name__} stopped ({report.status}) with relative duality gap {report.gap:.1e} "
            f"after {report.n_iter} iterations; raise max_iter or max_seconds, or raise tol.",
            ConvergenceWarning,
            stacklevel=3,
        )


class ComparedRows(Protocol):
    """Rows on which values of a parameter are compared."""

    @property
    def labels(self) -> IntArray:
        """The class of each row."""
        ...

    @property
    def cost(self) -> FloatArray:
        """The weight of each row's loss."""
        ...

    def take(self, which: IntArray) -> Self:
        """A subset of the rows."""
        ...


Rows = TypeVar("Rows", bound=ComparedRows)


def comparison_folds(rows: Rows, max_rows: int) -> list[tuple[Rows, Rows]]:
    """Training and held-out rows for each fold of the first ``max_rows`` rows that has both."""
    compared = rows.take(np.arange(min(len(rows.labels), max_rows)))
    fold = stratified_folds(compared.labels, N_COMPARISON_FOLDS)
    parts = [
        (compared.take(np.flatnonzero(fold != k)), compared.take(np.flatnonzero(fold == k)))
        for k in range(N_COMPARISON_FOLDS)
    ]
    return [(train, test) for train, test in parts if train.cost.any() and len(test.labels)]


def tied_or_wrong(S: FloatArray, labels: IntArray) -> NDArray[np.bool_]:
    """Rows in which the true class does not score above all others."""
    rows, S = np.arange(len(S)), S.copy()
    own = S[rows, labels]
    S[rows, labels] = -np.inf
    return np.asarray(own <= S.max(axis=1))

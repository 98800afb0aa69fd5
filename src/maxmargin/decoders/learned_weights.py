"""What learned decoders share: data in canonical form, the report of a fit, and equality."""

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
FOLDS = 3  # in which values of a parameter are compared
FOCUSES = ("support-vectors",)
OMEGA_STEP = 2.0**-30  # omegas are multiples of it: their sums are exact in any order of the rows
LARGEST = 1e100  # outputs beyond are taken for this large


@dataclass(frozen=True)
class DecoderReport:
    """What learning did: bounds on the loss, and the shares of training rows that are decoded wrongly.

    The loss is the mean over the rows, each with its sample weight times omega; that of
    :class:`PriorDecoder` includes ``nu/2 ||V - V0||^2``.
    ``n_constraints`` pairs of a row and a wrong class took part, of ``n_pairs`` there are. ``chosen`` is the
    margin, or nu, of the fit. ``focused`` is False where all rows counted alike, also because no row is a
    support vector that is wrong.
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
    """Outputs, labels and positive weights, the classes in the order of their rows in the code.

    Codes have no equal rows, so that a permutation of the classes changes nothing here but ``classes``, the
    class that each row of ``code`` had.
    """

    F: FloatArray
    labels: IntArray
    weight: FloatArray
    code: Code
    classes: IntArray

    def error(self, decoder: Decoder) -> float:
        """The share of the weights that a decoder of ``code`` gets wrong."""
        wrong = decoder.scores(self.F, self.code).argmax(axis=1) != self.labels
        return float(self.weight @ wrong / self.weight.sum())

    def in_given_order(self, W: FloatArray) -> FloatArray:
        """Rows for the classes as they were given, read-only."""
        weights = np.empty_like(W)
        weights[self.classes] = W
        weights.setflags(write=False)
        return weights


def labelled_outputs(
    F: ArrayLike, y: ArrayLike, code: Code, sample_weight: ArrayLike | None
) -> LabelledOutputs:
    """Refuse what does not fit together, and leave out rows of weight 0."""
    F = checked_outputs(F, code)
    labels = checked_labels(y, len(F), code)
    weight = check_sample_weight(sample_weight, len(F))
    kept = weight > 0.0
    classes = np.lexsort(code.matrix.T[::-1])
    place = np.argsort(classes)
    ordered = code if np.array_equal(place, np.arange(len(place))) else _quietly_permuted(code, classes)
    F = np.clip(F[kept], -LARGEST, LARGEST)
    return LabelledOutputs(F, place[labels[kept]], weight[kept], ordered, classes)


def checked_labels(y: ArrayLike, n_rows: int, code: Code) -> IntArray:
    """A class for each row of outputs; refused where the code has no such row."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,) or not np.isin(labels, np.arange(code.n_classes)).all():
        raise ValueError(
            f"y has a class from 0 to {code.n_classes - 1}, a row of the code, for each of the {n_rows} rows "
            f"of F; got shape {labels.shape} and {np.unique(labels).tolist()[:5]}."
        )
    return labels.astype(np.intp)


def _quietly_permuted(code: Code, classes: IntArray) -> Code:
    """The code with its rows in this order; what there was to warn of has been warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Code(code.matrix[classes], code.name)


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """Weights (n_classes, n_columns) once learned, and how well: ``weights`` and ``report``."""

    def __eq__(self, other: object) -> bool:
        """Whether parameters and weights are the same."""
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
            raise ValueError(f"{type(self).__name__} is not fitted; call fit, and use what it returns.")
        return np.asarray(weights)


def sample_focus(F: FloatArray, labels: NDArray[np.intp], code: Code, floor: float) -> FloatArray:
    """``omega_i``: how many columns have a sample on the wrong side, but less than one from the boundary.

    With the slack ``s = max(0, 1 - c_yq f_q)`` of a column, ``2 - s`` where 1 < s < 2 and 0 elsewhere, summed
    over the columns and divided by their number at non-zero entries of row y; at least ``floor``.
    """
    with np.errstate(over="ignore"):
        slack = 1.0 - code.matrix[labels] * np.clip(F, -2.0, 2.0)
    near = np.where((slack > 1.0) & (slack < 2.0), 2.0 - slack, 0.0)
    omega = near.sum(axis=1) / np.abs(code.matrix).sum(axis=1, dtype=np.float64)[labels]
    return np.maximum(np.round(omega / OMEGA_STEP) * OMEGA_STEP, floor)


def check_learning(decoder: Any, chosen: str) -> None:
    """Refuse bad parameters; the one named ``chosen`` is a number or ``"auto"``."""
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
    """Say so where a fit ended early: the weights are the best seen."""
    if report.status != str(Status.CONVERGED):
        warnings.warn(
            f"{type(decoder).__name__} stopped ({report.status}) with relative duality gap {report.gap:.1e} "
            f"after {report.n_iter} iterations; raise max_iter or max_seconds, or raise tol.",
            ConvergenceWarning,
            stacklevel=3,
        )


class JudgedRows(Protocol):
    """Rows on which values of a parameter are compared."""

    @property
    def labels(self) -> IntArray:
        """Of each row, its class."""
        ...

    @property
    def cost(self) -> FloatArray:
        """Of each row, what its loss counts."""
        ...

    def take(self, which: IntArray) -> Self:
        """Some of the rows."""
        ...


Rows = TypeVar("Rows", bound=JudgedRows)


def judging_folds(rows: Rows, most: int) -> list[tuple[Rows, Rows]]:
    """Rows to train on and rows left out, for each fold of the first ``most`` rows that has both."""
    judged = rows.take(np.arange(min(len(rows.labels), most)))
    fold = stratified_folds(judged.labels, FOLDS)
    parts = [
        (judged.take(np.flatnonzero(fold != k)), judged.take(np.flatnonzero(fold == k))) for k in range(FOLDS)
    ]
    return [(train, test) for train, test in parts if train.cost.any() and len(test.labels)]


def tied_or_wrong(S: FloatArray, labels: IntArray) -> NDArray[np.bool_]:
    """Rows in which the true class is not ahead of all others."""
    rows, S = np.arange(len(S)), S.copy()
    own = S[rows, labels]
    S[rows, labels] = -np.inf
    return np.asarray(own <= S.max(axis=1))

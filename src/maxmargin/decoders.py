"""Decoders: from the outputs of a code's columns to one score per class, larger is better."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from . import _native
from .codes import Code
from .losses import LOSSES, Loss

__all__ = [
    "DECODERS",
    "Decoder",
    "Hamming",
    "LearnsFrom",
    "LossBased",
    "Margins",
    "Votes",
    "decision_values",
    "decoder_from_name",
    "predicted_classes",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
LearnsFrom = Literal["nothing", "outputs", "out-of-fold"]


@runtime_checkable
class Decoder(Protocol):
    """Turns column outputs ``F`` of shape (n_samples, n_columns) into scores (n_samples, n_classes).

    ``fit`` learns from outputs and labels ``0 .. n_classes-1`` and returns the fitted decoder; decoders with
    nothing to learn return themselves. ``learns_from`` says which outputs ``fit`` is to be given: those of
    the training rows themselves, or of rows that the columns were not trained on. A decoder that gives
    probabilities has also ``probabilities(F, code)``: rows sum to 1, and their argmax is that of the scores.
    """

    learns_from: ClassVar[LearnsFrom]

    @property
    def name(self) -> str:
        """The name in ``DECODERS``."""

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Decoder:
        """The decoder learned from these outputs."""

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """One score per class; ``predict`` takes the largest."""


class _Fixed:
    """A decoder with nothing to learn."""

    learns_from: ClassVar[LearnsFrom] = "nothing"

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Nothing to learn: the decoder itself."""
        return self


@dataclass(frozen=True)
class Margins(_Fixed):
    """The largest margin: ``f_y`` for one-vs-rest, ``sum_t c_yt f_t`` for any other code."""

    name: str = field(default="margins", init=False)

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """``F`` itself for one-vs-rest, else ``F @ matrix.T``."""
        F = _checked(F, code)
        one_vs_rest = (
            code.n_classes == code.n_columns and (code.matrix == 2 * np.eye(code.n_classes) - 1).all()
        )
        return F if one_vs_rest else _sums(F, code).high


@dataclass(frozen=True)
class Votes(_Fixed):
    """The number of columns that vote for a class, an output of 0 being half a vote for either side.

    Among equal votes the larger sum of margins ``s_y = sum_t c_yt f_t`` wins, whatever its size: to the votes
    is added ``s_y / (5 (1 + |s_y|))``, and where rounding hides a difference of sums one unit in the last
    place restores it. Sums that are equal in double precision are the only ties left.
    """

    name: str = field(default="votes", init=False)

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Votes, plus less than a quarter of a vote that tells equal votes apart."""
        F = _checked(F, code)
        n_columns_of_class = np.abs(code.matrix).sum(axis=1, dtype=np.float64)
        sums = _sums(F, code)
        return _with_margins((n_columns_of_class + sums.votes) / 2, sums)


@dataclass(frozen=True)
class Hamming(_Fixed):
    """The nearest row: minus ``sum_t (1 - c_yt sign(f_t)) / 2``, so a zero entry or output costs 1/2.

    Ties go to the larger sum of margins, as in :class:`Votes`; for one-vs-one the two differ by a constant.
    """

    name: str = field(default="hamming", init=False)

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Minus the distance, plus less than a quarter that tells equal distances apart."""
        F = _checked(F, code)
        sums = _sums(F, code)
        return _with_margins((sums.votes - code.n_columns) / 2, sums)


@dataclass(frozen=True)
class LossBased(_Fixed):
    """The least loss: minus ``sum_t loss(c_yt f_t)``, zero entries included as ``loss(0)``.

    Equal losses go to the larger sum of margins. Named after its loss: ``"hinge"`` is ``LossBased(Hinge())``.
    """

    loss: Loss = LOSSES["hinge"]

    @property
    def name(self) -> str:
        """The name of the loss."""
        return self.loss.name

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Minus the summed loss of each class."""
        F = _checked(F, code)
        cost = _linear(self.loss.value(F), code.matrix == 1) + _linear(self.loss.value(-F), code.matrix == -1)
        cost += (code.matrix == 0).sum(axis=1) * self.loss.value(np.zeros(()))
        return _strictly_ordered(-cost, -cost, _sums(F, code))


def _checked(F: ArrayLike, code: Code) -> FloatArray:
    F = np.asarray(F, dtype=np.float64)
    if F.ndim != 2 or F.shape[1] != code.n_columns:
        raise ValueError(f"F has {code.n_columns} columns, as its code has; got shape {F.shape}.")
    return F


def _linear(F: FloatArray, matrix: NDArray[Any]) -> FloatArray:
    """``F @ matrix.T``, each row summed in one fixed order, whatever the other rows."""
    return np.ascontiguousarray((csr_array(matrix.astype(np.float64)) @ F.T).T)


class _Sums(NamedTuple):
    """``F @ matrix.T``, what rounding it has left out, and ``sign(F) @ matrix.T``, each (n, n_classes)."""

    high: FloatArray
    low: FloatArray
    votes: FloatArray


def _sums(F: FloatArray, code: Code) -> _Sums:
    """Sums in doubled precision, so that ties do not depend on the order of the columns.

    The order of two sums may be decided by what rounding has left out. Rows above 2^1000 are scaled by a
    power of two first: a sum never overflows.
    """
    return _Sums(*_native.code_sums(F, code.matrix))


def _with_margins(votes: FloatArray, sums: _Sums) -> FloatArray:
    return _strictly_ordered(votes + sums.high / (5 * (1 + np.abs(sums.high))), votes, sums)


def _strictly_ordered(scores: FloatArray, first: FloatArray, sums: _Sums) -> FloatArray:
    """The scores, raised where needed until each row is ordered by (first, sums), equal only with both."""
    wrong = np.flatnonzero(~_ordered(scores, first, sums))
    if wrong.size:
        keys = (first[wrong], sums.high[wrong], sums.low[wrong])
        scores[wrong] = _raised(scores[wrong], *keys)
    return scores


def _ordered(scores: FloatArray, first: FloatArray, sums: _Sums) -> NDArray[np.bool_]:
    """Whether a row is strictly ordered by (first, sums) as it is. Nearly all are; of the rest, not all."""
    rank = np.argsort(scores, axis=1)
    s, a, b = (np.take_along_axis(v, rank, axis=1) for v in (scores, first, sums.high))
    rises = (a[:, 1:] > a[:, :-1]) | ((a[:, 1:] == a[:, :-1]) & (b[:, 1:] > b[:, :-1]))
    return (rises & (s[:, 1:] > s[:, :-1])).all(axis=1)


def _raised(scores: FloatArray, *keys: FloatArray) -> FloatArray:
    order = np.lexsort(keys[::-1], axis=1)
    score, a, b, c = (np.take_along_axis(v, order, axis=1).T.copy() for v in (scores, *keys))
    for k in range(1, len(score)):
        larger = (a[k] > a[k - 1]) | (b[k] > b[k - 1]) | ((b[k] == b[k - 1]) & (c[k] > c[k - 1]))
        floor = np.where(larger, np.nextafter(score[k - 1], np.inf), score[k - 1])
        score[k] = np.maximum(score[k], floor)
    out = np.empty_like(scores)
    np.put_along_axis(out, order, score.T, axis=1)
    return out


def decision_values(F: FloatArray, code: Code, decoder: Decoder) -> FloatArray:
    """What ``decision_function`` returns: scores, or (n,) values for class 1 where a code has one column."""
    if code.n_classes == 2 and code.n_columns == 1:
        return _checked(F, code)[:, 0] * code.matrix[1, 0]
    return decoder.scores(F, code)


def predicted_classes(decision: FloatArray) -> IntArray:
    """The class with the largest decision value; of two classes the second, where the value is positive."""
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    return np.argmax(decision, axis=1)


DECODERS: dict[str, Decoder] = {decoder.name: decoder for decoder in (Margins(), Votes(), Hamming())} | {
    name: LossBased(loss) for name, loss in LOSSES.items()
}


def decoder_from_name(decoder: str | Decoder, code: Code) -> Decoder:
    """The decoder of that name; a ``Decoder`` is returned as it is.

    ``"auto"`` is ``"margins"`` for one-vs-rest, ``"votes"`` for one-vs-one, ``"hinge"`` for any other code.
    """
    if isinstance(decoder, Decoder) and not isinstance(decoder, type):  # a class has the members too
        return decoder
    if isinstance(decoder, str) and decoder == "auto":
        decoder = {"one-vs-rest": "margins", "one-vs-one": "votes"}.get(code.name, "hinge")
    if isinstance(decoder, str) and decoder in DECODERS:
        return DECODERS[decoder]
    raise ValueError(f"decoder must be a Decoder or one of {['auto', *sorted(DECODERS)]}; got {decoder!r}.")

"""Decoders: from the outputs of a code's columns to one score per class, larger is better."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..codes import Code
from ..losses import LOSSES, Loss
from .margin_sums import checked_outputs, code_product, margin_sums, ordered_by_margins, with_margins
from .prior import PriorDecoder
from .probabilities import Coupling, Probabilistic
from .protocol import Decoder, LearnsFrom
from .weighted import WeightedDecoder

__all__ = [
    "DECODERS",
    "Hamming",
    "LossBased",
    "Margins",
    "Votes",
    "decision_values",
    "decoder_from_name",
    "gives_probabilities",
    "predicted_classes",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


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
        F = checked_outputs(F, code)
        one_vs_rest = (
            code.n_classes == code.n_columns and (code.matrix == 2 * np.eye(code.n_classes) - 1).all()
        )
        return F if one_vs_rest else margin_sums(F, code).high


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
        F = checked_outputs(F, code)
        n_columns_of_class = np.abs(code.matrix).sum(axis=1, dtype=np.float64)
        sums = margin_sums(F, code)
        return with_margins((n_columns_of_class + sums.votes) / 2, sums)


@dataclass(frozen=True)
class Hamming(_Fixed):
    """The nearest row: minus ``sum_t (1 - c_yt sign(f_t)) / 2``, so a zero entry or output costs 1/2.

    Ties go to the larger sum of margins, as in :class:`Votes`; for one-vs-one the two differ by a constant.
    """

    name: str = field(default="hamming", init=False)

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Minus the distance, plus less than a quarter that tells equal distances apart."""
        F = checked_outputs(F, code)
        sums = margin_sums(F, code)
        return with_margins((sums.votes - code.n_columns) / 2, sums)


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
        F = checked_outputs(F, code)
        with np.errstate(over="ignore"):  # too large a sum is infinite, and decided as a tie is
            cost = code_product(self.loss.value(F), code.matrix == 1)
            cost += code_product(self.loss.value(-F), code.matrix == -1)
        cost += (code.matrix == 0).sum(axis=1) * self.loss.value(np.zeros(()))
        return ordered_by_margins(-cost, -cost, margin_sums(F, code))


def decision_values(F: FloatArray, code: Code, decoder: Decoder) -> FloatArray:
    """What ``decision_function`` returns: scores, or (n,) values for class 1 where a code has one column."""
    if code.n_classes == 2 and code.n_columns == 1:
        return checked_outputs(F, code)[:, 0] * code.matrix[1, 0]
    return decoder.scores(F, code)


def predicted_classes(decision: FloatArray) -> IntArray:
    """The class with the largest decision value; of two classes the second, where the value is positive."""
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    return np.argmax(decision, axis=1)


FIXED: list[Decoder] = [Margins(), Votes(), Hamming(), *(LossBased(loss) for loss in LOSSES.values())]
LEARNED: list[Decoder] = [
    Probabilistic(),
    Coupling(),
    WeightedDecoder(),
    WeightedDecoder(focus="support-vectors"),
    PriorDecoder(),
]
DECODERS: dict[str, Decoder] = {decoder.name: decoder for decoder in FIXED + LEARNED}


def gives_probabilities(decoder: Any) -> bool:
    """Whether the decoder, or the one of that name, turns outputs into probabilities."""
    known = DECODERS.get(decoder) if isinstance(decoder, str) else decoder
    return hasattr(known, "probabilities")


def decoder_from_name(decoder: str | Decoder, code: Code) -> Decoder:
    """The decoder of that name; a ``Decoder`` is returned as it is.

    ``"auto"`` is ``"margins"`` for one-vs-rest, ``"votes"`` for one-vs-one, ``"hinge"`` for any other code.
    One that cannot work with the code is refused.
    """
    if isinstance(decoder, str) and decoder == "auto":
        decoder = {"one-vs-rest": "margins", "one-vs-one": "votes"}.get(code.name, "hinge")
    if isinstance(decoder, str) and decoder in DECODERS:
        decoder = DECODERS[decoder]
    if not isinstance(decoder, Decoder) or isinstance(decoder, type):  # a class has the members too
        names = ["auto", *sorted(DECODERS)]
        raise ValueError(f"decoder must be a Decoder or one of {names}; got {decoder!r}.")
    if isinstance(decoder, Coupling):
        decoder.check(code)
    return decoder

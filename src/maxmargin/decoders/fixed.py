"""Decoders with nothing to learn: margins, votes, distances, losses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..codes import Code
from ..losses import LOSSES, Loss
from .margin_sums import (
    MAX_FLOAT,
    checked_outputs,
    code_product,
    margin_sums,
    ordered_by_margins,
    with_margins,
)
from .protocol import LearnsFrom

__all__ = ["Hamming", "LossBased", "Margins", "Votes"]

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
    """The largest margin: ``f_y`` for one-vs-rest, ``sum_t c_yt f_t`` for any other code.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.codes import one_vs_rest
    >>> from maxmargin.decoders import Margins
    >>> outputs = np.array([[2.0, -1.0, 0.5], [-1.0, -0.5, -2.0]])
    >>> Margins().scores(outputs, one_vs_rest(3)).argmax(axis=1)
    array([0, 1])
    """

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
    """The number of columns that vote for a class; an output of 0 is half a vote for either side.

    The larger sum of margins ``s_y = sum_t c_yt f_t`` breaks ties, at any scale: ``s_y / (5 (1 + |s_y|))`` is
    added to the votes, and where rounding hides a difference of sums, one unit in the last place restores it.
    Only sums that are equal in double precision remain tied. Votes suit codes whose classes take part in
    equally many columns, such as one-vs-one: in others a class with more columns can collect more votes than
    a class whose columns are all right.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.codes import one_vs_one
    >>> from maxmargin.decoders import Votes
    >>> Votes().scores(np.array([[1.0, 1.0, -1.0]]), one_vs_one(3)).argmax(axis=1)
    array([1])
    """

    name: str = field(default="votes", init=False)

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Votes, plus less than a quarter vote that breaks ties."""
        F = checked_outputs(F, code)
        sums = margin_sums(F, code)
        return with_margins((code.n_columns_of_classes + sums.votes) / 2, sums)


@dataclass(frozen=True)
class Hamming(_Fixed):
    """The nearest row: minus ``sum_t (1 - c_yt sign(f_t)) / 2``, so a zero entry or output costs 1/2.

    Ties go to the larger sum of margins, as in :class:`Votes`; for one-vs-one the two differ by a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.codes import one_vs_rest
    >>> from maxmargin.decoders import Hamming
    >>> outputs = np.array([[2.0, -1.0, 0.5], [-1.0, -0.5, -2.0]])
    >>> Hamming().scores(outputs, one_vs_rest(3)).argmax(axis=1)
    array([0, 1])
    """

    name: str = field(default="hamming", init=False)

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Minus the distance, plus less than a quarter that breaks ties."""
        F = checked_outputs(F, code)
        sums = margin_sums(F, code)
        return with_margins((sums.votes - code.n_columns) / 2, sums)


@dataclass(frozen=True)
class LossBased(_Fixed):
    """The smallest loss: minus ``sum_t loss(c_yt f_t)``, zero entries included as ``loss(0)``.

    Scores are finite: where a sum of losses would overflow, the scores of a row are divided by a power of
    two, and a loss that overflows by itself counts as the largest floating-point number. Ties go to the
    larger sum of margins. Named after its loss: ``"hinge"`` is ``LossBased(Hinge())``.

    Parameters
    ----------
    loss : Loss
        The loss of the margins that are summed up.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.codes import one_vs_rest
    >>> from maxmargin.decoders import LossBased
    >>> outputs = np.array([[2.0, -1.0, 0.5], [-1.0, -0.5, -2.0]])
    >>> LossBased().scores(outputs, one_vs_rest(3)).argmax(axis=1)
    array([0, 1])
    """

    loss: Loss = LOSSES["hinge"]

    @property
    def name(self) -> str:
        """The name of the loss."""
        return self.loss.name

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Minus the summed loss of each class."""
        F = checked_outputs(F, code)
        with np.errstate(over="ignore"):
            costs = [np.minimum(self.loss.value(side), MAX_FLOAT) for side in (F, -F)]
        zero = (code.matrix == 0).sum(axis=1) * self.loss.value(np.zeros(()))
        scale = _scale_of_sums(np.maximum(*costs).max(axis=1), code.n_columns)
        cost = code_product(costs[0] * scale, code.matrix == 1)
        cost += code_product(costs[1] * scale, code.matrix == -1)
        cost += zero * scale
        return ordered_by_margins(-cost, -cost, margin_sums(F, code))


def _scale_of_sums(largest: FloatArray, n_terms: int) -> FloatArray:
    """For each row, as a column: 1, or the power of two with which n_terms sums of such terms are finite."""
    factor = 2.0 ** -np.ceil(np.log2(2.0 * n_terms))
    return np.where(largest > factor * MAX_FLOAT, factor, 1.0)[:, None]

"""Sums of margins over a code's columns, and scores whose ties they break."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import _native
from ..codes import Code, PairCode

__all__ = ["Sums", "checked_outputs", "code_product", "margin_sums", "ordered_by_margins", "with_margins"]

FloatArray = NDArray[np.float64]
MAX_FLOAT = np.finfo(np.float64).max


def checked_outputs(F: ArrayLike, code: Code) -> FloatArray:
    """Outputs as an array; raises unless it has one column for each column of the code, and no NaN.

    An infinite output has a sign and is clipped to the largest floating-point number.
    """
    F = np.asarray(F, dtype=np.float64)
    if F.ndim != 2 or F.shape[1] != code.n_columns:
        raise ValueError(f"F must have {code.n_columns} columns, as the code has; got shape {F.shape}.")
    if np.isfinite(F).all():
        return F
    if np.isnan(F).any():
        row, column = np.argwhere(np.isnan(F))[0]
        raise ValueError(
            f"F contains NaN, first in row {row}, column {column}; outputs must be numbers. Leave "
            "out these rows, or check the classifier of that column."
        )
    return np.clip(F, -MAX_FLOAT, MAX_FLOAT)


def code_product(F: FloatArray, matrix: NDArray[Any]) -> FloatArray:
    """``F @ matrix.T``, each row summed in a fixed order that does not depend on other rows."""
    return np.ascontiguousarray((csr_array(matrix.astype(np.float64)) @ F.T).T)


class Sums(NamedTuple):
    """``F @ matrix.T``, its rounding error, and ``sign(F) @ matrix.T``, each (n, n_classes)."""

    high: FloatArray
    low: FloatArray
    votes: FloatArray


def margin_sums(F: FloatArray, code: Code) -> Sums:
    """Sums in doubled precision, so that ties do not depend on the order of the columns.

    The rounding errors order sums that are equal in double precision. Rows with outputs above 2^1000 are
    scaled by a power of two first, so that sums never overflow.
    """
    if isinstance(code, PairCode):
        return Sums(*_native.pair_sums(F, code.n_classes))
    return Sums(*_native.code_sums(F, code.matrix))


def with_margins(votes: FloatArray, sums: Sums) -> FloatArray:
    """Votes, plus less than a quarter vote that orders equal votes by their sums."""
    return ordered_by_margins(votes + sums.high / (5 * (1 + np.abs(sums.high))), votes, sums)


def ordered_by_margins(scores: FloatArray, first: FloatArray, sums: Sums) -> FloatArray:
    """The scores, raised where needed until each row is ordered by (first, sums), equal only with both."""
    wrong = np.flatnonzero(~_native.are_ordered(scores, first, sums.high))
    if wrong.size:
        keys = (first[wrong], sums.high[wrong], sums.low[wrong])
        scores[wrong] = _raised(scores[wrong], *keys)
    return scores


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

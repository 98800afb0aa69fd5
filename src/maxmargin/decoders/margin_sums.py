"""Sums of margins over a code's columns, and scores whose ties they decide."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import _native
from ..codes import Code

__all__ = ["Sums", "checked_outputs", "code_product", "margin_sums", "ordered_by_margins", "with_margins"]

FloatArray = NDArray[np.float64]
LARGEST = np.finfo(np.float64).max


def checked_outputs(F: ArrayLike, code: Code) -> FloatArray:
    """Outputs as an array with a column for each of the code's; refused in any other shape, or with NaN.

    An infinite output has a side, and is taken for the largest number there is.
    """
    F = np.asarray(F, dtype=np.float64)
    if F.ndim != 2 or F.shape[1] != code.n_columns:
        raise ValueError(f"F has {code.n_columns} columns, as its code has; got shape {F.shape}.")
    if np.isfinite(F).all():
        return F
    if np.isnan(F).any():
        row, column = np.argwhere(np.isnan(F))[0]
        raise ValueError(
            f"F contains NaN, first in row {row}, column {column}; outputs of columns are numbers. Leave "
            "such rows out, or see why the column's classifier gives it."
        )
    return np.clip(F, -LARGEST, LARGEST)


def code_product(F: FloatArray, matrix: NDArray[Any]) -> FloatArray:
    """``F @ matrix.T``, each row summed in one fixed order, whatever the other rows."""
    return np.ascontiguousarray((csr_array(matrix.astype(np.float64)) @ F.T).T)


class Sums(NamedTuple):
    """``F @ matrix.T``, what rounding it has left out, and ``sign(F) @ matrix.T``, each (n, n_classes)."""

    high: FloatArray
    low: FloatArray
    votes: FloatArray


def margin_sums(F: FloatArray, code: Code) -> Sums:
    """Sums in doubled precision, so that ties do not depend on the order of the columns.

    The order of two sums may be decided by what rounding has left out. Rows above 2^1000 are scaled by a
    power of two first: a sum never overflows.
    """
    return Sums(*_native.code_sums(F, code.matrix))


def with_margins(votes: FloatArray, sums: Sums) -> FloatArray:
    """Votes, plus less than a quarter of one that orders equal votes by their sums."""
    return ordered_by_margins(votes + sums.high / (5 * (1 + np.abs(sums.high))), votes, sums)


def ordered_by_margins(scores: FloatArray, first: FloatArray, sums: Sums) -> FloatArray:
    """The scores, raised where needed until each row is ordered by (first, sums), equal only with both."""
    wrong = np.flatnonzero(~_ordered(scores, first, sums))
    if wrong.size:
        keys = (first[wrong], sums.high[wrong], sums.low[wrong])
        scores[wrong] = _raised(scores[wrong], *keys)
    return scores


def _ordered(scores: FloatArray, first: FloatArray, sums: Sums) -> NDArray[np.bool_]:
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

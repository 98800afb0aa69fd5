"""How far the rows of code matrices are apart; all functions take matrices (..., n_classes, n_columns)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["minimum_distance", "row_distances", "row_margins"]

FloatArray = NDArray[np.float64]


def row_distances(matrix: NDArray[Any]) -> FloatArray:
    """``d(y, y') = sum_t (1 - c_yt c_y't) / 2`` for all pairs of rows, (..., n_classes, n_classes)."""
    M = matrix.astype(np.float64)
    return (M.shape[-1] - M @ M.swapaxes(-1, -2)) / 2


def minimum_distance(matrix: NDArray[Any]) -> FloatArray:
    """Rho: the least ``d(y, y')`` over different rows."""
    return _least(row_distances(matrix)).min(axis=-1)


def row_margins(matrix: NDArray[Any]) -> FloatArray:
    """``r_y = min over y' of #{t: c_yt c_y't = -1} + (Z_y' - Z_y) / 2``, with ``Z_y`` the zeros of row y."""
    M = matrix.astype(np.float64)
    size = np.abs(M)
    opposed = (size @ size.swapaxes(-1, -2) - M @ M.swapaxes(-1, -2)) / 2
    n_zeros = (M == 0).sum(axis=-1)
    return _least(opposed + (n_zeros[..., None, :] - n_zeros[..., :, None]) / 2)


def _least(pairs: FloatArray) -> FloatArray:
    """The least value of each row off the diagonal."""
    return np.where(np.eye(pairs.shape[-1], dtype=bool), np.inf, pairs).min(axis=-1)

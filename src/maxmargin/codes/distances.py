"""Distances between the rows of code matrices (..., n_classes, n_columns), and training errors they bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["TrainingErrorBound", "minimum_distance", "row_distances", "row_margins", "training_error_bound"]

FloatArray = NDArray[np.float64]

MAX_PAIRS_IN_MEMORY = 1 << 22  # of rows, for each matrix


def row_distances(matrix: NDArray[Any]) -> FloatArray:
    """``d(y, y') = sum_t (1 - c_yt c_y't) / 2`` for all pairs of rows, (..., n_classes, n_classes)."""
    M = matrix.astype(np.float64)
    return (M.shape[-1] - M @ M.swapaxes(-1, -2)) / 2


def minimum_distance(matrix: NDArray[Any]) -> FloatArray:
    """Rho: the smallest ``d(y, y')`` over different rows."""
    M = matrix.astype(np.float64)
    n_columns = M.shape[-1]
    return _smallest(M, lambda rows: (n_columns - M[..., rows, :] @ M.swapaxes(-1, -2)) / 2).min(axis=-1)


def row_margins(matrix: NDArray[Any]) -> FloatArray:
    """``r_y = min over y' of #{t: c_yt c_y't = -1} + (Z_y' - Z_y) / 2``, with ``Z_y`` the zeros of row y."""
    M = matrix.astype(np.float64)
    size = np.abs(M)
    n_zeros = (M == 0).sum(axis=-1)

    def margins(rows: slice) -> FloatArray:
        opposed = size[..., rows, :] @ size.swapaxes(-1, -2) - M[..., rows, :] @ M.swapaxes(-1, -2)
        return opposed / 2 + (n_zeros[..., None, :] - n_zeros[..., rows, None]) / 2

    return _smallest(M, margins)


def _smallest(M: FloatArray, pairs: Callable[[slice], FloatArray]) -> FloatArray:
    """Of each row the smallest value of its pairs with other rows; ``pairs`` gives those of some rows."""
    n_rows = M.shape[-2]
    step = max(1, MAX_PAIRS_IN_MEMORY // n_rows)
    found = []
    for start in range(0, n_rows, step):
        values = pairs(slice(start, start + step))
        itself = np.eye(values.shape[-2], n_rows, start, dtype=bool)
        found.append(np.where(itself, np.inf, values).min(axis=-1))
    return np.concatenate(found, axis=-1)


class TrainingErrorBound(NamedTuple):
    """Bounds on the training error of Hamming decoding; a bound above 1 is vacuous.

    ``printed`` is ``(2 / rho) sum_t e_t``, with ``e_t`` the fraction of wrong outputs of column t, where a
    sample whose class has a 0 there counts one half (``column_errors``).

    ``refined`` is ``mean_i min(1, e_i / ceil(r_{y_i} / 2))``, with ``e_i`` the number of wrong outputs of
    sample i at non-zero entries of its row; a sample whose class has ``r_y <= 0`` counts 1.
    """

    printed: float
    refined: float
    column_errors: FloatArray


def training_error_bound(
    matrix: NDArray[np.int8], F: FloatArray, labels: NDArray[Any], weight: FloatArray
) -> TrainingErrorBound:
    """Both bounds; an output of 0 at a non-zero entry is wrong."""
    targets = matrix[labels]
    wrong = (targets != 0) & (np.sign(F) != targets)
    column_errors = weight @ (wrong + 0.5 * (targets == 0)) / weight.sum()
    r = row_margins(matrix)[labels]
    n_wrong = wrong.sum(axis=1)
    share = np.where(r > 0, np.minimum(1.0, n_wrong / np.maximum(np.ceil(r / 2), 1.0)), 1.0)
    printed = 2 / float(minimum_distance(matrix)) * float(column_errors.sum())
    return TrainingErrorBound(printed, float(weight @ share / weight.sum()), column_errors)

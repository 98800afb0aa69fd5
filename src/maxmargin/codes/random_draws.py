"""Random codes: the best of many draws by minimum distance, among those that perfect columns can decode."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._native import one_blas_thread
from .columns import column_pool, usable
from .distances import minimum_distance, row_margins

__all__ = ["random_matrix"]

Matrix = NDArray[np.int8]
Draw = Callable[[int], Matrix]

MAX_DRAWS = 10_000
MAX_PRODUCTS = 400_000_000  # of entries, for one code: well under a second
MAX_CLASSES_BY_COLUMN = 16  # codes with zeros for more classes are drawn row by row


def random_matrix(n_classes: int, n_columns: int, zeros: bool, rng: np.random.Generator) -> Matrix:
    """A code matrix with ``row_margins > 0`` and the largest minimum distance among many draws.

    With zeros and more than 16 classes, the numbers of zeros per row differ by at most one. Unequal numbers
    cause ``r_y <= 0``, and with many classes some pair of independent rows would have them.
    """
    if zeros and n_classes > MAX_CLASSES_BY_COLUMN:
        draw = _rows_with_equal_zeros(n_classes, n_columns, rng)
    else:
        draw = _from_a_pool(n_classes, n_columns, zeros, rng)
    work = n_columns * n_classes**2
    n_draws = int(np.clip(MAX_PRODUCTS // work, 50, MAX_DRAWS))
    batch = int(np.clip(2_000_000 // work, 1, 500))
    best, best_score = None, -np.inf
    with one_blas_thread():
        for _ in range(0, n_draws, batch):
            matrices = draw(batch)
            score = _scores(matrices)
            k = int(np.argmax(score))
            if score[k] > best_score:
                best, best_score = matrices[k], score[k]
    if best is None:
        raise ValueError(
            f"No random code of {n_columns} columns for {n_classes} classes lets perfect columns separate "
            f"all classes (none of {n_draws} draws does); use more columns, or Code.designed."
        )
    return best


def _scores(matrices: Matrix) -> NDArray[np.float64]:
    """Minimum distances, which are multiples of 1/2; the smallest margin breaks ties."""
    margin = row_margins(matrices).min(axis=-1)
    return np.where(margin > 0, minimum_distance(matrices) + margin / (4 * matrices.shape[-1]), -np.inf)


def _from_a_pool(n_classes: int, n_columns: int, zeros: bool, rng: np.random.Generator) -> Draw:
    """Distinct columns of a pool, drawn one after another without replacement."""
    pool, probability = column_pool(n_classes, n_columns, zeros, rng)

    def draw(n_draws: int) -> Matrix:
        # The n_columns first arrivals of independent processes are such a draw.
        arrival = rng.standard_exponential((n_draws, len(pool))) / probability
        chosen = np.sort(np.argpartition(arrival, n_columns - 1, axis=1)[:, :n_columns], axis=1)
        return pool[chosen].swapaxes(1, 2)

    return draw


def _rows_with_equal_zeros(n_classes: int, n_columns: int, rng: np.random.Generator) -> Draw:
    """Rows with half of their entries zero, at random positions; draws with unusable columns are dropped."""

    def draw(n_draws: int) -> Matrix:
        shape = (n_draws, n_classes, n_columns)
        kept = np.broadcast_to(np.arange(n_columns, dtype=np.int8) % 2, shape)
        matrices = rng.permuted(kept, axis=-1) * (1 - 2 * rng.integers(0, 2, shape, dtype=np.int8))
        good = usable(matrices.swapaxes(1, 2)).all(axis=-1)
        good &= np.array([_all_different(matrix) for matrix in matrices])
        matrices[~good] = 0  # equal rows are never chosen
        return matrices

    return draw


def _all_different(matrix: Matrix) -> bool:
    """Whether no column is another or its complement."""
    columns = np.ascontiguousarray(matrix.T)
    seen = {column.tobytes() for column in np.concatenate([columns, -columns])}
    return len(seen) == 2 * len(columns)

"""Small columns over one stored kernel matrix, each for several costs, in one native call.

They are certified to the tolerance of the fit, like those of ``path.py``, but not solved exactly: a grid
search has no use for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ... import _native
from ...solving import Stop
from .pairs import SOLVED, column_rules
from .small_sets import GAP_BEFORE_POLISH
from .working_set import MAX_SMALL_SAMPLES, PAIR_LIMITS

__all__ = [
    "STORED_TARGET_PER_TOL",
    "StoredColumn",
    "StoredPaths",
    "fit_in_memory",
    "is_storable",
    "solve_stored",
]

STORED_TARGET_PER_TOL = 0.5  # of the gap to which a column is optimised
MAX_CONCURRENT_COLUMNS = 4  # whose kernel rows count as memory, whatever the number of threads
MAX_STEPS = 64  # of a column at one cost, before it is left to the general method


@dataclass(frozen=True)
class StoredColumn:
    """The rows of a matrix that a column has, with their targets and costs."""

    rows: np.ndarray
    y: np.ndarray
    cost: np.ndarray


@dataclass(frozen=True)
class StoredPaths:
    """For each column and cost: coefficients (n_rows, n_costs), intercept, gap, support vectors, seconds.

    There are results where ``solved`` is true: for the first costs of a column, up to one that is not solved.
    """

    coef: list[np.ndarray]
    intercept: np.ndarray
    gap: np.ndarray
    n_support: np.ndarray
    seconds: np.ndarray
    solved: np.ndarray

    def part(self, columns: slice) -> StoredPaths:
        """The results of some columns, for the first costs, for which all of them are solved."""
        n = int(self.solved[columns].all(axis=0).sum())
        arrays = (self.intercept, self.gap, self.n_support, self.seconds, self.solved)
        return StoredPaths([coef[:, :n] for coef in self.coef[columns]], *(a[columns, :n] for a in arrays))


def is_storable(K: np.ndarray, positive: bool, tol: float) -> bool:
    """Whether columns over the matrix of a kernel may be solved in this way.

    Rounds alone must reach the tolerance, in double, for a kernel that is known to be positive.
    """
    return positive and K.dtype == np.float64 and tol > GAP_BEFORE_POLISH


def fit_in_memory(columns: Sequence[StoredColumn], n_costs: int, n_bytes: int) -> bool:
    """Whether there are columns, all small, and so many bytes hold their kernel rows and results."""
    sizes = [len(column.rows) for column in columns] or [0]
    if not 2 <= min(sizes) <= max(sizes) <= MAX_SMALL_SAMPLES:
        return False
    return 16 * (MAX_CONCURRENT_COLUMNS * max(sizes) ** 2 + n_costs * sum(sizes)) <= n_bytes


def solve_stored(
    K: np.ndarray,
    columns: Sequence[StoredColumn],
    factors: np.ndarray,
    squared: bool,
    stop: Stop,
    n_threads: int,
) -> StoredPaths:
    """Solve each column with its costs multiplied by each factor in turn."""
    sizes, shape = [len(column.rows) for column in columns], (len(columns), len(factors))
    coef = np.zeros((sum(sizes), len(factors)))
    intercept, gap, seconds = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    n_support, end = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.uint8)
    _native.svm_paths(
        K,
        np.concatenate([column.rows for column in columns]).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([column.y for column in columns]).astype(np.float64),
        np.concatenate([column.cost for column in columns]),
        np.ascontiguousarray(factors, dtype=np.float64),
        squared,
        rules=column_rules(PAIR_LIMITS, stop)
        | {"target": STORED_TARGET_PER_TOL * stop.tol, "max_polished": 0, "max_steps": MAX_STEPS},
        coef=coef,
        intercept=intercept,
        gap=gap,
        n_support=n_support,
        seconds=seconds,
        end=end,
        n_threads=min(n_threads, MAX_CONCURRENT_COLUMNS),
        cancel=stop.cancel,
    )
    parts = np.split(coef, np.cumsum(sizes)[:-1])
    return StoredPaths(parts, intercept, gap, n_support, seconds, end == SOLVED)

"""Statistics of columns that arrive in blocks; how the rows are cut into blocks changes no bit of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..io.readers import Words
from .given import GivenTable

CHUNK = 4096  # rows summed at once; the next rows wait until there are as many
MOST_WORDS = 100_000  # different words that a column's counts hold; later ones are counted together


@dataclass(frozen=True)
class Moments:
    """Of the values present in each column; ``squares`` are summed squared deviations from the mean.

    ``at_low`` and ``at_high`` count the values that equal the least and the largest.
    """

    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    at_low: np.ndarray
    at_high: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Moments:
        """Of a whole chunk, NaN where a value is missing."""
        if not len(values):
            none = np.zeros(values.shape[1])
            n = none.astype(np.int64)
            return cls(n, none, none, none + np.inf, none - np.inf, n, n)
        if not np.isnan(values.sum()):
            return cls._of_whole(values)
        present = ~np.isnan(values)
        count = present.sum(axis=0)
        some = np.maximum(count, 1)
        mean = np.where(present, values, 0.0).sum(axis=0) / some
        with np.errstate(over="ignore"):  # the caller refuses what is not finite
            squares = np.square(np.where(present, values - mean, 0.0)).sum(axis=0)
        low = np.where(present, values, np.inf).min(axis=0)
        high = np.where(present, values, -np.inf).max(axis=0)
        return cls(count, mean, squares, low, high, *_at_ends(values, low, high))

    @classmethod
    def _of_whole(cls, values: np.ndarray) -> Moments:
        """The same, where no value is missing."""
        mean = values.sum(axis=0) / len(values)
        with np.errstate(over="ignore"):
            squares = np.square(values - mean).sum(axis=0)
        count = np.full(values.shape[1], len(values))
        low, high = values.min(axis=0), values.max(axis=0)
        return cls(count, mean, squares, low, high, *_at_ends(values, low, high))

    def joined(self, later: Moments) -> Moments:
        """Of both together (Chan, Golub and LeVeque 1979)."""
        count = self.count + later.count
        share = later.count / np.maximum(count, 1)
        step = later.mean - self.mean
        return Moments(
            count,
            self.mean + step * share,
            self.squares + later.squares + np.square(step) * (self.count * share),
            np.minimum(self.low, later.low),
            np.maximum(self.high, later.high),
            self.at_low * (self.low <= later.low) + later.at_low * (later.low <= self.low),
            self.at_high * (self.high >= later.high) + later.at_high * (later.high >= self.high),
        )


def _at_ends(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (values == low).sum(axis=0), (values == high).sum(axis=0)


class RunningMoments:
    """Moments of a stream of rows, chunk by chunk, and the rows that wait for their chunk to be full."""

    def __init__(self, n_columns: int) -> None:
        self.moments = Moments.of(np.empty((0, n_columns)))
        self.waiting = np.empty((0, n_columns))

    def add(self, values: np.ndarray) -> None:
        """More rows."""
        rows = np.concatenate([self.waiting, values]) if len(self.waiting) else values
        whole = len(rows) - len(rows) % CHUNK
        for start in range(0, whole, CHUNK):
            self.moments = self.moments.joined(Moments.of(rows[start : start + CHUNK]))
        self.waiting = rows[whole:].copy()

    def so_far(self) -> Moments:
        """Of all rows, those that wait included."""
        return self.moments.joined(Moments.of(self.waiting)) if len(self.waiting) else self.moments


class RunningExtent:
    """The largest absolute value in each column of a CSR matrix; later blocks may have more columns."""

    def __init__(self) -> None:
        self.largest = np.zeros(0)
        self.n_stored = 0

    def add(self, X: Any) -> None:
        """More rows."""
        if X.shape[1] > len(self.largest):
            self.largest = np.concatenate([self.largest, np.zeros(X.shape[1] - len(self.largest))])
        self.n_stored += X.nnz
        np.maximum.at(self.largest, X.indices, np.abs(X.data))


class RunningWords:
    """How often each word of a column occurs, in the order in which the words are met."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.n_missing = 0
        self.n_uncounted = 0

    def add(self, words: Words) -> None:
        """More rows."""
        codes, first, n = np.unique(words.codes, return_index=True, return_counts=True)
        for k in np.argsort(first):  # as they are met, so that the limit does not depend on the blocks
            value, count = words.values[codes[k]] if codes[k] >= 0 else None, int(n[k])
            if value is None:
                self.n_missing += count
            elif value in self.counts or len(self.counts) < MOST_WORDS:
                self.counts[value] = self.counts.get(value, 0) + count
            else:
                self.n_uncounted += count

    @property
    def n_rows(self) -> int:
        """Rows counted, those with a missing value included."""
        return sum(self.counts.values()) + self.n_missing + self.n_uncounted


class RunningTable:
    """The statistics of a table's columns, each of its kind, or of a CSR matrix."""

    def __init__(self, table: GivenTable) -> None:
        kinds = table.kinds() if not table.is_sparse else []
        self.numbers = np.array([j for j, kind in enumerate(kinds) if kind == "number"], dtype=np.int64)
        self.moments = RunningMoments(len(self.numbers))
        self.words = {j: RunningWords() for j, kind in enumerate(kinds) if kind == "words"}
        self.extent = RunningExtent()

    def add(self, table: GivenTable) -> None:
        """More rows, with columns of the same kinds in the same order."""
        if table.is_sparse:
            self.extent.add(table.matrix)
            return
        for start in range(0, table.n_rows, 16 * CHUNK):
            stop = min(start + 16 * CHUNK, table.n_rows)
            values = table.numbers(self.numbers, start, stop)
            if np.isinf(values.sum()) and np.isinf(values).any():
                row, j = np.argwhere(np.isinf(values))[0]
                name = table.names[self.numbers[j]] if table.names else f"x{self.numbers[j]}"
                raise ValueError(f"column {name!r} has an infinite number in row {start + row} of X.")
            self.moments.add(values)
        for j, running in self.words.items():
            running.add(table.columns[j])  # type: ignore[index, arg-type]

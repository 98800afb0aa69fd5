"""Statistics of columns that arrive in blocks; how the rows are cut into blocks changes no bit of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..io.readers import Words
from .given import GivenTable

ROWS_PER_SUM = 4096  # rows are summed in chunks of so many; the last ones wait until their chunk is full
MAX_COUNTED_CATEGORIES = 100_000  # per column; categories beyond the limit are counted together


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
        mean = _sums(np.where(present, values, 0.0)) / some
        with np.errstate(over="ignore"):  # the caller refuses what is not finite
            squares = _sums(np.square(np.where(present, values - mean, 0.0)))
        low = np.where(present, values, np.inf).min(axis=0)
        high = np.where(present, values, -np.inf).max(axis=0)
        return cls(count, mean, squares, low, high, *_at_ends(values, low, high))

    @classmethod
    def _of_whole(cls, values: np.ndarray) -> Moments:
        """The same, where no value is missing."""
        mean = _sums(values) / len(values)
        with np.errstate(over="ignore"):
            squares = _sums(np.square(values - mean))
        count = np.full(values.shape[1], len(values))
        low, high = values.min(axis=0), values.max(axis=0)
        return cls(count, mean, squares, low, high, *_at_ends(values, low, high))

    def joined(self, later: Moments) -> Moments:
        """Of both together (Chan, Golub and LeVeque 1979)."""
        count = self.count + later.count
        share = later.count / np.maximum(count, 1)
        with np.errstate(over="ignore", invalid="ignore"):  # the caller refuses what is not finite
            step = later.mean - self.mean
            mean = self.mean + step * share
            squares = self.squares + later.squares + np.square(step) * (self.count * share)
        return Moments(
            count,
            mean,
            squares,
            np.minimum(self.low, later.low),
            np.maximum(self.high, later.high),
            self.at_low * (self.low <= later.low) + later.at_low * (later.low <= self.low),
            self.at_high * (self.high >= later.high) + later.at_high * (later.high >= self.high),
        )


def _sums(values: np.ndarray) -> np.ndarray:
    """Of each column; the bits do not depend on the number of columns beside it."""
    return np.cumsum(values, axis=0)[-1] if values.shape[1] == 1 else values.sum(axis=0)


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
        whole = len(rows) - len(rows) % ROWS_PER_SUM
        for start in range(0, whole, ROWS_PER_SUM):
            self.moments = self.moments.joined(Moments.of(rows[start : start + ROWS_PER_SUM]))
        self.waiting = rows[whole:].copy(order="K")  # sums depend on the layout, which must not change

    def insert(self, places: np.ndarray) -> None:
        """New columns before these places, without any value in the rows so far."""
        none = Moments.of(np.empty((0, 1)))
        self.moments = Moments(
            *(
                np.insert(getattr(self.moments, f.name), places, getattr(none, f.name)[0])
                for f in fields(Moments)
            )
        )
        self.waiting = np.insert(self.waiting, places, np.nan, axis=1)

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

    def __init__(self, n_missing: int = 0) -> None:
        self.counts: dict[str, int] = {}
        self.n_missing = n_missing
        self.n_uncounted = 0

    def add(self, words: Words) -> None:
        """More rows."""
        codes, first, n = np.unique(words.codes, return_index=True, return_counts=True)
        for k in np.argsort(first):  # as they are met, so that the limit does not depend on the blocks
            value, count = words.values[codes[k]] if codes[k] >= 0 else None, int(n[k])
            if value is None:
                self.n_missing += count
            elif value in self.counts or len(self.counts) < MAX_COUNTED_CATEGORIES:
                self.counts[value] = self.counts.get(value, 0) + count
            else:
                self.n_uncounted += count

    @property
    def n_rows(self) -> int:
        """Rows counted, those with a missing value included."""
        return sum(self.counts.values()) + self.n_missing + self.n_uncounted


class RunningTable:
    """The statistics of a table's columns, each of its kind, or of a CSR matrix.

    The kind of a column, numbers or categories, is open until its first value is seen.
    """

    def __init__(self, table: GivenTable) -> None:
        self.first_kinds = table.kinds() if not table.is_sparse else []
        self.n_rows = 0
        has_names = table.columns is not None
        self.open = set(range(len(self.first_kinds))) if has_names else set()
        self.numbers = np.arange(0 if has_names else len(self.first_kinds))
        self.moments = RunningMoments(len(self.numbers))
        self.words: dict[int, RunningWords] = {}
        self.extent = RunningExtent()

    def add(self, table: GivenTable) -> None:
        """More rows, with the same columns in the same order, of the same kinds unless open."""
        if table.is_sparse:
            self.extent.add(table.matrix)
            return
        self._decide_kinds(table)
        for start in range(0, table.n_rows, 16 * ROWS_PER_SUM):
            stop = min(start + 16 * ROWS_PER_SUM, table.n_rows)
            values = table.numbers(self.numbers, start, stop)
            if np.isinf(values.sum()) and np.isinf(values).any():
                row, j = np.argwhere(np.isinf(values))[0]
                name = table.names[self.numbers[j]] if table.names else f"x{self.numbers[j]}"
                raise ValueError(f"column {name!r} has an infinite number in row {start + row} of X.")
            self.moments.add(values)
        for j, running in self.words.items():
            running.add(table.columns[j])  # type: ignore[index, arg-type]
        self.n_rows += table.n_rows

    def _decide_kinds(self, table: GivenTable) -> None:
        """Columns get their kind with their first value; in all rows before, their values are missing."""
        kinds = table.kinds()
        decided = [j for j in sorted(self.open) if table.has_value(j)]
        if not decided:
            return
        self.open.difference_update(decided)
        words = {j: RunningWords(n_missing=self.n_rows) for j in decided if kinds[j] == "words"}
        self.words = dict(sorted((self.words | words).items()))
        numbers = np.array([j for j in decided if j not in words], dtype=self.numbers.dtype)
        places = np.searchsorted(self.numbers, numbers)
        self.numbers = np.insert(self.numbers, places, numbers)
        self.moments.insert(places)

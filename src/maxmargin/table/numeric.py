"""Numeric columns: moments of values that arrive in blocks, and the plan that standardises them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

ROWS_PER_SUM = 4096  # rows are summed in chunks of so many; the last ones wait until their chunk is full
CONSTANT = "constant"
ALL_MISSING = "no value"


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


@dataclass(frozen=True)
class NumberPlan:
    """``(x - mean) / scale``, and 0 where x is missing; then 1 where it is missing, if ``indicator``.

    Attributes
    ----------
    mean : float
    scale : float
        The standard deviation.
    kept : bool
        Whether the column is used: constant ones are not.
    indicator : bool
        Whether a column of 0 and 1 marks missing values.

    Examples
    --------
    >>> from maxmargin.table import NumberPlan
    >>> NumberPlan(mean=5.0, scale=2.0, kept=True, indicator=False).scale
    2.0
    """

    mean: float
    scale: float
    kept: bool  # False where the values present are all equal: nothing but the indicator is left
    indicator: bool

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return int(self.kept) + int(self.indicator)

    @property
    def n_stored(self) -> float:
        """Entries of a row that are not zero."""
        return float(self.kept)

    def names(self, name: str) -> list[str]:
        """Of those columns."""
        return [name] * self.kept + [f"{name} is missing"] * self.indicator


def plan_numbers(moments: Moments, n_rows: int) -> list[tuple[NumberPlan, str | None]]:
    """The plans of all columns of numbers, each with the reason if it is dropped.

    The squared scale is the mean squared deviation over the share of values apart from that end of the range
    which has the most. Where a single value is there, it is the sample's variance; a column of zeros and ones
    keeps nearly its range, as those of words do, and pixels that are rarely on are not blown up.
    """
    count, kept = moments.count, moments.low < moments.high
    n_apart = np.where(kept, count - np.maximum(moments.at_low, moments.at_high), 1)
    with np.errstate(invalid="ignore"):
        scale = np.where(kept, np.sqrt(moments.squares / n_apart), 1.0)
    scale[scale == 0.0] = 1.0
    has_gaps = count < n_rows
    dropped = np.where(count == 0, ALL_MISSING, np.where(kept | has_gaps, "", CONSTANT))
    return [
        (NumberPlan(m, s, k, i), why or None)
        if why != ALL_MISSING  # a matrix; in a table its kind is open
        else (NumberPlan(0.0, 1.0, False, False), why)
        for m, s, k, i, why in zip(
            moments.mean.tolist(), scale.tolist(), kept.tolist(), has_gaps.tolist(), dropped.tolist()
        )
    ]

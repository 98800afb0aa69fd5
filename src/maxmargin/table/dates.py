"""Columns of dates: their statistics, and the plan by which they become numbers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from ..io.readers import Words
from .numeric import NumberPlan, RunningMoments, plan_numbers
from .written_dates import EPOCH, MAX_FAR_DATES, PARTS, are_seasons, date_values, is_far, iso_date

DAYS = PARTS.index("days")


class RunningDates:
    """The parts of the dates of a column, in each order of day and month that all of its values allow.

    A few values beyond the last year, such as 9999-12-31, stand for a missing date.
    """

    def __init__(self) -> None:
        self.moments: dict[bool, RunningMoments] = {
            False: RunningMoments(len(PARTS)),
            True: RunningMoments(len(PARTS)),
        }
        self.differ = False  # whether the two orders are different dates in any row so far
        self.seasons = True  # whether all values so far are such as 2001-02
        self.far: set[str] = set()
        self.n_far = 0  # rows
        self.n_dates = 0

    def add(self, words: Words, used: np.ndarray) -> None:
        """More rows; ``used`` are the codes that occur."""
        if not self.moments or not len(used):
            return
        texts = [words.values[k] for k in used.tolist()]
        if len(texts) > 1 and not any(self._read(texts[:1], order)[1] for order in self.moments):
            self.moments.clear()  # the first value is enough for most columns of words
            return
        read = {order: self._read(texts, order) for order in self.moments}
        self.moments = {order: moments for order, moments in self.moments.items() if read[order][1]}
        if not self.moments:
            return
        parts = {order: read[order][0] for order in self.moments}
        beyond = np.isnan(next(iter(parts.values()))[:, DAYS])
        self.far.update(texts[k] for k in np.flatnonzero(beyond).tolist())
        if len(self.far) > MAX_FAR_DATES:
            self.moments.clear()
            return
        self.seasons = self.seasons and are_seasons(texts)
        rows = np.searchsorted(used, words.codes[words.codes >= 0])
        self.n_far += int(beyond[rows].sum())
        self.n_dates += int((~beyond[rows]).sum())
        if len(self.moments) == 2 and not self.differ:
            if np.array_equal(parts[False], parts[True], equal_nan=True):
                self.moments[False].add(parts[False][rows])
                self.moments[True] = self.moments[False]
                return
            self.differ = True
            self.moments[True] = copy.deepcopy(self.moments[False])
        for order, moments in self.moments.items():
            moments.add(parts[order][rows])

    def _read(self, texts: list[str], day_first: bool) -> tuple[np.ndarray, bool]:
        """The parts of these dates, and whether all are dates or beyond the last year."""
        parts = date_values(texts, day_first)
        odd = np.flatnonzero(np.isnan(parts[:, DAYS])).tolist()
        return parts, all(is_far(texts[k], day_first) for k in odd)

    @property
    def day_first(self) -> bool | None:
        """The order of day and month; None where not all values are dates."""
        return None if not self.moments or self.seasons or not self.n_dates else False not in self.moments

    @property
    def is_ambiguous(self) -> bool:
        """Whether both orders are possible and differ."""
        return self.day_first is not None and len(self.moments) == 2 and self.differ


@dataclass(frozen=True)
class DatePlan:
    """Year, month, weekday, hour and days since a first day, each standardised; then 1 for a missing date.

    Attributes
    ----------
    parts : tuple of NumberPlan
        Of year, month, weekday (0 is Monday), hour, and days; constant ones are not kept.
    origin : int
        The first day of the training, in days since 1970-01-01, from which days are counted.
    day_first : bool
        Whether 01/02/2026 is read as the first of February.
    missing : bool
        Whether missing values have a column.

    Examples
    --------
    >>> from maxmargin.table import TablePreparation
    >>> table = TablePreparation().fit({"day": ["2026-01-30", "2026-02-02", "2026-02-03"]})
    >>> table.plans_[0].used("day")
    ['day: month', 'day: weekday', 'day: days since 2026-01-30']
    """

    parts: tuple[NumberPlan, ...]
    origin: int
    day_first: bool
    missing: bool

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return sum(part.width for part in self.parts) + int(self.missing)

    @property
    def n_stored(self) -> float:
        """Entries of a row that are not zero, about."""
        return float(self.width)

    def used(self, name: str) -> list[str]:
        """Names of the numbers that a date becomes."""
        first = date.fromordinal(EPOCH + self.origin).isoformat()
        called = [*PARTS[:DAYS], f"days since {first}"]
        return [f"{name}: {word}" for word, part in zip(called, self.parts) if part.kept]

    def names(self, name: str) -> list[str]:
        """Of the columns of the matrix."""
        return self.used(name) + [f"{name} is missing"] * self.missing

    def read(self, row: Sequence[float]) -> str | None:
        """The date of a row of the matrix, as :meth:`shown` writes it; None for a missing one."""
        if self.missing and row[-1] > 0.5:
            return None
        kept = iter(row)
        values = [part.mean + (float(next(kept)) * part.scale if part.kept else 0.0) for part in self.parts]
        values[DAYS] += self.origin
        return iso_date(values)

    def shown(self, texts: Sequence[str]) -> list[str]:
        """Dates in one form: 2026-02-01, or 2026-02-01 18:30; texts that are not dates as they are."""
        values = date_values(texts, self.day_first)
        return [
            text if np.isnan(parts[DAYS]) else iso_date(parts.tolist()) for text, parts in zip(texts, values)
        ]

    def table(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The rows of these dates and, last, of a missing one; and which texts are not dates.

        A text that is not a date is prepared as a missing one.
        """
        values = date_values(texts, self.day_first)
        odd = np.isnan(values[:, DAYS])
        values[:, DAYS] -= self.origin
        out = np.zeros((len(texts) + 1, self.width))
        kept = [j for j, part in enumerate(self.parts) if part.kept]
        for place, j in enumerate(kept):
            out[:-1, place] = np.where(odd, 0.0, (values[:, j] - self.parts[j].mean) / self.parts[j].scale)
        if self.missing:
            out[-1, -1] = 1.0
            out[:-1, -1] = odd
        return out, odd


def plan_dates(dates: RunningDates, n_missing: int) -> DatePlan:
    """The plan of a column all of whose values are dates."""
    moments = dates.moments[bool(dates.day_first)].so_far()
    origin = int(np.floor(moments.low[DAYS]))
    parts = [plan for plan, _ in plan_numbers(moments, int(moments.count[0]))]
    days = parts[DAYS]
    parts[DAYS] = NumberPlan(days.mean - origin, days.scale, days.kept, days.indicator)
    return DatePlan(tuple(parts), origin, bool(dates.day_first), n_missing + dates.n_far > 0)

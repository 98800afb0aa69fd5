"""Columns of two files made comparable: dates as days, categories as numbers by how frequent they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..io.readers import Words
from ..table import common_order, days_of

__all__ = ["Days", "comparable", "matrices"]

MIN_ROWS_OF_A_CATEGORY = 20  # of both files, from which on a category has a number of its own


@dataclass(frozen=True, eq=False)
class Days:
    """A column of dates: days since 1970-01-01, NaN where a value is missing or not a date."""

    days: np.ndarray

    @property
    def middle(self) -> str:
        """The median date."""
        known = self.days[~np.isnan(self.days)]
        return str(np.datetime64(int(np.floor(np.median(known))), "D")) if len(known) else "-"


def comparable(old: Any, new: Any) -> tuple[Any, Any]:
    """The two columns: as dates if all values of the old one are, otherwise as they are."""
    if not (isinstance(old, Words) and isinstance(new, Words)):
        return old, new
    order = common_order(_used(old), _used(new))
    return (old, new) if order is None else (_days(old, order), _days(new, order))


def _used(words: Words) -> list[str]:
    return [words.values[k] for k in np.unique(words.codes[words.codes >= 0]).tolist()]


def _days(words: Words, day_first: bool) -> Days:
    return Days(np.append(days_of(words.values, day_first), np.nan)[words.codes])


def matrices(pairs: Iterable[tuple[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Both tables as matrices, missing values as NaN.

    Rare categories have their frequency in both files together, so that equally frequent ones do not differ:
    values that occur once say nothing about which file they are from. Frequent ones have a number each.
    """
    parts: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for pair in pairs:
        of_words = any(isinstance(values, Words) for values in pair)
        for side, values in zip(parts, _frequencies(*pair) if of_words else pair):
            numbers = values.days if isinstance(values, Days) else values
            side.append(np.asarray(numbers, dtype=np.float64))
    return np.column_stack(parts[0]), np.column_stack(parts[1])


def _frequencies(*pair: Any) -> tuple[np.ndarray, ...]:
    words = [v if isinstance(v, Words) else Words(np.zeros(len(v), np.int32), ("a number",)) for v in pair]
    places = {word: k for k, word in enumerate(sorted({*words[0].values, *words[1].values}))}
    codes = [np.array([*(places[word] for word in each.values), -1])[each.codes] for each in words]
    every = np.concatenate(codes)
    number = np.bincount(every[every >= 0], minlength=len(places)).astype(float)
    frequent = np.flatnonzero(number >= MIN_ROWS_OF_A_CATEGORY)
    by_frequency = frequent[np.argsort(number[frequent], kind="stable")]  # of equals by name, not by file
    number[by_frequency] = MIN_ROWS_OF_A_CATEGORY + np.arange(len(frequent))
    return tuple(np.append(number, np.nan)[c] for c in codes)

"""The plan of a prepared table: which columns of the matrix each column of the table becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..io.readers import Kind
from .dates import DatePlan, plan_dates
from .numeric import ALL_MISSING, CONSTANT, NumberPlan, plan_numbers
from .statistics import RunningTable, RunningWords
from .texts import TextPlan, plan_texts

ALL_DIFFERENT = "every word different"
MAX_ROWS_WITHOUT_IDENTIFIERS = (
    20  # with no more rows than these, words that occur once are not taken for identifiers
)


@dataclass(frozen=True)
class WordsPlan:
    """1 in the column of the word; then a column for all other words, then one for no word.

    Attributes
    ----------
    categories : tuple of str
        Words with a column of their own.
    other : bool
        Whether rarer words share a column.
    missing : bool
        Whether missing values have a column.

    Examples
    --------
    >>> from maxmargin.table import WordsPlan
    >>> WordsPlan(("blue", "red"), other=True, missing=False).categories
    ('blue', 'red')
    """

    categories: tuple[str, ...]
    other: bool
    missing: bool
    place: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", {word: k for k, word in enumerate(self.categories)})

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return len(self.categories) + int(self.other) + int(self.missing)

    @property
    def n_stored(self) -> float:
        """Entries of a row that are not zero."""
        return float(self.width > 0)

    def names(self, name: str) -> list[str]:
        """Of those columns."""
        words = [f"{name}={word}" for word in self.categories]
        return words + [f"{name} is another word"] * self.other + [f"{name} is missing"] * self.missing

    def places(self, values: Sequence[str]) -> np.ndarray:
        """The column of each word, and last that of a missing one; -1 where there is none."""
        other = len(self.categories) if self.other else -1
        last = self.width - 1 if self.missing else -1
        return np.array([*(self.place.get(value, other) for value in values), last], dtype=np.int32)


Plan = NumberPlan | WordsPlan | DatePlan | TextPlan


@dataclass(frozen=True)
class PlanLimits:
    """How many columns of the matrix a column of words may become."""

    max_words: int  # categories
    max_text_words: int


def _plan_without_values(kind: Kind) -> Plan:
    return WordsPlan((), False, False) if kind == "words" else NumberPlan(0.0, 1.0, False, False)


def plan_words(words: RunningWords, n_rows: int, limits: PlanLimits) -> tuple[Plan, str | None]:
    """The plan of a column of words: dates, free text, or categories.

    Of categories the most frequent ones are kept, of equals the first by name.
    """
    nothing = WordsPlan((), False, False)
    counts = words.counts
    if len(counts) == 1 and not words.n_missing:
        return nothing, CONSTANT
    if words.are_dates:
        assert words.dates is not None
        dates = plan_dates(words.dates, words.n_missing)
        return dates, None if dates.width else CONSTANT
    if n_rows > MAX_ROWS_WITHOUT_IDENTIFIERS and words.are_texts:
        assert words.texts is not None
        return plan_texts(words.texts, words.n_missing, limits.max_text_words), None
    if n_rows > MAX_ROWS_WITHOUT_IDENTIFIERS and max(counts.values()) == 1:
        return nothing, ALL_DIFFERENT
    kept = sorted(counts, key=lambda word: (-counts[word], word))[: limits.max_words]
    other = len(kept) < len(counts) or words.n_uncounted > 0
    return WordsPlan(tuple(sorted(kept)), other, words.n_missing > 0), None


def plans_of(running: RunningTable, n_rows: int, limits: PlanLimits) -> list[tuple[Plan, str | None]]:
    """The plans of all columns of a table, in order, each with the reason if it is dropped."""
    moments = running.moments.so_far()
    plans: dict[int, tuple[Plan, str | None]] = dict(
        zip(running.numbers.tolist(), plan_numbers(moments, n_rows))
    )
    plans |= {j: plan_words(words, n_rows, limits) for j, words in running.words.items()}
    plans |= {j: (_plan_without_values(running.first_kinds[j]), ALL_MISSING) for j in running.open}
    return [plans[j] for j in range(len(plans))]

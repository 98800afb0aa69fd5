"""The plan of a prepared table: which columns of the matrix each column of the table becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..io.readers import Kind
from .statistics import Moments, RunningTable, RunningWords

CONSTANT = "constant"
ALL_MISSING = "no value"
ALL_DIFFERENT = "every word different"
MAX_ROWS_WITHOUT_IDENTIFIERS = (
    20  # with no more rows than these, words that occur once are not taken for identifiers
)


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

    def names(self, name: str) -> list[str]:
        """Of those columns."""
        return [name] * self.kept + [f"{name} is missing"] * self.indicator


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

    def names(self, name: str) -> list[str]:
        """Of those columns."""
        words = [f"{name}={word}" for word in self.categories]
        return words + [f"{name} is another word"] * self.other + [f"{name} is missing"] * self.missing

    def places(self, values: Sequence[str]) -> np.ndarray:
        """The column of each word, and last that of a missing one; -1 where there is none."""
        other = len(self.categories) if self.other else -1
        last = self.width - 1 if self.missing else -1
        return np.array([*(self.place.get(value, other) for value in values), last], dtype=np.int32)


Plan = NumberPlan | WordsPlan


def _plan_without_values(kind: Kind) -> Plan:
    return WordsPlan((), False, False) if kind == "words" else NumberPlan(0.0, 1.0, False, False)


def plan_numbers(moments: Moments, n_rows: int) -> list[tuple[Plan, str | None]]:
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


def plan_words(words: RunningWords, n_rows: int, limit: int) -> tuple[WordsPlan, str | None]:
    """The plan of a column of words: the most frequent ones, of equals the first by name."""
    nothing = WordsPlan((), False, False)
    counts = words.counts
    if len(counts) == 1 and not words.n_missing:
        return nothing, CONSTANT
    if n_rows > MAX_ROWS_WITHOUT_IDENTIFIERS and max(counts.values()) == 1:
        return nothing, ALL_DIFFERENT
    kept = sorted(counts, key=lambda word: (-counts[word], word))[:limit]
    other = len(kept) < len(counts) or words.n_uncounted > 0
    return WordsPlan(tuple(sorted(kept)), other, words.n_missing > 0), None


def plans_of(running: RunningTable, n_rows: int, limit: int) -> list[tuple[Plan, str | None]]:
    """The plans of all columns of a table, in order, each with the reason if it is dropped."""
    moments = running.moments.so_far()
    plans = dict(zip(running.numbers.tolist(), plan_numbers(moments, n_rows)))
    plans |= {j: plan_words(words, n_rows, limit) for j, words in running.words.items()}
    plans |= {j: (_plan_without_values(running.first_kinds[j]), ALL_MISSING) for j in running.open}
    return [plans[j] for j in range(len(plans))]


def plan_state(plan: Plan) -> dict[str, Any]:
    """A plan as plain values."""
    if isinstance(plan, NumberPlan):
        return {
            "kind": "number",
            "mean": plan.mean,
            "scale": plan.scale,
            "kept": plan.kept,
            "indicator": plan.indicator,
        }
    return {
        "kind": "words",
        "categories": list(plan.categories),
        "other": plan.other,
        "missing": plan.missing,
    }


def plan_from_state(state: dict[str, Any]) -> Plan:
    """What ``plan_state`` gave, with every value checked."""
    given = dict(state)
    kind = given.pop("kind", None)
    if kind == "number":
        plan = NumberPlan(**given)
        _check(isinstance(plan.mean, float) and np.isfinite(plan.mean), "mean", plan.mean)
        _check(isinstance(plan.scale, float) and 0.0 < plan.scale < np.inf, "scale", plan.scale)
        _check(
            type(plan.kept) is type(plan.indicator) is bool, "kept and indicator", (plan.kept, plan.indicator)
        )
        return plan
    _check(kind == "words", "kind", kind)
    words = given.pop("categories")
    _check(isinstance(words, list) and all(isinstance(w, str) for w in words), "categories", words)
    _check(len(set(words)) == len(words), "categories", words)
    _check(type(given["other"]) is type(given["missing"]) is bool, "other and missing", given)
    return WordsPlan(tuple(words), **given)


def _check(good: bool, name: str, value: Any) -> None:
    if not good:
        raise ValueError(f"the state of a prepared column has a bad {name}: {value!r}.")

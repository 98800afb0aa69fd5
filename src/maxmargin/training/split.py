"""Whole groups, or the latest rows, held out: which rows of a block they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import key_of
from ..io.readers import Block, Source, Words, chosen
from ..table import common_order, days_of

__all__ = ["Split", "split_of"]


@dataclass(frozen=True)
class Split:
    """What is held out, by the values of one column.

    Attributes
    ----------
    kind : {"group", "time"}
    column : str
        Not a feature.
    held_out : frozenset of str
        Groups that are held out.
    start : float
        Rows from this time on are held out.
    day_first : bool
        Whether a time such as 01/02/2026 is the first of February.
    text : str
        The same in words.
    """

    kind: str
    column: str
    held_out: frozenset[str] = frozenset()
    start: float = np.inf
    day_first: bool = False
    text: str = ""

    def of_block(self, labels: Any, codes: np.ndarray, block: Block) -> np.ndarray:
        """Which rows of a block are held out."""
        values = block.carried[self.column]
        if self.kind == "time":
            with np.errstate(invalid="ignore"):
                return np.asarray(_times(values, self.day_first) >= self.start)
        names, numbers = _groups(values)
        return np.isin(numbers, [k for k, name in enumerate(names) if name in self.held_out])

    def as_record(self) -> dict[str, Any]:
        """As JSON values, without the names of the groups."""
        return {"kind": self.kind, "column": self.column, "text": self.text}


def split_of(
    source: Source, group: str | None, time: str | None, share: float, seed: int
) -> tuple[Source, Split | None]:
    """The source without the column that decides, and what is held out; reads the file once.

    Parameters
    ----------
    source : Source
    group, time : str, optional
        The column: rows with the same value stay together, or the latest rows are held out.
    share : float
        Of the rows, approximately.
    seed : int
        Decides which groups.

    Returns
    -------
    source : Source
    split : Split or None
    """
    if group is None and time is None:
        return source, None
    if group is not None and time is not None:
        raise ValueError("rows are held out by group or by time; give one of the two.")
    column = str(group if time is None else time)
    if not 0.0 < share < 1.0:
        raise ValueError(f"validate is the share of rows that {column!r} decides on; it must be above 0.")
    source = chosen(source, beside=[column])
    if time is not None:
        return source, _latest(source, column, share)
    return source, _some_groups(source, column, share, seed)


def _some_groups(source: Source, column: str, share: float, seed: int) -> Split:
    counts: Counter[str] = Counter()
    for block in source.blocks():
        names, numbers = _groups(block.carried[column])
        counts.update(dict(zip(names, np.bincount(numbers, minlength=len(names)).tolist())))
    counts = Counter({name: n for name, n in counts.items() if n})
    if len(counts) < 2:
        raise ValueError(f"column {column!r} has one group; at least two are needed to hold one out.")
    n_rows, taken = sum(counts.values()), 0
    held_out: list[str] = []
    for name in sorted(counts, key=lambda name: key_of(f"{seed} group {name}")):
        if len(held_out) < len(counts) - 1 and (not held_out or taken + counts[name] / 2 <= share * n_rows):
            held_out.append(name)
            taken += counts[name]
    text = f"{len(held_out):,} of {len(counts):,} groups of {column!r} ({taken:,} of {n_rows:,} rows)"
    return Split("group", column, frozenset(held_out), text=text)


def _latest(source: Source, column: str, share: float) -> Split:
    columns = [block.carried[column] for block in source.blocks()]
    day_first = _order(columns, column)
    times = np.sort(np.concatenate([_times(values, day_first) for values in columns]))
    times = times[~np.isnan(times)]
    if not len(times) or times[0] == times[-1]:
        raise ValueError(f"column {column!r} has fewer than two different times, so no rows are the latest.")
    start = times[min(int(len(times) * (1.0 - share)), len(times) - 1)]
    if start == times[0]:
        start = times[times > times[0]][0]
    n_held = int((times >= start).sum())
    words = any(isinstance(values, Words) for values in columns)
    shown = str(np.datetime64(round(float(start)), "s")).replace("T00:00:00", "") if words else f"{start:g}"
    text = f"the latest rows by {column!r}, from {shown} on ({n_held:,} of {len(times):,} rows)"
    return Split("time", column, start=float(start), day_first=day_first, text=text)


def _groups(values: Any) -> tuple[list[str], np.ndarray]:
    """Names of groups, and the number of each row's; a missing value is a group."""
    if isinstance(values, Words):
        return [*values.values, "(missing)"], np.where(values.codes < 0, len(values.values), values.codes)
    distinct, numbers = np.unique(values, return_inverse=True)
    return [repr(float(value)) for value in distinct], numbers.reshape(-1)


def _order(columns: list[Any], column: str) -> bool:
    """Whether the day comes first in the dates of a column; False for numbers."""
    words = [values for values in columns if isinstance(values, Words)]
    texts = list(dict.fromkeys(each.values[k] for each in words for k in _used(each)))
    if not texts:
        return False
    if (day_first := common_order(texts)) is None:
        raise ValueError(
            f"column {column!r} holds neither numbers nor dates such as 2026-05-01, 2026-05-01T12:30 or "
            "31.12.2026, so its rows have no order in time."
        )
    return day_first


def _used(words: Words) -> list[int]:
    return [int(k) for k in np.unique(words.codes[words.codes >= 0])]


def _times(values: Any, day_first: bool) -> np.ndarray:
    """Numbers, or seconds since 1970 of dates; NaN where missing."""
    if not isinstance(values, Words):
        return np.asarray(values, dtype=np.float64)
    seconds = 86400.0 * days_of(values.values, day_first)
    return np.asarray(np.append(seconds, np.nan)[values.codes])

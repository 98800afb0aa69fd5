"""Statistics of columns that arrive in blocks; how the rows are cut into blocks changes no bit of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..io.readers import Words
from .dates import RunningDates
from .given import GivenTable
from .numeric import ROWS_PER_SUM, RunningMoments
from .texts import RunningTexts

MAX_COUNTED_CATEGORIES = 100_000  # per column; categories beyond the limit are counted together
MAX_COUNTED_CHARACTERS = 1 << 25  # of all of them


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
    """How often each word of a column occurs, in the order in which words are met; as dates, and as texts.

    Parameters
    ----------
    n_missing : int
        Rows before the first one, in which the value is missing.
    role : {"category", "text", None}
        What the column is declared to be; None where its values decide.
    """

    def __init__(self, n_missing: int = 0, role: str | None = None) -> None:
        self.counts: dict[str, int] = {}
        self.n_missing = n_missing
        self.n_uncounted = 0
        self.n_characters = 0
        self.dates = None if role is not None else RunningDates()
        self.texts = None if role == "category" else RunningTexts(every=role == "text")

    def add(self, words: Words) -> None:
        """More rows."""
        codes, first, n = np.unique(words.codes, return_index=True, return_counts=True)
        if self.dates is not None:
            self.dates.add(words, codes[codes >= 0])
        for k in np.argsort(first):  # as they are met, so that the limit does not depend on the blocks
            value, count = words.values[codes[k]] if codes[k] >= 0 else None, int(n[k])
            if value is None:
                self.n_missing += count
                continue
            self._count(value, count)
            if self.texts is not None:
                self.texts.add(value, count)

    def _count(self, value: str, n_rows: int) -> None:
        if value in self.counts:
            self.counts[value] += n_rows
        elif len(self.counts) < MAX_COUNTED_CATEGORIES and self.n_characters < MAX_COUNTED_CHARACTERS:
            self.counts[value] = n_rows
            self.n_characters += len(value)
        else:
            self.n_uncounted += n_rows

    @property
    def n_present(self) -> int:
        """Rows with a value."""
        return sum(self.counts.values()) + self.n_uncounted

    @property
    def are_dates(self) -> bool:
        """Whether all values are dates."""
        return self.dates is not None and self.dates.day_first is not None

    @property
    def are_texts(self) -> bool:
        """Whether the values are free text."""
        n_counted = self.n_present - self.n_uncounted
        return self.texts is not None and self.texts.are_texts(n_counted, len(self.counts))


class RunningTable:
    """The statistics of a table's columns, each of its kind, or of a CSR matrix.

    The kind of a column, numbers or categories, is open until its first value is seen.
    """

    def __init__(self, table: GivenTable, roles: Mapping[str, str] | None = None) -> None:
        self.roles = dict(roles or {})
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
        words = {
            j: RunningWords(self.n_rows, self.roles.get(table.names[j]) if table.names else None)
            for j in decided
            if kinds[j] == "words"
        }
        self.words = dict(sorted((self.words | words).items()))
        numbers = np.array([j for j in decided if j not in words], dtype=self.numbers.dtype)
        places = np.searchsorted(self.numbers, numbers)
        self.numbers = np.insert(self.numbers, places, numbers)
        self.moments.insert(places)

"""Filling the matrix of a prepared table, some rows at a time: dense, or CSR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..io.readers import Words
from .dates import DatePlan
from .given import GivenTable
from .matched import Notices, count
from .numeric import NumberPlan
from .plans import Plan, WordsPlan
from .texts import TextPlan


@dataclass(frozen=True)
class _MatrixEntry:
    """One entry of each row: its column of the matrix, -1 for none, and its value."""

    first: int  # the least column it can be in
    places: np.ndarray
    values: np.ndarray


class TableMatrix:
    """Rows of a table as rows of a matrix, by the plans of its columns."""

    def __init__(self, plans: Sequence[Plan], names: Sequence[str], dtype: str) -> None:
        self.names, self.dtype = names, dtype
        offsets = np.concatenate([[0], np.cumsum([plan.width for plan in plans])]).astype(np.int64)
        self.width = int(offsets[-1])
        numbers = [j for j, plan in enumerate(plans) if isinstance(plan, NumberPlan) and plan.width]
        chosen = [plan for plan in plans if isinstance(plan, NumberPlan) and plan.width]
        self.numbers = np.array(numbers, dtype=np.int64)
        self.mean = np.array([plan.mean for plan in chosen])
        self.scale = np.array([plan.scale for plan in chosen])
        self.kept = np.array([plan.kept for plan in chosen], dtype=bool)
        self.marked = np.array([plan.indicator for plan in chosen], dtype=bool)
        self.start = offsets[self.numbers]
        self.words = [
            (j, plan, int(offsets[j]))
            for j, plan in enumerate(plans)
            if isinstance(plan, WordsPlan) and plan.width
        ]
        self.dates = [
            (j, plan, int(offsets[j])) for j, plan in enumerate(plans) if isinstance(plan, DatePlan)
        ]
        self.texts = [
            (j, plan, int(offsets[j])) for j, plan in enumerate(plans) if isinstance(plan, TextPlan)
        ]

    def dense(self, table: GivenTable, start: int, stop: int, notices: Notices) -> np.ndarray:
        """Rows ``start`` to ``stop``."""
        z, gaps = self._standardised(table, start, stop, notices)
        if self.width == len(self.numbers) and self.kept.all():
            return z.astype(self.dtype)
        out = np.zeros((stop - start, self.width), dtype=self.dtype)
        out[:, self.start[self.kept]] = z[:, self.kept]
        if gaps is not None:
            out[:, self._marks()] = gaps[:, self.marked]
        for places in self._word_places(table, start, stop, notices):
            rows = np.flatnonzero(places >= 0)
            out[rows, places[rows]] = 1.0
        for first, part in self._date_parts(table, start, stop, notices):
            out[:, first : first + part.shape[1]] = part
        for first, rows in self._text_rows(table, start, stop, notices):
            out[:, first : first + rows.shape[1]] = rows.toarray()
        return out

    def csr(self, table: GivenTable, start: int, stop: int, notices: Notices) -> Any:
        """The same in CSR form, without zeros."""
        z, gaps = self._standardised(table, start, stop, notices)
        n = stop - start
        ones = np.ones(n)
        entries = [
            _MatrixEntry(int(first), np.where(z[:, j] != 0.0, first, -1), z[:, j])
            for j, first in enumerate(self.start)
            if self.kept[j]
        ]
        if gaps is not None:
            entries += [
                _MatrixEntry(int(place), np.where(gaps[:, j], place, -1), ones)
                for j, place in zip(np.flatnonzero(self.marked), self._marks())
            ]
        words = self._word_places(table, start, stop, notices)
        entries += [_MatrixEntry(first, places, ones) for (_, _, first), places in zip(self.words, words)]
        entries += [
            _MatrixEntry(first + k, np.where(part[:, k] != 0.0, first + k, -1), part[:, k])
            for first, part in self._date_parts(table, start, stop, notices)
            for k in range(part.shape[1])
        ]
        out = self._of_entries(sorted(entries, key=lambda entry: entry.first), n)
        for first, rows in self._text_rows(table, start, stop, notices):
            text = sparse.csr_array(
                (rows.data.astype(self.dtype), rows.indices + np.int32(first), rows.indptr), shape=out.shape
            )
            out = sparse.csr_array(out + text)  # no place is in both
        return out

    def _of_entries(self, entries: Sequence[_MatrixEntry], n: int) -> Any:
        if not entries:
            return sparse.csr_array((n, self.width), dtype=self.dtype)
        places = np.stack([entry.places for entry in entries], axis=1)
        values = np.stack([entry.values for entry in entries], axis=1)
        stored = places >= 0
        indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
        data = values[stored].astype(self.dtype)
        return sparse.csr_array((data, places[stored].astype(np.int32), indptr), shape=(n, self.width))

    def _marks(self) -> np.ndarray:
        """Columns that mark gaps."""
        return (self.start + self.kept)[self.marked]

    def _standardised(
        self, table: GivenTable, start: int, stop: int, notices: Notices
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Numbers with 0 in the gaps, and the gaps if there are any."""
        z = table.numbers(self.numbers, start, stop)
        z -= self.mean
        z /= self.scale
        if np.isfinite(z.sum()):
            return z, None
        gaps = np.isnan(z)
        if np.isinf(z).any():
            row, j = np.argwhere(np.isinf(z))[0]
            name = self.names[self.numbers[j]]
            raise ValueError(
                f"column {name!r} has an infinite number, or nearly so, in row {start + row} of X."
            )
        z[gaps] = 0.0
        new = gaps.sum(axis=0) * ~self.marked
        count(notices.gaps, {self.names[self.numbers[j]]: int(new[j]) for j in np.flatnonzero(new)})
        return z, gaps

    def _word_places(self, table: GivenTable, start: int, stop: int, notices: Notices) -> list[np.ndarray]:
        """For each column of words, the column of the matrix that has the 1 of each row, or -1."""
        out = []
        for j, plan, first in self.words:
            words = table.columns[j]  # type: ignore[index]
            assert isinstance(words, Words)
            codes = words.codes[start:stop]
            places = plan.places(words.values)[codes]
            out.append(np.where(places >= 0, places + first, -1))
            if (places < 0).any():
                self._note(self.names[j], words, codes[places < 0], notices)
        return out

    def _note(self, name: str, words: Words, codes: np.ndarray, notices: Notices) -> None:
        n = np.bincount(codes + 1, minlength=1)
        if n[0]:
            count(notices.gaps, {name: int(n[0])})
        new = {words.values[k]: int(n[k + 1]) for k in range(len(n) - 1) if n[k + 1]}
        if new:
            count(notices.unseen.setdefault(name, {}), new)

    def _date_parts(
        self, table: GivenTable, start: int, stop: int, notices: Notices
    ) -> Iterator[tuple[int, np.ndarray]]:
        """For each column of dates, its first column of the matrix, and the numbers of each row."""
        for j, plan, first in self.dates:
            values, codes, counts = _used(table.columns[j], start, stop)  # type: ignore[index]
            rows, odd = plan.table(values)
            if odd.any():
                said = {values[k]: int(counts[k]) for k in np.flatnonzero(odd).tolist()}
                count(notices.no_dates.setdefault(self.names[j], {}), said)
            self._note_gaps(j, plan.missing, int(counts[-1]), notices)
            yield first, rows[codes]

    def _text_rows(
        self, table: GivenTable, start: int, stop: int, notices: Notices
    ) -> Iterator[tuple[int, Any]]:
        """For each column of texts, its first column of the matrix, and the weights of each row, as CSR."""
        for j, plan, first in self.texts:
            values, codes, counts = _used(table.columns[j], start, stop)  # type: ignore[index]
            self._note_gaps(j, plan.missing, int(counts[-1]), notices)
            yield first, plan.table(values)[codes]

    def _note_gaps(self, j: int, known: bool, n_missing: int, notices: Notices) -> None:
        if n_missing and not known:
            count(notices.gaps, {self.names[j]: n_missing})


def _used(words: Any, start: int, stop: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The values of some rows, each once; of each row the place of its own, and how many rows each has.

    A missing value has the place after the last one.
    """
    assert isinstance(words, Words)
    codes = words.codes[start:stop]
    used, places = np.unique(codes[codes >= 0], return_inverse=True)
    out = np.full(len(codes), len(used), dtype=np.intp)
    out[codes >= 0] = places
    return [words.values[k] for k in used.tolist()], out, np.bincount(out, minlength=len(used) + 1)

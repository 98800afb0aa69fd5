"""Filling the matrix of a prepared table, some rows at a time: dense, or CSR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..io.readers import Words
from .given import GivenTable
from .matched import Notices, count
from .plans import NumberPlan, Plan, WordsPlan


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
        entries.sort(key=lambda entry: entry.first)
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

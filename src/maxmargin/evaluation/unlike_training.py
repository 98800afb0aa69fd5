"""What a file has that the training had not, counted in bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ["UnlikeTraining"]

MOST_SHOWN = 5


@dataclass
class UnlikeTraining:
    """Sums of the notices of a ``TablePreparation``."""

    unseen: Counter[str] = field(default_factory=Counter)  # rows with a new word, by column
    gaps: Counter[str] = field(default_factory=Counter)  # missing values where training had none, by column
    extra: list[str] = field(default_factory=list)  # columns left out
    shown: dict[str, list[str]] = field(default_factory=dict)  # a few of the new words

    def add(self, notices: Any) -> None:
        """Take in what one batch has told; None is nothing."""
        if notices is None:
            return
        self.gaps.update(notices.gaps)
        self.extra = list(dict.fromkeys([*self.extra, *notices.extra]))
        for column, words in notices.unseen.items():
            self.unseen[column] += sum(words.values())
            shown = dict.fromkeys([*self.shown.get(column, []), *words])
            self.shown[column] = list(shown)[:MOST_SHOWN]

    @property
    def notes(self) -> list[str]:
        """A sentence for each column."""
        notes = [
            f"column {column!r} has words that training had not in {n} rows, such as "
            f"{', '.join(map(repr, self.shown[column]))}"
            for column, n in self.unseen.items()
        ]
        notes += [
            f"column {column!r} has {n} missing values, and none in training"
            for column, n in self.gaps.items()
        ]
        if self.extra:
            notes.append(f"columns that training had not are left out: {', '.join(map(repr, self.extra))}")
        return notes

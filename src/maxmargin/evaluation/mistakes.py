"""Mistakes worth looking at: wrong answers that the model was surest of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .answers import Answers

__all__ = ["Mistake", "MistakeTally"]


@dataclass(frozen=True)
class Mistake:
    """A row, counted from 0, whose class was not named."""

    row: int
    label: str
    predicted: str
    margin: float  # score of the predicted class less that of the true one; for two classes |f|
    probability: float | None  # of the predicted class


@dataclass
class MistakeTally:
    """The ``most`` mistakes with the largest margins, the first of equal ones."""

    names: list[str]
    most: int = 20
    kept: list[Mistake] = field(default_factory=list)

    def add(self, first_row: int, labels: np.ndarray, told: Answers) -> None:
        """Look at some rows; those whose label is no class (-1) are passed over."""
        wrong = np.flatnonzero((labels >= 0) & (labels != told.predicted))
        margins = told.scores[wrong, told.predicted[wrong]] - told.scores[wrong, labels[wrong]]
        for place in np.argsort(-margins, kind="stable")[: self.most]:
            row = wrong[place]
            number = told.predicted[row]
            sure = None if told.probabilities is None else float(told.probabilities[row, number])
            names = self.names[labels[row]], self.names[number]
            self.kept.append(Mistake(first_row + int(row), *names, float(margins[place]), sure))
        self.kept = sorted(self.kept, key=lambda m: (-m.margin, m.row))[: self.most]

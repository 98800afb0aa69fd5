"""Intervals around what was measured on finitely many rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, norm

__all__ = ["CONFIDENCE", "Interval", "RunningMean", "normal_interval", "share_interval"]

Interval = tuple[float, float]
CONFIDENCE = 0.95


def share_interval(n_hits: int, n_rows: int, confidence: float = CONFIDENCE) -> Interval:
    """The shares that n_hits of n_rows do not speak against, by Clopper and Pearson.

    It holds for any number of rows that are drawn independently of the model and of one another; of no rows
    it says nothing: (0, 1).
    """
    if n_rows == 0:
        return 0.0, 1.0
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if n_hits == 0 else float(beta.ppf(tail, n_hits, n_rows - n_hits + 1))
    high = 1.0 if n_hits == n_rows else float(beta.ppf(1.0 - tail, n_hits + 1, n_rows - n_hits))
    return low, high


def normal_interval(value: float, standard_error: float, confidence: float = CONFIDENCE) -> Interval:
    """The value and, to both sides, as many standard errors as a normal distribution wants."""
    width = float(norm.ppf(0.5 + confidence / 2.0)) * standard_error
    return value - width, value + width


@dataclass
class RunningMean:
    """Mean and standard error of numbers that come in batches (Chan, Golub and LeVeque, 1983)."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of squared distances from the mean

    def add(self, values: np.ndarray) -> None:
        """Take in some more numbers."""
        if not len(values):
            return
        n, mean = self.n + len(values), float(values.mean())
        step = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + step**2 * self.n * len(values) / n
        self.mean += step * len(values) / n
        self.n = n

    @property
    def standard_error(self) -> float:
        """Of the mean; not a number for fewer than two."""
        return math.sqrt(self.squares / (self.n - 1) / self.n) if self.n > 1 else math.nan

    def interval(self) -> Interval:
        """Around the mean, as if it were normal."""
        return normal_interval(self.mean, self.standard_error)

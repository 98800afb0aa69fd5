"""How far probabilities can be taken at their word: log loss, Brier score, calibration error."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..metrics import Interval, RunningMean, share_interval

__all__ = ["Calibration", "ReliabilityBin", "ReliabilityTally"]

N_BINS = 15


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows whose predicted class had a probability between ``low`` and ``high``."""

    low: float
    high: float
    n_rows: int
    confidence: float  # mean probability of the predicted class
    accuracy: float
    accuracy_interval: Interval


@dataclass(frozen=True)
class Calibration:
    """What the probabilities are worth, over the rows whose label is a class.

    The Brier score is ``mean sum_k (p_k - [y = k])^2``, halved for two classes, as scikit-learn has it. The
    expected calibration error is ``sum_b n_b/n |accuracy_b - confidence_b|`` over bins of the predicted
    class's probability; it is never negative, so few rows make it too large.
    """

    n_rows: int
    log_loss: float
    log_loss_interval: Interval
    brier: float
    brier_interval: Interval
    expected_calibration_error: float
    bins: list[ReliabilityBin]


@dataclass
class ReliabilityTally:
    """Sums over batches of rows."""

    log_loss: RunningMean = field(default_factory=RunningMean)
    brier: RunningMean = field(default_factory=RunningMean)
    sums: np.ndarray = field(default_factory=lambda: np.zeros((3, N_BINS)))  # rows, confidence, right ones

    def add(self, probabilities: np.ndarray, predicted: np.ndarray, labels: np.ndarray) -> None:
        """Take in some rows, each with a known class."""
        at = np.arange(len(labels))
        tiny = np.finfo(probabilities.dtype).eps
        self.log_loss.add(-np.log(np.clip(probabilities[at, labels], tiny, 1.0 - tiny)))
        off = probabilities.copy()
        off[at, labels] -= 1.0
        self.brier.add((off**2).sum(axis=1) / (2.0 if off.shape[1] == 2 else 1.0))
        confidence = probabilities[at, predicted]
        bins = np.minimum((confidence * N_BINS).astype(np.intp), N_BINS - 1)
        for sums, values in zip(self.sums, (np.ones(len(at)), confidence, labels == predicted)):
            sums += np.bincount(bins, weights=values, minlength=N_BINS)

    def result(self) -> Calibration | None:
        """None where no row had a known class."""
        n_rows = self.log_loss.n
        if n_rows == 0:
            return None
        rows, confidence, right = self.sums
        return Calibration(
            n_rows,
            self.log_loss.mean,
            self.log_loss.interval(),
            self.brier.mean,
            self.brier.interval(),
            float(np.abs(right - confidence).sum() / n_rows),
            [self._bin(int(b)) for b in np.flatnonzero(rows)],
        )

    def _bin(self, b: int) -> ReliabilityBin:
        rows, confidence, right = self.sums[:, b]
        n = int(rows)
        share = share_interval(int(right), n)
        return ReliabilityBin(b / N_BINS, (b + 1) / N_BINS, n, confidence / n, right / n, share)

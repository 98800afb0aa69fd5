"""How far probabilities can be taken at their word: log loss, Brier score, calibration error."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score

from ..data import mixed
from ..metrics import Interval, RunningMean, normal_interval, share_interval

__all__ = ["Calibration", "Ranking", "RankingTally", "ReliabilityBin", "ReliabilityTally"]

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

    Attributes
    ----------
    n_rows : int
        Rows with a probability.
    log_loss : float
    log_loss_interval : tuple of float
        95 % interval.
    brier : float
        The Brier score.
    brier_interval : tuple of float
        95 % interval.
    expected_calibration_error : float
    bins : list of ReliabilityBin

    Examples
    --------
    >>> from maxmargin.evaluation import Calibration
    >>> flat = Calibration(100, 0.69, (0.6, 0.8), 0.25, (0.2, 0.3), 0.01, [])
    >>> flat.log_loss
    0.69
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


MAX_SCORES = 1 << 22


@dataclass(frozen=True)
class Ranking:
    """How well scores tell the positive class, the second, from the other.

    ``n_scores`` is the number of rows that this was computed from: all of them with a known class, or a
    random sample where there were more than four million.
    """

    positive: str
    n_scores: int
    roc_auc: float
    roc_auc_interval: Interval  # by DeLong's variance
    average_precision: float


@dataclass
class RankingTally:
    """Scores of all rows; of a random half, quarter, ... of them when they become too many.

    Which rows are kept depends on their numbers alone, not on the batches that they came in.
    """

    positive: str
    most: int = field(default_factory=lambda: MAX_SCORES)
    limit: int = 2**64 - 1
    n_kept: int = 0
    parts: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def add(self, rows: np.ndarray, scores: np.ndarray, is_positive: np.ndarray, *more: np.ndarray) -> None:
        """Take in scores of some rows, each with its number; ``more`` columns are kept beside them."""
        self._keep(mixed(rows.astype(np.uint64), np.uint64(0)), scores, is_positive, *more)
        while self.n_kept > self.most:
            self.limit //= 2
            parts, self.parts, self.n_kept = self.parts, [], 0
            for part in parts:
                self._keep(*part)

    def _keep(self, *columns: np.ndarray) -> None:
        kept = columns[0] <= np.uint64(self.limit)
        self.parts.append(tuple(column[kept] for column in columns))
        self.n_kept += int(kept.sum())

    def columns(self) -> list[np.ndarray] | None:
        """Keys, scores, whether rows are positive, and what was kept beside; None if all are of one class."""
        if not self.parts:
            return None
        columns = [np.concatenate(column) for column in zip(*self.parts)]
        return None if columns[2].all() or not columns[2].any() else columns

    def result(self) -> Ranking | None:
        """None where all rows are of one class."""
        if (columns := self.columns()) is None:
            return None
        scores, is_positive = columns[1:3]
        auc = float(roc_auc_score(is_positive, scores))
        low, high = normal_interval(auc, _standard_error(scores, is_positive))
        return Ranking(
            self.positive,
            len(scores),
            auc,
            (max(0.0, low), min(1.0, high)),
            float(average_precision_score(is_positive, scores)),
        )


def _standard_error(scores: np.ndarray, is_positive: np.ndarray) -> float:
    """Of the area under the ROC curve (DeLong, DeLong and Clarke-Pearson, 1988), by ranks.

    For each row the share of the other class that it is on the right side of; the variances of these shares
    within the classes, each divided by the number of its rows, add up.
    """
    rank = rankdata(scores)
    variance = 0.0
    for side in (is_positive, ~is_positive):
        n, n_other = int(side.sum()), int((~side).sum())
        if n < 2:
            return math.nan
        ahead = (rank[side] - rankdata(scores[side])) / n_other
        variance += float(ahead.var(ddof=1)) / n
    return math.sqrt(variance)

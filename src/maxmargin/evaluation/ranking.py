"""Two classes in order of their scores: area under the ROC curve, average precision."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score

from ..metrics import Interval, normal_interval
from ..training import mixed

__all__ = ["Ranking", "RankingTally"]

MOST_SCORES = 1 << 22


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
    most: int = field(default_factory=lambda: MOST_SCORES)
    limit: int = 2**64 - 1
    n_kept: int = 0
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, rows: np.ndarray, scores: np.ndarray, is_positive: np.ndarray) -> None:
        """Take in scores of some rows, each with its number."""
        self._keep(mixed(rows.astype(np.uint64), np.uint64(0)), scores, is_positive)
        while self.n_kept > self.most:
            self.limit //= 2
            parts, self.parts, self.n_kept = self.parts, [], 0
            for part in parts:
                self._keep(*part)

    def _keep(self, keys: np.ndarray, scores: np.ndarray, is_positive: np.ndarray) -> None:
        kept = keys <= np.uint64(self.limit)
        self.parts.append((keys[kept], scores[kept], is_positive[kept]))
        self.n_kept += int(kept.sum())

    def result(self) -> Ranking | None:
        """None where all rows are of one class."""
        if not self.parts:
            return None
        _, scores, is_positive = (np.concatenate(column) for column in zip(*self.parts))
        if is_positive.all() or not is_positive.any():
            return None
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

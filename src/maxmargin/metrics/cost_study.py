"""What a decision by costs gains over a model's own predictions, with an interval."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data import mixed
from .confusion import Interval, RunningMean
from .costs import Costs, Decision, best_threshold

__all__ = ["CostStudy", "CostTally", "study_of"]

N_FOLDS = 5


@dataclass(frozen=True)
class CostStudy:
    """Mean costs of a row with the model's own predictions and with a decision by costs.

    Attributes
    ----------
    classes : list of str
    costs : list of list of float
        True classes as rows, predicted ones as columns.
    rule : str
        Where the decision comes from.
    on : str
        What is compared: "probability", "score" or "expected cost".
    threshold : float or None
    n_rows : int
    plain_cost, decided_cost : float
        Per row.
    gain : float
        The difference of the two.
    gain_interval : tuple of float
        95 %, by a normal approximation to the mean of paired differences.
    """

    classes: list[str]
    costs: list[list[float]]
    rule: str
    on: str
    threshold: float | None
    n_rows: int
    plain_cost: float
    decided_cost: float
    gain: float
    gain_interval: Interval


STORED = "stored with the model"
EXPECTED = "the class of the lowest expected cost, by the model's probabilities"
CROSS_FITTED = (
    "the best threshold on these rows; its gain is that of thresholds chosen on four fifths of the rows and "
    "applied to the others"
)


@dataclass
class CostTally:
    """Costs of two kinds of predictions of the same rows."""

    costs: Costs
    plain: RunningMean = field(default_factory=RunningMean)
    decided: RunningMean = field(default_factory=RunningMean)
    gain: RunningMean = field(default_factory=RunningMean)

    def add(self, labels: np.ndarray, plain: np.ndarray, decided: np.ndarray) -> None:
        """Count some rows with known classes."""
        before, after = self.costs.of_rows(labels, plain), self.costs.of_rows(labels, decided)
        for mean, values in ((self.plain, before), (self.decided, after), (self.gain, before - after)):
            mean.add(values)

    def result(self, rule: str, on: str, threshold: float | None) -> CostStudy | None:
        """None where no row had a known class."""
        if not self.gain.n:
            return None
        matrix = [list(row) for row in self.costs.matrix]
        means = self.plain.mean, self.decided.mean, self.gain.mean
        return CostStudy(
            list(self.costs.classes), matrix, rule, on, threshold, self.gain.n, *means, self.gain.interval()
        )


def cross_fitted(keys: np.ndarray, values: np.ndarray, is_positive: np.ndarray, costs: Costs) -> np.ndarray:
    """Which rows are called positive by thresholds that were chosen without them.

    ``keys`` decide which of five parts a row is in.
    """
    part = mixed(keys.astype(np.uint64), np.uint64(1)) % np.uint64(N_FOLDS)
    out = np.zeros(len(values), dtype=bool)
    for k in range(N_FOLDS):
        own = part == k
        if own.any() and not own.all():
            out[own] = values[own] >= best_threshold(values[~own], is_positive[~own], costs)
    return out


def study_of(
    keys: np.ndarray,
    values: np.ndarray,
    is_positive: np.ndarray,
    plain: np.ndarray,
    costs: Costs,
    on: str,
) -> tuple[Decision, CostStudy | None]:
    """The best threshold for rows of two classes, and what choosing one in this way gains on new rows.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,)
        Numbers of the rows.
    values : ndarray of shape (n_rows,)
        What the threshold is one of.
    is_positive, plain : ndarray of bool of shape (n_rows,)
        Whether rows are of the second class, and whether the model itself says so.
    costs : Costs
    on : {"probability", "score"}

    Returns
    -------
    decision : Decision
    study : CostStudy or None
    """
    threshold = best_threshold(values, is_positive, costs)
    tally = CostTally(costs)
    decided = cross_fitted(keys, values, is_positive, costs)
    tally.add(*(each.astype(np.intp) for each in (is_positive, plain, decided)))
    return Decision(costs, on, threshold), tally.result(CROSS_FITTED, on, threshold)

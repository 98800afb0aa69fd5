"""Which threshold: ROC and precision-recall curves of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_curve

__all__ = ["MAX_CURVE_POINTS", "OperatingPoint", "ThresholdCurves", "curves_of"]

MAX_CURVE_POINTS = 200
SHOWN_RECALLS = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class OperatingPoint:
    """What comes of calling rows positive from ``threshold`` on."""

    threshold: float
    recall: float
    precision: float
    false_positive_rate: float


@dataclass(frozen=True)
class ThresholdCurves:
    """Recall, precision and false positive rate over all thresholds, for the second of two classes.

    Attributes
    ----------
    positive : str
    on : {"probability", "score"}
        What the thresholds are thresholds of.
    points : list of OperatingPoint
        From the highest threshold down; up to 200 of them, evenly spaced along the ROC curve.
    at_recall : list of OperatingPoint
        The highest thresholds with a recall of at least 50, 80, 90, 95 and 99 %.

    Examples
    --------
    >>> from maxmargin.evaluation import OperatingPoint, ThresholdCurves
    >>> point = OperatingPoint(threshold=0.3, recall=0.9, precision=0.8, false_positive_rate=0.1)
    >>> ThresholdCurves("yes", "probability", [point], [point]).at_recall[0].precision
    0.8
    """

    positive: str
    on: str
    points: list[OperatingPoint]
    at_recall: list[OperatingPoint]


def curves_of(
    values: np.ndarray,
    is_positive: np.ndarray,
    positive: str,
    on: str,
    *,
    n_points: int = MAX_CURVE_POINTS,
    at: Sequence[float] = (),
) -> ThresholdCurves:
    """The curves of rows with these values; both classes must occur.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    is_positive : ndarray of bool of shape (n_rows,)
    positive : str
        The name of the positive class.
    on : str
        What the values are.
    n_points : int, default=200
        Points of the curves, at most.
    at : sequence of float
        Thresholds whose points are among them in any case.

    Returns
    -------
    ThresholdCurves
    """
    rates, recall, thresholds = roc_curve(is_positive, values, drop_intermediate=False)
    n_positive = int(is_positive.sum())
    hits, alarms = recall * n_positive, rates * (len(values) - n_positive)
    with np.errstate(invalid="ignore"):
        precision = hits / (hits + alarms)  # not a number where nothing is called positive

    def point(k: int) -> OperatingPoint:
        return OperatingPoint(*(float(each[k]) for each in (thresholds, recall, precision, rates)))

    along = rates + recall
    wanted = np.searchsorted(along, np.linspace(0.0, 2.0, n_points) - 1e-12)
    also = np.searchsorted(-thresholds, -np.asarray(at, dtype=np.float64), side="right") - 1
    kept = np.unique(np.clip(np.r_[1, wanted, also], 1, len(along) - 1))  # the first threshold is infinite
    places = [int(np.argmax(recall >= least - 1e-12)) for least in SHOWN_RECALLS]
    return ThresholdCurves(positive, on, [point(k) for k in kept], [point(k) for k in places])

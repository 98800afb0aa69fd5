"""Probabilities from scores that never contradict the prediction.

``predict`` is the argmax of the scores, and probabilities fitted without constraints may disagree with it.
Here they cannot. Two classes: a sigmoid or isotonic curve is fitted to the scores f, and where the curve and
the sign of f disagree, the probability is 1/2, the nearest value that agrees. More classes: one increasing
map serves all classes, that of :class:`SoftmaxCalibrator` or one isotonic curve, so the order within a row
stays; ties by rounding or flat pieces are broken in the last place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from .curves import IsotonicCalibrator, SigmoidCalibrator, checked_rows, finite_scores
from .softmax import SoftmaxCalibrator

__all__ = [
    "CALIBRATIONS",
    "CalibratedScores",
    "check_method",
    "nearest_agreeing",
    "pair_agreeing",
]

FloatArray = NDArray[np.float64]


@dataclass
class CalibratedScores:
    """From decision values to probabilities whose argmax is the prediction.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
        Two classes: Platt's sigmoid, or isotonic regression. More: a softmax of one increasing function of
        the scores, or one isotonic curve for the scores of all classes, normalised by row. Fit it to scores
        of rows that the classifier was not trained on.

    Attributes
    ----------
    calibrator_ : SigmoidCalibrator, SoftmaxCalibrator or IsotonicCalibrator

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.calibration import CalibratedScores
    >>> scores = np.linspace(-2.0, 2.0, 41)
    >>> curve = CalibratedScores("sigmoid").fit(scores, (scores > 0.1).astype(int))
    >>> curve.predict_proba(np.array([-1.0, 1.0])).round(2)
    array([[0.96, 0.04],
           [0.06, 0.94]])
    """

    method: str = "sigmoid"
    calibrator_: SigmoidCalibrator | SoftmaxCalibrator | IsotonicCalibrator | None = field(
        default=None, init=False
    )

    def __post_init__(self) -> None:
        """Check the method."""
        check_method(self.method)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to decision values (n,) or (n, G), labels ``0 .. G-1``; a weight of 2 is a repeated row."""
        if np.ndim(scores) == 1:
            one = SigmoidCalibrator() if self.method == "sigmoid" else IsotonicCalibrator()
            self.calibrator_ = one.fit(scores, y, sample_weight)
        elif self.method == "sigmoid":
            self.calibrator_ = SoftmaxCalibrator().fit(scores, y, sample_weight)
        else:
            S, labels, w = checked_rows(scores, y, sample_weight, ndim=2)
            is_true = np.arange(S.shape[1]) == labels[:, None]
            self.calibrator_ = IsotonicCalibrator().fit(S.ravel(), is_true.ravel(), np.repeat(w, S.shape[1]))
        return self

    def predict_proba(self, scores: ArrayLike) -> FloatArray:
        """Probabilities (n, G): rows sum to 1, and their argmax is that of the scores."""
        if self.calibrator_ is None:
            raise ValueError("CalibratedScores is not fitted; call fit first.")
        if np.ndim(scores) == 1:
            f = finite_scores(scores, ndim=1)
            return pair_agreeing(self.calibrator_.predict(f), f)
        S = finite_scores(scores, ndim=2)
        if isinstance(self.calibrator_, SoftmaxCalibrator):
            return _agreeing(self.calibrator_.predict(S), S)
        P = self.calibrator_.predict(S.ravel()).reshape(S.shape)
        P[P.sum(axis=1) == 0] = 1.0
        return _agreeing(P / P.sum(axis=1, keepdims=True), S)


CALIBRATIONS = ("isotonic", "sigmoid")


def check_method(method: Any) -> None:
    """Raise unless ``method`` is the name of a calibration."""
    if not (isinstance(method, str) and method in CALIBRATIONS):
        raise ValueError(f"method must be one of {sorted(CALIBRATIONS)}; got {method!r}.")


def log_odds_to_probabilities(scores: FloatArray) -> FloatArray:
    """``1 / (1 + exp(-f))``, (n, G), normalised by row for several classes; the argmax agrees."""
    if scores.ndim == 1:
        p = np.where(scores > 0, np.maximum(expit(scores), np.nextafter(0.5, 1.0)), expit(scores))
        return np.column_stack([expit(-scores), p])
    log_p = -np.logaddexp(0.0, -scores)
    return _agreeing(softmax(log_p, axis=1), scores)


def pair_agreeing(p: FloatArray, f: FloatArray) -> FloatArray:
    """Probabilities (n, 2) nearest to those of class 1, p, that are above 1/2 exactly where f > 0."""
    p = np.where(f > 0, np.maximum(p, np.nextafter(0.5, 1.0)), np.minimum(p, 0.5))
    return np.column_stack([1 - p, p])


def nearest_agreeing(P: FloatArray, S: FloatArray) -> FloatArray:
    """The probabilities nearest to P, in squares and in relative entropy, whose argmax is that of S.

    Where other classes are above the argmax of S, it and they share the sum of their probabilities equally:
    the largest class first, until no other class is above the share.
    """
    winner = S.argmax(axis=1)
    lost = np.flatnonzero(P.argmax(axis=1) != winner)
    if lost.size:
        rows, which = P[lost], winner[lost, None]
        others = rows.copy()
        np.put_along_axis(others, which, -1.0, axis=1)
        others = -np.sort(-others, axis=1)  # the last is the winner's -1
        sums = np.take_along_axis(rows, which, axis=1) + np.cumsum(others[:, :-1], axis=1)
        means = sums / np.arange(2, P.shape[1] + 1)
        share = np.take_along_axis(means, (means >= others[:, 1:]).argmax(axis=1)[:, None], axis=1)
        rows = np.minimum(rows, share)
        np.put_along_axis(rows, which, share, axis=1)
        P[lost] = rows
    return _agreeing(P, S)


def _agreeing(P: FloatArray, S: FloatArray) -> FloatArray:
    """P, with the argmax of S raised by one unit in the last place where another entry is not below it."""
    winner = S.argmax(axis=1)
    lost = np.flatnonzero(P.argmax(axis=1) != winner)
    P[lost, winner[lost]] = np.nextafter(P[lost].max(axis=1), 2.0)
    return P

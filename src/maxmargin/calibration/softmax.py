"""Probabilities of several classes: a softmax of one increasing, concave function of the scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from ..numerics import bounded_newton
from .curves import SigmoidCalibrator, bounded_ratio, checked_rows, finite_scores

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass
class SoftmaxCalibrator:
    """``p = softmax(slope s / scale + bend log r(s) / bend_scale)``, slope >= 0 and bend >= 0.

    One function serves the scores s of all classes, so their order stays. r is the sigmoid that separates
    scores of true classes from others (:class:`SigmoidCalibrator`, fitted to all entries), and ``log r`` is
    linear in low scores and flat in high ones. With ``bend = 0`` this is a softmax with one temperature; with
    ``slope = 0`` and ``bend = bend_scale`` it is the sigmoids divided by their sum: classes with high scores
    get similar probabilities, and it matters little which score is the highest.

    Slope and bend minimise the weighted log-loss, which is convex in them. Targets are smoothed: with N the
    total weight, the true class has ``(N + 1) / (N + 2)``, and the others share the rest, so the solution is
    finite even if the scores separate the classes. Platt's smoothing of each class by itself would be far too
    strong for two parameters if there are many classes.

    Attributes
    ----------
    slope_, scale_, bend_, bend_scale_ : float
    curve_ : SigmoidCalibrator
        The sigmoid r.
    gradient_norm_ : float
        The certificate: the projected gradient at the solution, per unit of weight.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.calibration import SoftmaxCalibrator
    >>> scores = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = SoftmaxCalibrator().fit(scores, scores.argmax(axis=1))
    >>> bool(curve.predict(scores[:1]).argmax() == scores[0].argmax())
    True
    """

    slope_: float = field(default=0.0, init=False)
    scale_: float = field(default=1.0, init=False)
    bend_: float = field(default=0.0, init=False)
    bend_scale_: float = field(default=1.0, init=False)
    curve_: SigmoidCalibrator = field(default_factory=SigmoidCalibrator, init=False)
    gradient_norm_: float = field(default=np.inf, init=False)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores (n, G) and labels ``0 .. G-1``; a weight of 2 is a repeated row."""
        S, labels, weight = checked_rows(scores, y, sample_weight, ndim=2)
        n_classes = S.shape[1]
        is_true = np.arange(n_classes) == labels[:, None]
        self.curve_ = SigmoidCalibrator().fit(S.ravel(), is_true.ravel(), np.repeat(weight, n_classes))
        w, unknown = weight / weight.sum(), 1.0 / (weight.sum() + 2.0)
        below, bent = self._parts(S)
        self.scale_, self.bend_scale_ = _mean_range(below, w), _mean_range(bent, w)
        parts = np.stack([below / self.scale_, bent / self.bend_scale_])
        T = np.where(is_true, 1.0 - unknown, unknown / max(n_classes - 1, 1))
        wanted = (T * parts).sum(axis=2)

        def log_loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            E = x[0] * parts[0] + x[1] * parts[1]
            P = np.exp(E)  # at most 1: x >= 0, and the parts are 0 for the best class and below for others
            total = P.sum(axis=1)
            P /= total[:, None]
            mean = (P * parts).sum(axis=2)
            off = parts - mean[:, :, None]
            pairs = ((0, 0), (0, 1), (1, 1))
            a, b, c = ((w * (P * off[i] * off[j]).sum(axis=1)).sum() for i, j in pairs)
            value = (w * (np.log(total) - x @ wanted)).sum()
            return value, (w * (mean - wanted)).sum(axis=1), np.array([[a, b], [b, c]])

        x, self.gradient_norm_ = bounded_newton(log_loss, np.zeros(2), 0.0)
        self.slope_, self.bend_ = float(x[0]), float(x[1])
        return self

    def predict(self, scores: ArrayLike) -> FloatArray:
        """The probability of each class, (n, G)."""
        below, bent = self._parts(finite_scores(scores, ndim=2))
        E = self.slope_ * bounded_ratio(below, self.scale_)
        if self.bend_ > 0.0:
            E += self.bend_ * bounded_ratio(bent, self.bend_scale_)
        return softmax(E, axis=1)

    def _parts(self, S: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Scores, and logarithms of the curve there, less those of the best class of each row."""
        bent = self.curve_.log_predict(S.ravel()).reshape(S.shape)
        return S - S.max(axis=1, keepdims=True), bent - bent.max(axis=1, keepdims=True)


def _mean_range(below: FloatArray, w: FloatArray) -> float:
    return float((w * -below.min(axis=1)).sum()) or 1.0

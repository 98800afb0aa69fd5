"""Curves from scores to the probability of class 1: Platt's sigmoid and isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, log_expit, logit

from ..numerics import bounded_newton

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MAX_SCORE = 1e300
MAX_RATIO = 1e150  # a slope times it is finite


@dataclass
class SigmoidCalibrator:
    """Platt's sigmoid ``p = 1 / (1 + exp(-slope z - offset))``, ``z = (score - center) / scale``, slope >= 0.

    The minimiser of ``sum_i w_i (log(1 + exp(e_i)) - t_i e_i)``, ``e_i = slope z_i + offset``, with Platt's
    smoothed targets ``t = (N1 + 1) / (N1 + 2)`` for class 1 and ``1 / (N0 + 2)`` for class 0, where N1 and N0
    are sums of weights. Lin, Lin and Weng (2007) give the Newton method.

    Attributes
    ----------
    slope_, offset_, center_, scale_ : float
    gradient_norm_ : float
        The certificate: the norm of the projected gradient at the solution, per unit of weight.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.calibration import SigmoidCalibrator
    >>> scores = np.linspace(-2.0, 2.0, 41)
    >>> curve = SigmoidCalibrator().fit(scores, scores > 0.1)
    >>> curve.predict(np.array([-1.0, 1.0])).round(1)
    array([0. , 0.9])
    """

    slope_: float = field(default=0.0, init=False)
    offset_: float = field(default=0.0, init=False)
    center_: float = field(default=0.0, init=False)
    scale_: float = field(default=1.0, init=False)
    gradient_norm_: float = field(default=np.inf, init=False)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores (n,) and labels 0 or 1; a weight of 2 is a repeated row."""
        f, labels, weight = checked_rows(scores, y, sample_weight, ndim=1)
        n_of_class = np.bincount(labels, weight, minlength=2)
        w, t = weight / weight.sum(), ((np.array([0.0, n_of_class[1]]) + 1) / (n_of_class + 2))[labels]
        # Sums instead of BLAS products, whose last bits may depend on the number of threads.
        self.center_ = float((w * f).sum())
        self.scale_ = float((w * np.abs(f - self.center_)).sum()) or 1.0
        z = (f - self.center_) / self.scale_

        def log_loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            e = x[0] * z + x[1]
            p = expit(e)
            r, h = w * (p - t), w * p * (1 - p)
            value, slanted = (w * (np.logaddexp(0, e) - t * e)).sum(), (h * z).sum()
            hessian = np.array([[(h * z * z).sum(), slanted], [slanted, h.sum()]])
            return value, np.array([(r * z).sum(), r.sum()]), hessian

        flat = np.array([0.0, logit((w * t).sum())])  # the best with slope 0
        if log_loss(flat)[1][0] < 0:
            (self.slope_, self.offset_), self.gradient_norm_ = bounded_newton(log_loss, flat)
        else:  # convex, and no descent towards slope > 0
            (self.slope_, self.offset_), self.gradient_norm_ = flat, abs(log_loss(flat)[1][1])
        return self

    def predict(self, scores: ArrayLike) -> FloatArray:
        """The probability of class 1 at each score; it never falls as the score rises."""
        return expit(self._log_odds(scores))

    def log_predict(self, scores: ArrayLike) -> FloatArray:
        """The logarithm of ``predict``, accurate even where ``predict`` rounds to 0 or 1."""
        return log_expit(self._log_odds(scores))

    def _log_odds(self, scores: ArrayLike) -> FloatArray:
        z = bounded_ratio(finite_scores(scores, ndim=1) - self.center_, self.scale_)
        return self.slope_ * z + self.offset_


@dataclass
class IsotonicCalibrator:
    """The non-decreasing curve of least weighted squares, linear between the fitted scores and flat beyond.

    Attributes
    ----------
    knots_, values_ : ndarray
        The distinct scores of the fit, and the probability of class 1 at each.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.calibration import IsotonicCalibrator
    >>> scores = np.linspace(-2.0, 2.0, 41)
    >>> curve = IsotonicCalibrator().fit(scores, scores > 0.1)
    >>> curve.predict(np.array([-1.0, 1.0])).round(1)
    array([0., 1.])
    """

    knots_: FloatArray = field(default_factory=lambda: np.zeros(1), init=False)
    values_: FloatArray = field(default_factory=lambda: np.full(1, 0.5), init=False)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores (n,) and labels 0 or 1; a weight of 2 is a repeated row."""
        f, labels, weight = checked_rows(scores, y, sample_weight, ndim=1)
        self.knots_, knot = np.unique(f, return_inverse=True)
        total = np.bincount(knot, weight)
        mean = np.bincount(knot, weight * labels) / total
        self.values_ = np.clip(isotonic_regression(mean, weights=total).x, 0.0, 1.0)
        return self

    def predict(self, scores: ArrayLike) -> FloatArray:
        """The probability of class 1 at each score; it never falls as the score rises."""
        f = finite_scores(scores, ndim=1)
        right = np.searchsorted(self.knots_, f)
        left = np.maximum(np.searchsorted(self.knots_, f, side="right") - 1, 0)
        right = np.minimum(right, len(self.knots_) - 1)
        # Rounding may carry the interpolation past a knot's value: then the curve would fall at the knot.
        return np.clip(np.interp(f, self.knots_, self.values_), self.values_[left], self.values_[right])


@np.errstate(over="ignore")
def bounded_ratio(x: FloatArray, scale: float) -> FloatArray:
    """``x / scale``, clipped so that a slope times it is neither infinite nor NaN."""
    return np.clip(x / scale, -MAX_RATIO, MAX_RATIO)


def finite_scores(scores: ArrayLike, ndim: int) -> FloatArray:
    """Scores as an array; raises unless it has ``ndim`` dimensions and moderate values."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != ndim:
        shape = "(n,)" if ndim == 1 else "(n, n_classes)"
        raise ValueError(f"scores must have shape {shape}; got {values.shape}.")
    if not (np.abs(values) <= MAX_SCORE).all():
        raise ValueError("scores contain NaN, infinity or values beyond 1e300; scale the features.")
    return values


def checked_rows(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, ndim: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Scores, labels and weights as arrays of equal length, without rows of weight 0."""
    values, labels = finite_scores(scores, ndim), np.asarray(y)
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if not values.shape[:1] == labels.shape == weight.shape:
        raise ValueError(
            "scores, y and sample_weight need one entry per row; "
            f"got shapes {values.shape}, {labels.shape} and {weight.shape}."
        )
    n_classes = 2 if ndim == 1 else values.shape[1]
    if not np.isin(labels, np.arange(n_classes)).all():
        raise ValueError(f"y must hold labels 0 .. {n_classes - 1}; got {np.unique(labels).tolist()[:5]}.")
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.sum() > 0:
        raise ValueError("sample_weight must be finite and >= 0, and not all 0.")
    kept = weight > 0
    return values[kept], labels[kept].astype(np.intp), weight[kept]

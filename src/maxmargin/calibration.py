"""Calibration: scores to probabilities that never contradict the prediction.

``predict`` is the argmax of the scores, so a probability fitted freely may disagree with it. Here it cannot.
Two classes: a sigmoid or isotonic curve is fitted to the scores f, and where it falls on the other side of
1/2 than f of 0, the probability is 1/2, the nearest that agrees. More classes: one increasing map serves all
classes, a softmax with one fitted scale or one isotonic curve, so the order within a row stays; what rounding
or a flat piece makes equal is told apart in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit, logsumexp, softmax

__all__ = [
    "CALIBRATIONS",
    "CalibratedScores",
    "IsotonicCalibrator",
    "SigmoidCalibrator",
    "SoftmaxCalibrator",
    "agreeing",
    "calibrator_from_name",
    "check_method",
    "nearest_agreeing",
    "pair_agreeing",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Smooth = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]


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
    """

    slope_: float = field(default=0.0, init=False)
    offset_: float = field(default=0.0, init=False)
    center_: float = field(default=0.0, init=False)
    scale_: float = field(default=1.0, init=False)
    gradient_norm_: float = field(default=np.inf, init=False)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores (n,) and labels 0 or 1; a weight of 2 is a row given twice."""
        f, labels, weight = _checked(scores, y, sample_weight, ndim=1)
        w, t = weight / weight.sum(), _smoothed_targets(labels, weight, 2)[labels, 1]
        self.center_ = float(w @ f)
        self.scale_ = float(w @ np.abs(f - self.center_)) or 1.0
        Z = np.column_stack([(f - self.center_) / self.scale_, np.ones(len(f))])

        def log_loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            e = Z @ x
            p = expit(e)
            return (
                w @ (np.logaddexp(0, e) - t * e),
                Z.T @ (w * (p - t)),
                Z.T @ (Z * (w * p * (1 - p))[:, None]),
            )

        flat = np.array([0.0, logit(w @ t)])  # the best with slope 0
        if log_loss(flat)[1][0] < 0:
            (self.slope_, self.offset_), self.gradient_norm_ = _newton(log_loss, flat)
        else:  # convex, and no descent into slope > 0
            (self.slope_, self.offset_), self.gradient_norm_ = flat, abs(log_loss(flat)[1][1])
        return self

    def predict(self, scores: ArrayLike) -> FloatArray:
        """The probability of class 1 at each score; it never falls as the score rises."""
        return expit(self.slope_ * _ratio(_finite(scores, ndim=1) - self.center_, self.scale_) + self.offset_)


@dataclass
class IsotonicCalibrator:
    """The non-decreasing curve of least weighted squares, linear between the scores seen and flat beyond.

    Attributes
    ----------
    knots_, values_ : ndarray
        The distinct scores seen, and the probability of class 1 at each.
    """

    knots_: FloatArray = field(default_factory=lambda: np.zeros(1), init=False)
    values_: FloatArray = field(default_factory=lambda: np.full(1, 0.5), init=False)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores (n,) and labels 0 or 1; a weight of 2 is a row given twice."""
        f, labels, weight = _checked(scores, y, sample_weight, ndim=1)
        self.knots_, knot = np.unique(f, return_inverse=True)
        total = np.bincount(knot, weight)
        mean = np.bincount(knot, weight * labels) / total
        self.values_ = np.clip(isotonic_regression(mean, weights=total).x, 0.0, 1.0)
        return self

    def predict(self, scores: ArrayLike) -> FloatArray:
        """The probability of class 1 at each score; it never falls as the score rises."""
        f = _finite(scores, ndim=1)
        right = np.searchsorted(self.knots_, f)
        left = np.maximum(np.searchsorted(self.knots_, f, side="right") - 1, 0)
        right = np.minimum(right, len(self.knots_) - 1)
        # Rounding may carry the interpolation over a knot's value: then it would fall at the knot.
        return np.clip(np.interp(f, self.knots_, self.values_), self.values_[left], self.values_[right])


@dataclass
class SoftmaxCalibrator:
    """``p = softmax(slope scores / scale)``, slope >= 0: one number for all classes, so their order stays.

    The minimiser of the weighted log-loss against Platt's smoothed targets, for G classes
    ``(N_y + 1) / (N_y + G)`` for the true one and ``1 / (N_y + G)`` for the others.

    Attributes
    ----------
    slope_, scale_ : float
    gradient_norm_ : float
        The certificate: the projected gradient at the solution, per unit of weight.
    """

    slope_: float = field(default=0.0, init=False)
    scale_: float = field(default=1.0, init=False)
    gradient_norm_: float = field(default=np.inf, init=False)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores (n, G) and labels ``0 .. G-1``; a weight of 2 is a row given twice."""
        S, labels, weight = _checked(scores, y, sample_weight, ndim=2)
        w, T = weight / weight.sum(), _smoothed_targets(labels, weight, S.shape[1])[labels]
        below = S - S.max(axis=1, keepdims=True)
        self.scale_ = float(w @ -below.min(axis=1)) or 1.0
        U = below / self.scale_

        def log_loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            P = softmax(x * U, axis=1)
            mean = (P * U).sum(axis=1)
            spread = (P * (U - mean[:, None]) ** 2).sum(axis=1)
            residual = mean - (T * U).sum(axis=1)
            value = w @ (logsumexp(x * U, axis=1) - x * (T * U).sum(axis=1))
            return value, np.array([w @ residual]), np.array([[w @ spread]])

        flat = np.zeros(1)
        if log_loss(flat)[1][0] < 0:
            (self.slope_,), self.gradient_norm_ = _newton(log_loss, flat)
        else:  # convex, and no descent into slope > 0
            self.slope_, self.gradient_norm_ = 0.0, 0.0
        return self

    def predict(self, scores: ArrayLike) -> FloatArray:
        """The probability of each class, (n, G)."""
        S = _finite(scores, ndim=2)
        return softmax(self.slope_ * _ratio(S - S.max(axis=1, keepdims=True), self.scale_), axis=1)


@dataclass
class CalibratedScores:
    """Decision values to probabilities whose argmax is the prediction.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
        Two classes: Platt's sigmoid, or isotonic regression. More: a softmax with one fitted scale, or one
        isotonic curve for the entries of all classes, normalised by row. Fit it to scores of rows that the
        classifier was not trained on.

    Attributes
    ----------
    calibrator_ : SigmoidCalibrator, SoftmaxCalibrator or IsotonicCalibrator
    """

    method: str = "sigmoid"
    calibrator_: SigmoidCalibrator | SoftmaxCalibrator | IsotonicCalibrator | None = field(
        default=None, init=False
    )

    def __post_init__(self) -> None:
        """Refuse an unknown method at once."""
        check_method(self.method)

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to decision values (n,) or (n, G), labels ``0 .. G-1``; a weight of 2 is a row given twice."""
        if np.ndim(scores) == 1:
            one = SigmoidCalibrator() if self.method == "sigmoid" else IsotonicCalibrator()
            self.calibrator_ = one.fit(scores, y, sample_weight)
        elif self.method == "sigmoid":
            self.calibrator_ = SoftmaxCalibrator().fit(scores, y, sample_weight)
        else:
            S, labels, w = _checked(scores, y, sample_weight, ndim=2)
            is_true = np.arange(S.shape[1]) == labels[:, None]
            self.calibrator_ = IsotonicCalibrator().fit(S.ravel(), is_true.ravel(), np.repeat(w, S.shape[1]))
        return self

    def predict_proba(self, scores: ArrayLike) -> FloatArray:
        """Probabilities (n, G): rows sum to 1, and their argmax is that of the scores."""
        if self.calibrator_ is None:
            raise ValueError("CalibratedScores is not fitted; call fit first.")
        if np.ndim(scores) == 1:
            f = _finite(scores, ndim=1)
            return pair_agreeing(self.calibrator_.predict(f), f)
        S = _finite(scores, ndim=2)
        if isinstance(self.calibrator_, SoftmaxCalibrator):
            return agreeing(self.calibrator_.predict(S), S)
        P = self.calibrator_.predict(S.ravel()).reshape(S.shape)
        P[P.sum(axis=1) == 0] = 1.0
        return agreeing(P / P.sum(axis=1, keepdims=True), S)


CALIBRATIONS = ("isotonic", "sigmoid")


def check_method(method: Any) -> None:
    """Refuse what is no name of a calibration."""
    if not (isinstance(method, str) and method in CALIBRATIONS):
        raise ValueError(f"method must be one of {sorted(CALIBRATIONS)}; got {method!r}.")


def calibrator_from_name(method: str | CalibratedScores) -> CalibratedScores:
    """A new calibrator for that method; a ``CalibratedScores`` is returned as it is."""
    return method if isinstance(method, CalibratedScores) else CalibratedScores(method)


def log_odds_to_probabilities(scores: FloatArray) -> FloatArray:
    """``1 / (1 + exp(-f))``, (n, G); for several classes divided by their sum. The argmax is the scores'."""
    if scores.ndim == 1:
        p = np.where(scores > 0, np.maximum(expit(scores), np.nextafter(0.5, 1.0)), expit(scores))
        return np.column_stack([expit(-scores), p])
    log_p = -np.logaddexp(0.0, -scores)
    return agreeing(softmax(log_p, axis=1), scores)


def pair_agreeing(p: FloatArray, f: FloatArray) -> FloatArray:
    """(n, 2) from probabilities of class 1, of those nearest to them that are above 1/2 where f > 0 alone."""
    p = np.where(f > 0, np.maximum(p, np.nextafter(0.5, 1.0)), np.minimum(p, 0.5))
    return np.column_stack([1 - p, p])


def nearest_agreeing(P: FloatArray, S: FloatArray) -> FloatArray:
    """The probabilities nearest to P, by squares and by relative entropy, whose argmax is that of S.

    Where another class is ahead of the argmax of S, that one and those ahead of it share their sum equally:
    the largest first, until none is ahead of the shares.
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
    return agreeing(P, S)


def agreeing(P: FloatArray, S: FloatArray) -> FloatArray:
    """P, with the argmax of S raised by one unit in the last place where another entry had caught up."""
    winner = S.argmax(axis=1)
    lost = np.flatnonzero(P.argmax(axis=1) != winner)
    P[lost, winner[lost]] = np.nextafter(P[lost].max(axis=1), 2.0)
    return P


def _smoothed_targets(labels: IntArray, weight: FloatArray, n_classes: int) -> FloatArray:
    """Row g is the target of class g: its own entry ``(N_g + 1) / (N_g + G)``, others ``1 / (N_g + G)``."""
    n_of_class = np.bincount(labels, weight, minlength=n_classes)
    return (np.diag(n_of_class) + 1) / (n_of_class + n_classes)[:, None]


def _newton(loss: Smooth, x: FloatArray, tol: float = 1e-12, max_iter: int = 200) -> tuple[FloatArray, float]:
    """Minimise a convex ``loss(x) -> value, gradient, hessian``; the minimiser and its gradient's norm.

    Steps are halved until Armijo's condition holds, up to rounding in the value: so the last, tiny steps that
    only the gradient can see are still taken.
    """
    value, gradient, hessian = loss(x)
    for _ in range(max_iter):
        if np.linalg.norm(gradient) <= tol:
            break
        step = -np.linalg.solve(hessian + 1e-12 * np.eye(len(x)), gradient)
        rate, trial = 1.0, loss(x + step)
        while trial[0] > value + 1e-4 * rate * (gradient @ step) + 1e-14 * (1 + abs(value)) and rate > 1e-10:
            rate /= 2
            trial = loss(x + rate * step)
        x = x + rate * step
        value, gradient, hessian = trial
    return x, float(np.linalg.norm(gradient))


@np.errstate(over="ignore")
def _ratio(x: FloatArray, scale: float) -> FloatArray:
    """``x / scale``, bounded: a slope times it is never infinite, nor 0 times infinity."""
    return np.clip(x / scale, -1e150, 1e150)


def _finite(scores: ArrayLike, ndim: int) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != ndim:
        shape = "(n,)" if ndim == 1 else "(n, n_classes)"
        raise ValueError(f"scores have shape {shape} here; got {values.shape}.")
    if not (np.abs(values) <= 1e300).all():
        raise ValueError("scores contain NaN, infinity or values beyond 1e300; scale the features.")
    return values


def _checked(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, ndim: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Scores, labels and weights as arrays of one length, rows of weight 0 left out."""
    values, labels = _finite(scores, ndim), np.asarray(y)
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
        raise ValueError("sample_weight must be finite and >= 0, and not all of it 0.")
    kept = weight > 0
    return values[kept], labels[kept].astype(np.intp), weight[kept]

"""How far predicted numbers are from the true ones, each measure with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t

from ...metrics import CONFIDENCE, Interval

__all__ = ["NumberScores", "number_scores", "one_prediction", "t_interval"]


@dataclass(frozen=True)
class NumberScores:
    """Errors of predictions f_i of y_i; intervals have 95 % confidence.

    Attributes
    ----------
    n_rows : int
    mae : float
        The mean of ``|y_i - f_i|``.
    rmse : float
        The root of the mean of ``(y_i - f_i)^2``.
    r2 : float or None
        1 minus the mean squared error over the variance of y; None where y is constant.
    mae_interval, rmse_interval, r2_interval : tuple of float, or None
        None for fewer than three rows.
    median_error : float
        The median of ``|y_i - f_i|``.
    bias : float
        The mean of ``f_i - y_i``.
    spread : float
        The mean of ``|y_i - m|`` with m the median of y: the error of the best constant.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.training import number_scores
    >>> number_scores(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 3.0])).median_error
    0.0
    """

    n_rows: int
    mae: float
    mae_interval: Interval | None
    rmse: float
    rmse_interval: Interval | None
    r2: float | None
    r2_interval: Interval | None
    median_error: float
    bias: float
    spread: float


def one_prediction(model: Any, X: Any) -> np.ndarray:
    """The predictions of a regressor; of several quantiles the one nearest to the median."""
    found = np.asarray(model.predict(X))
    if found.ndim == 1:
        return found
    quantiles = np.asarray(model.quantiles, dtype=np.float64)
    return np.asarray(found[:, int(np.argmin(np.abs(quantiles - 0.5)))])


def number_scores(y: np.ndarray, f: np.ndarray) -> NumberScores:
    """The errors of predictions, each with an interval from the variance of its influence function.

    With V the variance of y and E the mean of r_i^2, r = y - f, the influence of row i on the mean of |r| is
    |r_i|, on E it is r_i^2, and on R^2 = 1 - E / V it is (E (y_i - mean y)^2 / V - r_i^2) / V.
    """
    r = y - f
    scale = float(np.abs(r).max(initial=0.0)) or 1.0  # squares of large numbers do not overflow
    square, absolute = (r / scale) ** 2, np.abs(r / scale)
    mse = float(square.mean())
    width = float(np.abs(y - y.mean()).max(initial=0.0))
    r2, r2_interval = None, None
    if width > 0.0:
        deviation = ((y - y.mean()) / width) ** 2
        variance = float(deviation.mean())
        relative = mse * (scale / width) ** 2
        r2 = 1.0 - relative / variance
        influence = (relative * deviation / variance - (r / width) ** 2) / variance
        half = _half_width(influence)
        r2_interval = None if half is None else (r2 - half, min(r2 + half, 1.0))
    return NumberScores(
        n_rows=len(y),
        mae=scale * float(absolute.mean()),
        mae_interval=_scaled(t_interval(absolute), scale),
        rmse=scale * math.sqrt(mse),
        rmse_interval=_scaled(_rooted(t_interval(square)), scale),
        r2=r2,
        r2_interval=r2_interval,
        median_error=scale * float(np.median(absolute)),
        bias=float(-r.mean()),
        spread=float(np.abs(y - np.median(y)).mean()),
    )


def _rooted(interval: Interval | None) -> Interval | None:
    return None if interval is None else (math.sqrt(interval[0]), math.sqrt(interval[1]))


def _scaled(interval: Interval | None, scale: float) -> Interval | None:
    return None if interval is None else (scale * interval[0], scale * interval[1])


def t_interval(values: np.ndarray) -> Interval | None:
    """An interval for the mean of values that are not negative, by Student's t."""
    half, mean = _half_width(values), float(values.mean())
    return None if half is None else (max(mean - half, 0.0), mean + half)


def _half_width(values: np.ndarray) -> float | None:
    n = len(values)
    if n < 3:
        return None
    return float(t.ppf(0.5 + CONFIDENCE / 2.0, n - 1) * values.std(ddof=1) / math.sqrt(n))

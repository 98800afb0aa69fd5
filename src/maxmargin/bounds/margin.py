"""Bounds on the error from margins and a norm: empirical loss + complexity + confidence.

With probability 1 - delta, for all f with ||f|| <= r and |b| <= b0 at once,

    E loss <= mean loss + 2 (r sqrt(trace K) + b0 sqrt(n)) / n + 3 M sqrt(log(2/delta) / (2n)),

for a loss of the margin with slope at most 1 and values in [0, M]: the ramp min(1, max(0, 1 - m)) has M = 1,
the hinge M = 1 + r kappa + b0 where k(x, x) <= kappa^2. Radii found from the data are taken from the
grid 1, 2, 4, ..., where the j-th has delta / (j (j + 1)); these sum to delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..data import check_number
from .kinds import Bound, DoesNotApply, FloatArray, MarginSample, bound_of_terms, check_delta
from .rademacher import ball_complexity

__all__ = ["hinge_bound", "margin_bound", "scaled_margin_bound"]


class Ball(NamedTuple):
    """``{f + b: ||f|| <= radius, |b| <= shift}``; ``price`` is what choosing it adds to ``log(1/delta)``."""

    radius: float
    shift: float
    price: float


def grid_level(value: float) -> int:
    """The smallest j >= 1 with ``2^(j-1) >= value``."""
    level = 1 if value <= 1.0 else 1 + math.ceil(math.log2(value))
    return level + 1 if 2.0 ** (level - 1) < value else level


def ball_around(sample: MarginSample, radius: float | None) -> Ball:
    """The smallest ball of the grid with f + b in it, or that of a ``radius`` known before the sample."""
    price, shift = 0.0, 0.0
    if sample.intercept is not None:
        k = grid_level(abs(sample.intercept))
        price, shift = math.log(k * (k + 1)), 2.0 ** (k - 1)
    if radius is None:
        j = grid_level(sample.norm)
        return Ball(2.0 ** (j - 1), shift, price + math.log(j * (j + 1)))
    check_number("radius", radius, above=0.0)
    if sample.norm > radius:
        raise DoesNotApply(
            f"||f|| = {sample.norm:.4g} exceeds the radius {radius:.4g}: the fit stopped far from its "
            "optimum, or the radius belongs to another problem."
        )
    return Ball(float(radius), shift, price)


def ramp(margins: FloatArray) -> FloatArray:
    """``min(1, max(0, 1 - m))``."""
    return np.clip(1.0 - margins, 0.0, 1.0)


def complexity_terms(sample: MarginSample, ball: Ball) -> dict[str, float]:
    """Twice the Rademacher complexity of the ball, with the intercept's part as a separate term."""
    terms = {"complexity": 2.0 * ball_complexity(sample.trace, ball.radius, sample.n_samples)}
    if sample.intercept is not None:
        terms["intercept"] = 2.0 * ball_complexity(sample.own, ball.shift, sample.n_samples)
    return terms


def confidence(n_samples: int, delta: float, price: float) -> float:
    """``3 sqrt((log(2/delta) + price) / (2n))``."""
    return 3.0 * math.sqrt((math.log(2.0 / delta) + price) / (2.0 * n_samples))


def margin_bound(sample: MarginSample, delta: float = 0.05, *, radius: float | None = None) -> Bound:
    """The error is at most the mean ramp loss, plus complexity, plus confidence.

    Parameters
    ----------
    sample : MarginSample
    delta : float, default=0.05
    radius : float, optional
        A bound on ||f|| known before the sample, such as ``sqrt(2 n C)`` for an SVM with the hinge. By
        default the smallest of 1, 2, 4, ... that is at least ||f||; the j-th has ``delta / (j (j + 1))``.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, margin_bound
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> margin_bound(sample).vacuous
    True
    """
    check_delta(delta)
    ball = ball_around(sample, radius)
    terms = {"ramp loss": sample.mean(ramp(sample.margins)), **complexity_terms(sample, ball)}
    terms["confidence"] = confidence(sample.n_samples, delta, ball.price)
    return bound_of_terms("margin", terms, delta, sample.majority_error)


def scaled_margin_bound(sample: MarginSample, delta: float = 0.05) -> Bound:
    """The margin bound for the best multiple of f + b, which is the same classifier.

    Larger multiples have a smaller ramp loss and a larger complexity. All norms of the grid are tried, since
    the bound holds for all of them at once.

    Parameters
    ----------
    sample : MarginSample
    delta : float, default=0.05

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, scaled_margin_bound
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> scaled_margin_bound(sample).vacuous
    True
    """
    check_delta(delta)
    best = margin_bound(sample, delta)
    level = 1
    while sample.norm > 0.0 and level < 1000:
        factor = 2.0 ** (level - 1) / sample.norm * (1.0 - 1e-12)  # inside the ball, whatever rounding does
        shift = None if sample.intercept is None else factor * sample.intercept
        scaled = MarginSample(
            factor * sample.margins,
            sample.diagonal,
            factor * sample.norm,
            shift,
            sample.counts,
            sample.n_samples,
            sample.majority_error,
        )
        bound = margin_bound(scaled, delta)
        best = bound if bound.value < best.value else best
        if bound.terms["complexity"] >= best.value or sample.trace == 0.0:
            break
        level += 1
    return bound_of_terms("margin-scaled", dict(best.terms), delta, sample.majority_error)


def hinge_bound(
    sample: MarginSample, max_norm: float, delta: float = 0.05, *, radius: float | None = None
) -> Bound:
    """The hinge risk, and so the error, is at most the mean hinge loss, plus complexity, plus confidence.

    Parameters
    ----------
    sample : MarginSample
    max_norm : float
        An upper bound on ``sqrt(k(x, x))`` over all possible rows: 1 for an RBF kernel.
    delta : float, default=0.05
    radius : float, optional
        As in :func:`margin_bound`.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, hinge_bound
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> hinge_bound(sample, max_norm=4.0).vacuous
    True
    """
    check_delta(delta)
    check_max_norm(sample, max_norm)
    ball = ball_around(sample, radius)
    terms = {
        "hinge loss": sample.mean(np.maximum(0.0, 1.0 - sample.margins)),
        **complexity_terms(sample, ball),
    }
    largest = 1.0 + ball.radius * max_norm + ball.shift
    terms["confidence"] = largest * confidence(sample.n_samples, delta, ball.price)
    return bound_of_terms("hinge", terms, delta, sample.majority_error)


def check_max_norm(sample: MarginSample, max_norm: float) -> None:
    """Raise if the sample contradicts the bound on ``sqrt(k(x, x))``."""
    check_number("max_norm", max_norm, above=0.0)
    largest = math.sqrt(float(sample.diagonal.max()))
    if largest > max_norm * (1.0 + 1e-6):
        raise ValueError(
            f"max_norm={max_norm:g} must be at least sqrt(k(x, x)) of every row; the largest is {largest:g}."
        )

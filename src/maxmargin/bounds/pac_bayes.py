"""The PAC-Bayes margin bound: random Gaussian functions around the direction of f.

Let g be a random function with covariance k and mean mu f / ||f||. Its sign errs at (x, y) with probability
Phi(-mu y f(x) / (||f|| sqrt(k(x, x)))), and its distance from the prior, of mean 0, is mu^2 / 2. With
probability 1 - delta, for every mu at once,

    kl(q || p) <= (mu^2 / 2 + log(2 sqrt(n) / delta)) / n

where q is the mean of these probabilities on the sample and p their mean on new rows. Where f errs, at least
half of the functions g err too, so the error of f is at most 2 p.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from ..data import check_number
from .kinds import Bound, DoesNotApply, FloatArray, MarginSample, bound_of_terms, check_delta

__all__ = ["gibbs_bound", "kl", "kl_inverse", "pac_bayes_bound"]


def kl(q: float, p: float) -> float:
    """``q log(q/p) + (1-q) log((1-q)/(1-p))``, the relative entropy of two Bernoulli distributions.

    Parameters
    ----------
    q : float
        The probability of the first coin.
    p : float
        That of the second.

    Examples
    --------
    >>> from maxmargin.bounds import kl
    >>> round(kl(0.1, 0.5), 3)
    0.368
    """
    if (p <= 0.0 and q > 0.0) or (p >= 1.0 and q < 1.0):
        return math.inf
    left = q * math.log(q / p) if q > 0.0 else 0.0
    return left + ((1.0 - q) * math.log((1.0 - q) / (1.0 - p)) if q < 1.0 else 0.0)


def kl_inverse(q: float, limit: float) -> float:
    """The largest p in [q, 1] with ``kl(q, p) <= limit``, by Newton's method from above.

    kl is convex in p, so steps from a p above the root never pass it. Such a p follows from
    ``kl >= 2 (p - q)^2`` and from ``kl >= (1 - q) log(1 / (1 - p)) - log 2``.

    Parameters
    ----------
    q : float
        An observed share.
    limit : float
        Bound on ``kl(q, p)``.

    Examples
    --------
    >>> from maxmargin.bounds import kl, kl_inverse
    >>> p = kl_inverse(0.1, 0.05)
    >>> round(kl(0.1, p), 6)
    0.05
    """
    check_number("q", q, at_least=0.0)
    check_number("limit", limit, at_least=0.0)
    if q > 1.0:
        raise ValueError(f"q must be a probability; got {q!r}.")
    if q == 1.0:
        return 1.0
    p = min(q + math.sqrt(0.5 * limit), -math.expm1(-(limit + math.log(2.0)) / (1.0 - q)))
    for _ in range(200):
        if not q < p < 1.0:
            break
        step = (kl(q, p) - limit) * p * (1.0 - p) / (p - q)
        if not step > 1e-16 * p:
            break
        p -= step
    return min(max(p, q), 1.0)


def gibbs_bound(sample: MarginSample, delta: float = 0.05) -> Bound:
    """The error of the random classifier ``sign g``, whose mean is a multiple of f + b, is at most p.

    Parameters
    ----------
    sample : MarginSample
        An intercept is a coefficient of the constant 1: the kernel is then ``k + 1``.
    delta : float, default=0.05

    Returns
    -------
    Bound
        For the best mu; choosing it costs nothing, because the bound holds for all mu at once.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, gibbs_bound
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> gibbs_bound(sample).vacuous
    False
    """
    check_delta(delta)
    if sample.norm == 0.0 and not sample.intercept:
        raise DoesNotApply("f = 0 has no direction.")
    q, p = _best(sample, _cosines(sample), delta)
    terms = {"empirical Gibbs error": q, "complexity and confidence": p - q}
    return bound_of_terms(
        "pac-bayes-gibbs", terms, delta, sample.majority_error, of="error of the randomised classifier"
    )


def pac_bayes_bound(sample: MarginSample, delta: float = 0.05) -> Bound:
    """The error of ``sign(f + b)`` itself is at most twice that of :func:`gibbs_bound`.

    Parameters
    ----------
    sample, delta
        As in :func:`gibbs_bound`.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, pac_bayes_bound
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> pac_bayes_bound(sample).vacuous
    True
    """
    gibbs = gibbs_bound(sample, delta)
    terms = {f"twice the {term}": 2.0 * value for term, value in gibbs.terms.items()}
    return bound_of_terms("pac-bayes", terms, delta, sample.majority_error)


def _cosines(sample: MarginSample) -> FloatArray:
    """``y_i (f(x_i) + b) / (||(f, b)|| ||(x_i, 1)||)``, 0 for a row of length 0."""
    diagonal, norm = sample.diagonal, sample.norm
    if sample.intercept is not None:
        diagonal, norm = diagonal + 1.0, math.hypot(norm, sample.intercept)
    lengths = norm * np.sqrt(diagonal)
    return np.divide(sample.margins, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


def _best(sample: MarginSample, cosines: FloatArray, delta: float) -> tuple[float, float]:
    """q and p at the mu with the smallest p."""
    n = sample.n_samples
    price = math.log(2.0 * math.sqrt(n) / delta)

    def rates(log_mu: float) -> tuple[float, float]:
        mu = math.exp(log_mu)
        q = min(1.0, sample.mean(ndtr(-mu * cosines)))
        return q, kl_inverse(q, (0.5 * mu * mu + price) / n)

    value: Callable[[float], float] = lambda log_mu: rates(log_mu)[1]  # noqa: E731
    grid = np.linspace(math.log(0.1), math.log(2.0 * math.sqrt(n) + 1.0), 24)
    k = int(np.argmin([value(point) for point in grid]))
    around = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
    refined = float(minimize_scalar(value, bounds=around, method="bounded").x)
    return min(rates(refined), rates(float(grid[k])), key=lambda rate: rate[1])

"""The stability bound: leaving out one row changes f only a little, whichever row it is."""

from __future__ import annotations

import math

from ..data import check_number
from .kinds import Bound, DoesNotApply, MarginSample, bound_of_terms, check_delta
from .margin import check_max_norm, ramp

__all__ = ["stability_bound"]


def stability_bound(
    sample: MarginSample,
    cost: float,
    max_norm: float,
    delta: float = 0.05,
    *,
    slope: float = 1.0,
    excess: float = 0.0,
) -> Bound:
    """``e <= mean ramp + 2 s + (4 n s + 1) sqrt(log(1/delta) / (2n))``, ``s = slope * cost * max_norm^2``.

    It requires that f minimises ``1/2 ||f||^2 + cost sum_i loss(y_i f(x_i))``, without an intercept or with a
    penalised one. In the form ``mean loss + lambda/2 ||f||^2`` the cost is ``1 / (lambda n)``.

    Parameters
    ----------
    sample : MarginSample
    cost : float
        The largest cost of a row.
    max_norm : float
        An upper bound on ``sqrt(k(x, x))`` over all possible rows.
    delta : float, default=0.05
    slope : float, default=1.0
        The steepest slope of the loss: 1 for the hinge.
    excess : float, default=0.0
        An upper bound on the objective minus its minimum; f may be off by ``sqrt(2 excess)``.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, stability_bound
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> stability_bound(sample, cost=0.01, max_norm=3.0).vacuous
    True
    """
    check_delta(delta)
    check_number("cost", cost, above=0.0)
    check_number("slope", slope, above=0.0)
    check_number("excess", excess, at_least=0.0)
    check_max_norm(sample, max_norm)
    if sample.intercept is not None:
        raise DoesNotApply("the intercept is not penalised, so a single row may change it by any amount.")
    n, s = sample.n_samples, slope * cost * max_norm**2
    terms = {
        "ramp loss": sample.mean(ramp(sample.margins)),
        "stability": 2.0 * s,
        "confidence": (4.0 * n * s + 1.0) * math.sqrt(math.log(1.0 / delta) / (2.0 * n)),
        "optimisation": 2.0 * max_norm * math.sqrt(2.0 * excess),
    }
    return bound_of_terms("stability", terms, delta, sample.majority_error)

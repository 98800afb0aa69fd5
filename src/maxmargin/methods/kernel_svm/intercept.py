"""The optimal intercept b of an exact fit, given the residuals ``y_i - f(x_i)``.

This is the reference. A fit takes b from ``_native.svm_look`` (``cpp/maxmargin/solvers/svm_gap.cpp``), which
applies the same rule; a test compares the two.
"""

from __future__ import annotations

import numpy as np

from ...solving import FLOAT_EPS

__all__ = ["optimal_intercept"]


def optimal_intercept(
    r: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    sum_a: float,
    cost: np.ndarray | None = None,
    *,
    kink: float = 0.0,
    bounded: bool = False,
) -> float:
    """The b that minimises the duality gap of some samples; the midpoint if an interval does.

    ``r`` are the samples' residuals without b, ``bounds`` those of their dual coefficients, ``sum_a`` is the
    sum of these, and ``cost`` is given for squared losses. For all samples it is the b of least loss. As b
    grows, the derivative of the gap jumps by the upper bound where b passes r - kink, and by minus the lower
    bound where it passes r + kink; for squared losses its slope changes by the cost there.
    """
    lower, upper = bounds
    over, under = upper > 0.0, lower < 0.0
    if not (over | under).any():  # no loss depends on b
        return 0.0
    if cost is None:
        at = np.concatenate([(r - kink)[over], (r + kink)[under]])
        jump = np.concatenate([upper[over], -lower[under]])
        order = np.argsort(at, kind="stable")
        at, slope = at[order], np.cumsum(jump[order]) - upper[over].sum() + sum_a
        flat = 64.0 * FLOAT_EPS * jump.sum()
        first = min(int(np.searchsorted(slope, -flat)), len(at) - 1)
        last = min(int(np.searchsorted(slope, flat, side="right")), len(at) - 1)
        return float(0.5 * (at[first] + at[last]))
    ends, changes = [(r - kink)[over], (r + kink)[under]], [-cost[over], cost[under]]
    if bounded:
        ends += [(r - kink - upper / cost)[over], (r + kink - lower / cost)[under]]
        changes += [cost[over], -cost[under]]
        weight, moment = 0.0, float(upper[over].sum())
    else:
        weight, moment = float(cost[over].sum()), float((cost * (r - kink))[over].sum())
    at, change = np.concatenate(ends), np.concatenate(changes)
    order = np.argsort(at, kind="stable")
    at, change = at[order], change[order]
    weights, moments = weight + np.cumsum(change), moment + np.cumsum(change * at)
    k = int(np.searchsorted(weights * at - moments, -sum_a))
    before = max(k - 1, 0)
    bends = k > 0 and weights[before] > 0.0
    zero = (moments[before] - sum_a) / weights[before] if bends else at[before]
    return float(np.clip(zero, at[before], at[min(k, len(at) - 1)]))

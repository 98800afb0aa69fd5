"""The optimal intercept b of an exact fit, given the residuals ``y_i - f(x_i)``.

This is the reference. A fit takes b from ``_native.svm_look`` (``cpp/maxmargin/solvers/svm_gap.cpp``), which
applies the same rule; a test compares the two.
"""

from __future__ import annotations

import numpy as np

from ...solving import FLOAT_EPS

__all__ = ["optimal_intercept"]


def optimal_intercept(r: np.ndarray, y: np.ndarray, cost: np.ndarray, sum_a: float, squared: bool) -> float:
    """The b that minimises the duality gap of some samples; the midpoint if an interval does.

    ``r`` are the samples' residuals without b, ``sum_a`` is the sum of their dual coefficients. For all
    samples, whose coefficients sum to 0, it is the b of least loss. At every residual, the derivative of the
    gap with respect to b jumps by the cost (hinge), or its slope changes by the cost (squared hinge).
    """
    order = np.argsort(r, kind="stable")
    r, cost, positive = r[order], cost[order], y[order] > 0.0
    if squared:  # at r[k] the positive samples after k count, and the negative ones before it
        weight = np.cumsum(np.where(positive, -cost, cost)) + cost[positive].sum()
        moment = np.cumsum(np.where(positive, -cost, cost) * r) + (cost * r)[positive].sum()
        k = int(np.searchsorted(weight * r - moment, -sum_a))
        before = max(k - 1, 0)
        bends = k > 0 and weight[before] > 0.0
        return float((moment[before] - sum_a) / weight[before]) if bends else float(r[before])
    slope = np.cumsum(cost) - cost[positive].sum() + sum_a
    flat = 64.0 * FLOAT_EPS * cost.sum()
    first = min(int(np.searchsorted(slope, -flat)), len(r) - 1)
    last = min(int(np.searchsorted(slope, flat, side="right")), len(r) - 1)
    return float(0.5 * (r[first] + r[last]))

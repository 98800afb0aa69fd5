"""The one dual that the working-set method solves, whatever the loss, and its duality gap.

    max_a  sum_i a_i y_i - 1/2 a'(K + R) a - kink |a|_1    s.t.  sum_i a_i = m,  lower_i <= a_i <= upper_i

is the dual, with f(x) = sum_j a_j k(x, x_j), of

    min_{f,b}  1/2 ||f||^2 + sum_i loss_i(y_i - f(x_i) - b) + m b,
    loss_i(r) = max over lower_i <= a <= upper_i of  a r - kink |a| - R_ii a^2 / 2.

R = diag(1/c_i) for squared losses and 0 for others. The bounds of a squared loss count in it only where the
loss is ``bounded``: others are so wide that they only end a fit with an indefinite kernel. The gradient is
g = y - f - R a. The slope of a_i is g_i - kink where a_i grows from 0 or above, and g_i + kink where it falls
from 0 or below; without a kink it is g_i.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...kernels import KernelData
from ...solving import FLOAT_EPS

__all__ = ["BLOCKS_PER_PROBLEM", "BoxProblem"]

BLOCKS_PER_PROBLEM = 8  # the initial block size is an eighth of the samples


@dataclass(frozen=True)
class BoxProblem:
    """Kernel values, targets y, costs ``c_i > 0``, and the shape of the loss; a subclass has the bounds.

    Targets are of the size 1: margins by which samples are settled are relative to it. ``unit`` is the value
    of one unit of the objective in the problem as given.
    """

    kernel: KernelData
    y: np.ndarray
    cost: np.ndarray
    squared: bool = False
    kink: float = field(default=0.0, kw_only=True)
    bounded: bool = field(default=False, kw_only=True)
    sum_a: float = field(default=0.0, kw_only=True)
    unit: float = field(default=1.0, kw_only=True)

    @property
    def blocks(self) -> int:
        """How many blocks of the initial size a large problem has."""
        return BLOCKS_PER_PROBLEM

    @property
    def lower(self) -> np.ndarray:
        """The lower bound of each a_i, at most 0."""
        raise NotImplementedError

    @property
    def upper(self) -> np.ndarray:
        """The upper bound of each a_i, at least 0."""
        raise NotImplementedError

    @property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at f = 0 times the unit roundoff."""
        raise NotImplementedError

    @property
    def shape(self) -> dict[str, Any]:
        """What the core must know of the loss beyond the bounds."""
        return {"kink": self.kink, "bounded": self.bounded}

    @cached_property
    def ridge(self) -> np.ndarray:
        """The diagonal of R."""
        return 1.0 / self.cost if self.squared else np.zeros_like(self.cost)

    def in_double(self) -> Self:
        """The same problem with kernel values in double."""
        return replace(self, kernel=self.kernel.in_double())

    # ---- the kink ----

    def bend(self, a: np.ndarray, direction: float) -> np.ndarray | float:
        """The kink's part of the slopes where coefficients move up (1.0) or down (-1.0)."""
        if self.kink == 0.0:
            return 0.0
        return np.where(a * direction < 0.0, direction * self.kink, -direction * self.kink)

    def is_free(self, which: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Whether each sample is within its bounds and not at the kink."""
        inside = (a > self.lower[which]) & (a < self.upper[which])
        return inside & (a != 0.0) if self.kink > 0.0 else inside

    def piece(
        self, which: np.ndarray, a: np.ndarray, side: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds within which no coefficient changes its sign, and what is subtracted from g there.

        The sign of a coefficient of 0 is that of ``side``.
        """
        lower, upper, shift = self.lower[which], self.upper[which], np.zeros(len(a))
        if self.kink > 0.0:
            positive = np.where(a == 0.0, side, a) > 0.0
            lower, upper = np.where(positive, 0.0, lower), np.where(positive, upper, 0.0)
            shift = np.where(positive, self.kink, -self.kink)
        return lower, upper, shift

    # ---- the gap ----

    def dual(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> float:
        """The contribution of some samples to the dual value."""
        value = 0.5 * float(a @ (self.y[which] + g))
        return value - self.kink * float(np.abs(a).sum()) if self.kink > 0.0 else value

    def residuals(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> np.ndarray:
        """``y - f`` of some samples, from their coefficients and gradients."""
        return g + self.ridge[which] * a if self.squared else g

    def gap(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray, b: float) -> float:
        """The contribution of some samples to primal minus dual, a sum of non-negative terms."""
        return float(np.sum(self.terms(which, a, self.residuals(which, a, g) - b)))

    def terms(self, which: np.ndarray | slice, a: np.ndarray, r: np.ndarray) -> np.ndarray:
        """The terms of the gap, each convex in the sample's residual ``r = y - f - b``."""
        lower, upper, cost = self.lower[which], self.upper[which], self.cost[which]
        over = np.where(upper > 0.0, np.maximum(0.0, r - self.kink), 0.0)
        under = np.where(lower < 0.0, np.maximum(0.0, -r - self.kink), 0.0)
        rest = self.kink * np.abs(a)
        if not self.squared:
            return np.asarray(np.where(over > 0.0, upper * over, -lower * under) - a * r + rest)
        missing = np.maximum(over, under)
        loss = 0.5 * cost * missing**2
        if self.bounded:
            most = np.where(over > 0.0, upper, -lower)
            loss = np.where(missing * cost > most, most * (missing - 0.5 * most / cost), loss)
        return np.asarray(loss - a * r + 0.5 * a * a / cost + rest)

    def grown_terms(
        self, which: np.ndarray | slice, a: np.ndarray, r: np.ndarray, error: np.ndarray
    ) -> np.ndarray:
        """How much larger the terms can be if the residuals are off by at most ``error``."""
        ends = np.maximum(self.terms(which, a, r - error), self.terms(which, a, r + error))
        return np.asarray(ends - self.terms(which, a, r))

    def intercept(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> float:
        """The b that minimises the gap of some samples; see :func:`optimal_intercept`."""
        bounds = self.lower[which], self.upper[which]
        cost = self.cost[which] if self.squared else None
        return optimal_intercept(
            self.residuals(which, a, g), bounds, float(a.sum()), cost, kink=self.kink, bounded=self.bounded
        )

    def slopes(
        self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The slopes of the samples that may grow, and of those that may fall."""
        up, down = a < self.upper[which], a > self.lower[which]
        return (g + self.bend(a, 1.0))[up], (g + self.bend(a, -1.0))[down]

    def violation(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> float:
        """The largest difference of slopes of a sample that may grow and one that may fall."""
        up, down = self.slopes(which, a, g)
        return max(0.0, float(up.max() - down.min())) if len(up) and len(down) else 0.0


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

    This is the reference. A fit takes b from ``_native.svm_look`` (``cpp/maxmargin/solvers/svm_gap.cpp``),
    which applies the same rule; a test compares the two.

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

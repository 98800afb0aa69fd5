"""The soft-margin kernel SVM of one column, its dual and its duality gap.

    min_{f,b}  1/2 ||f||^2 + sum_i c_i loss(y_i (f(x_i) + b)),      f(x) = sum_j a_j k(x, x_j),

with the hinge or the squared hinge. Its dual, signed so that targets appear only in the bounds,

    max_a  sum_i a_i y_i - 1/2 a'(K + R) a    s.t.  sum_i a_i = 0,  lower_i <= a_i <= upper_i,

has a_i y_i in [0, c_i] and R = 0 for the hinge, a_i y_i >= 0 and R = diag(1/c_i) for the squared hinge. The
gradient is g = y - f - R a.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...kernels import KernelData
from ...solving import FLOAT_EPS, NOT_ROUNDING, is_indefinite, most_important
from .intercept import optimal_intercept


@dataclass(frozen=True)
class SvmProblem:
    """Kernel values, targets in {-1.0, +1.0} and costs ``c_i > 0``."""

    kernel: KernelData
    y: np.ndarray
    cost: np.ndarray
    squared: bool = False

    @cached_property
    def largest(self) -> np.ndarray:
        """The largest value of each a_i y_i.

        For the squared hinge this is twice the largest possible value at an optimum, where
        c_i (a_i / c_i)^2 / 2 is at most the objective at f = 0. It only bounds the solution for indefinite
        kernels.
        """
        return 2.0 * np.sqrt(self.cost) * np.sqrt(self.total) if self.squared else self.cost

    @cached_property
    def total(self) -> float:
        """The sum of the costs, added one by one as the core adds them."""
        return float(np.cumsum(self.cost)[-1]) if len(self.cost) else 0.0

    @cached_property
    def lower(self) -> np.ndarray:
        """The lower bound of each a_i."""
        return np.where(self.y < 0.0, -self.largest, 0.0)

    @cached_property
    def upper(self) -> np.ndarray:
        """The upper bound of each a_i."""
        return np.where(self.y > 0.0, self.largest, 0.0)

    @cached_property
    def ridge(self) -> np.ndarray:
        """The diagonal of R."""
        return 1.0 / self.cost if self.squared else np.zeros_like(self.cost)

    @property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at f = 0 times the unit roundoff."""
        return self.total * (0.5 if self.squared else 1.0) * FLOAT_EPS

    def in_double(self) -> SvmProblem:
        """The same problem with kernel values in double."""
        return replace(self, kernel=self.kernel.in_double())

    def dual(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> float:
        """The contribution of some samples to the dual value."""
        return 0.5 * float(a @ (self.y[which] + g))

    def residuals(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> np.ndarray:
        """``y - f`` of some samples, from their coefficients and gradients."""
        return g + self.ridge[which] * a if self.squared else g

    def gap(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray, b: float) -> float:
        """The contribution of some samples to primal minus dual, a sum of non-negative terms."""
        return float(np.sum(self.terms(which, a, self.residuals(which, a, g) - b)))

    def terms(self, which: np.ndarray | slice, a: np.ndarray, r: np.ndarray) -> np.ndarray:
        """The terms of the gap, each convex in the sample's residual ``r = y - f - b``."""
        y, cost = self.y[which], self.cost[which]
        missing = np.maximum(0.0, y * r)
        if self.squared:
            return np.asarray(0.5 * cost * missing**2 - a * r + 0.5 * a * a / cost)
        return np.asarray(cost * missing - a * r)

    def grown_terms(
        self, which: np.ndarray | slice, a: np.ndarray, r: np.ndarray, error: np.ndarray
    ) -> np.ndarray:
        """How much larger the terms can be if the residuals are off by at most ``error``."""
        ends = np.maximum(self.terms(which, a, r - error), self.terms(which, a, r + error))
        return np.asarray(ends - self.terms(which, a, r))

    def intercept(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> float:
        """The b that minimises the gap of some samples; see :func:`optimal_intercept`."""
        residuals = self.residuals(which, a, g)
        return optimal_intercept(residuals, self.y[which], self.cost[which], float(a.sum()), self.squared)

    def violation(self, which: np.ndarray | slice, a: np.ndarray, g: np.ndarray) -> float:
        """The largest ``g_i - g_j`` over i whose a may grow and j whose a may fall."""
        up, down = g[a < self.upper[which]], g[a > self.lower[which]]
        return max(0.0, float(up.max() - down.min())) if len(up) and len(down) else 0.0


def balanced(problem: SvmProblem, a: np.ndarray) -> np.ndarray:
    """Coefficients within the bounds that sum to 0: the larger side is reduced, free ones first.

    Coefficients at a bound stay there as far as possible; scaling the whole side would make all of them free.
    """
    a = np.clip(a, problem.lower, problem.upper)
    sign = 1.0 if a.sum() > 0.0 else -1.0
    excess = abs(float(a.sum()))
    bound = np.where(a > 0.0, problem.upper, problem.lower)
    heavier = np.flatnonzero(a * sign > 0.0)
    order = heavier[np.argsort(a[heavier] == bound[heavier], kind="stable")]  # free ones first
    size = np.abs(a[order])
    before = np.cumsum(size) - size
    a[order] = sign * (size - np.clip(excess - before, 0.0, size))
    return a


def refuted_by(
    problem: SvmProblem, a: np.ndarray, g: np.ndarray, among: Callable[[np.ndarray], np.ndarray]
) -> bool:
    """Whether ||f||^2, or the rows with the largest coefficients, prove the kernel indefinite.

    ``among(rows)`` returns the kernel values between rows.
    """
    if problem.kernel.kernel.positive or not np.isfinite(g).all():
        return False
    sqnorm = float(a @ (problem.y - problem.residuals(slice(None), a, g)))
    if sqnorm < -NOT_ROUNDING * problem.cost.sum():
        return True
    return is_indefinite(among(most_important(np.abs(a))), balanced=True)

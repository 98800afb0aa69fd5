"""The soft-margin kernel SVM of one column, its dual and its duality gap.

    min_{f,b}  1/2 ||f||^2 + sum_i c_i loss(y_i (f(x_i) + b)),      f(x) = sum_j a_j k(x, x_j),

with the hinge or the squared hinge. Its dual, signed so that targets appear only in the bounds,

    max_a  sum_i a_i y_i - 1/2 a'(K + R) a    s.t.  sum_i a_i = 0,  lower_i <= a_i <= upper_i,

has a_i y_i in [0, c_i] and R = 0 for the hinge, a_i y_i >= 0 and R = diag(1/c_i) for the squared hinge. The
gradient is g = y - f - R a. It is one of the problems of ``box_problem.py``, which has the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...kernels import KernelData
from ...solving import FLOAT_EPS, NOT_ROUNDING, SolverResult, Status, is_indefinite, most_important
from .box_problem import BLOCKS_PER_PROBLEM, BoxProblem, optimal_intercept

__all__ = [
    "BLOCKS_PER_PROBLEM",
    "BoxProblem",
    "SvmProblem",
    "balanced",
    "best_finite_point",
    "best_margin",
    "refuted_by",
]


@dataclass(frozen=True)
class SvmProblem(BoxProblem):
    """Kernel values, targets in {-1.0, +1.0} and costs ``c_i > 0``."""

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

    @property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at f = 0 times the unit roundoff."""
        return self.total * (0.5 if self.squared else 1.0) * FLOAT_EPS


def balanced(problem: BoxProblem, a: np.ndarray) -> np.ndarray:
    """Coefficients within the bounds with the problem's sum: the larger side is reduced, free ones first.

    Coefficients at a bound stay there as far as possible; scaling the whole side would make all of them free.
    """
    a = np.clip(a, problem.lower, problem.upper)
    sum_a = float(a.sum()) - problem.sum_a
    sign = 1.0 if sum_a > 0.0 else -1.0
    excess = abs(sum_a)
    bound = np.where(a > 0.0, problem.upper, problem.lower)
    heavier = np.flatnonzero(a * sign > 0.0)
    order = heavier[np.argsort(a[heavier] == bound[heavier], kind="stable")]  # free ones first
    size = np.abs(a[order])
    before = np.cumsum(size) - size
    a[order] = sign * (size - np.clip(excess - before, 0.0, size))
    return a


def best_margin(f: np.ndarray, y: np.ndarray, weight: np.ndarray, nu: float) -> tuple[float, float, float]:
    """The largest ``nu rho - sum_i weight_i max(0, rho - y_i (f_i + b))``, and the rho and b where it is.

    With u = rho - b and w = rho + b it is the sum of a function of u over one class and of w over the other.
    """
    gain, ends = 0.0, []
    for side in (1.0, -1.0):
        outputs, share = side * f[y == side], weight[y == side]
        above = max(0.0, float(share.sum()) - 0.5 * nu)
        end = optimal_intercept(outputs, (np.zeros(len(share)), share), above)
        gain += 0.5 * nu * end - float(share @ np.maximum(0.0, end - outputs))
        ends.append(end)
    return gain, 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])


def refuted_by(
    problem: BoxProblem, a: np.ndarray, g: np.ndarray, among: Callable[[np.ndarray], np.ndarray]
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


def best_finite_point(kernel: KernelData, result: SolverResult) -> SolverResult:
    """The result; zero coefficients, where it began, if it did not converge and outputs may overflow.

    ``kernel`` has the precision of the rows, in which outputs are computed.
    """
    if result.status is Status.CONVERGED or not np.isfinite(result.coef).all():
        return result
    lengths = kernel.lengths(np.arange(len(kernel)))
    with np.errstate(over="ignore"):
        largest = float(np.abs(result.coef) @ lengths) * float(lengths.max(initial=0.0))
    if largest <= float(np.finfo(kernel.dtype).max):
        return result
    last = result.history[-1]
    history = (*result.history[:-1], replace(last, primal=last.at_zeros, n_support=0))
    return replace(result, coef=np.zeros_like(result.coef), intercept=0.0, history=history)

"""The one-class SVM as a problem of the working-set method.

    min_{f,rho}  1/2 ||f||^2 + sum_i c_i max(0, rho - f(x_i)) - rho,    c_i = s_i / (nu sum_j s_j),

has the dual  max_a -1/2 a'K a  s.t.  0 <= a_i <= c_i,  sum_i a_i = 1: that of ``kernel_svm/box_problem.py``
with y = 0 and b = -rho. Its solution for the bounds t c_i and the sum t is t times the solution, and its
value t^2 times the value; t is a power of 2 at which outputs are of the size 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...data import check_weights
from ...kernels import KernelData
from ..kernel_svm import BoxProblem

__all__ = ["OneClassProblem", "first_point", "one_class_problem"]

N_ROWS_FOR_UNIT = 256
BLOCKS_OF_ONE_CLASS = 40
NEGLIGIBLE = 1e-9  # of the largest objective
LARGEST_EXPONENT = 200
SMALLEST_NU = 1e-100  # costs are weights divided by nu


@dataclass(frozen=True)
class OneClassProblem(BoxProblem):
    """Kernel values and bounds."""

    @property
    def blocks(self) -> int:
        """Few rows change: most of those that ever have a coefficient are at their bounds from the start."""
        return BLOCKS_OF_ONE_CLASS

    @cached_property
    def lower(self) -> np.ndarray:
        """0."""
        return np.zeros(len(self.cost))

    @property
    def upper(self) -> np.ndarray:
        """The bound of each a_i."""
        return self.cost

    @cached_property
    def tiny(self) -> float:
        """What counts as zero among objective values, relative to the largest that ||f||^2 / 2 can be.

        The optimum is 0 where the origin lies among the rows, as it may with a linear kernel.
        """
        longest = float(self.kernel.lengths(np.arange(len(self.cost))).max()) or 1.0  # all rows at the origin
        return 0.5 * NEGLIGIBLE * (self.sum_a * longest) ** 2 if math.isfinite(longest) else 0.0


def one_class_problem(kernel: KernelData, weight: np.ndarray, nu: float) -> OneClassProblem:
    """The problem for rows with these weights, in units in which outputs are of the size 1."""
    check_weights(weight)
    t = _unit(kernel)
    upper = t * weight / (nu * weight.sum())
    return OneClassProblem(kernel, np.zeros(len(weight)), upper, sum_a=t, unit=1.0 / (t * t))


def _unit(kernel: KernelData) -> float:
    """A power of 2 near one over the mean kernel value of some rows, or near one over k(x, x)."""
    rows = np.arange(min(len(kernel), N_ROWS_FOR_UNIT))
    K = kernel.between(rows, rows).astype(np.float64)
    for size in (float(K.mean()), float(np.abs(K.diagonal()).mean())):
        if 0.0 < size < math.inf:
            return float(2.0 ** -max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, round(math.log2(size)))))
    return 1.0


def first_point(problem: OneClassProblem) -> np.ndarray:
    """The first rows at their bounds, and one between them, so that the sum is right.

    Canonical rows are in an order that has nothing to do with their position, so these are a random sample.
    """
    before = np.cumsum(problem.upper) - problem.upper
    a = np.clip(problem.sum_a - before, 0.0, problem.upper)
    last = int(np.flatnonzero(a)[-1])
    a[last] = min(a[last] + problem.sum_a - float(a.sum()), float(problem.upper[last]))
    return a

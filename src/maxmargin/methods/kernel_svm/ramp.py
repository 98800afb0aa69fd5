"""The ramp loss for one column of an exact kernel SVM: convex steps, each an SVM with its certificate.

A step sets rows with a margin below -1 aside and solves the SVM of the others, from the coefficients of the
step before. The ramp objective 1/2 ||f||^2 + sum_i c_i min(max(0, 1 - m_i), 2) does not rise, and a row set
aside can return. The steps end where the set no longer changes: the point is stationary, and its bounds are
those of the last convex step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...losses import Ramp
from ...solving import SolverResult, Status
from .box_problem import BoxProblem
from .columns import PairKernel
from .problem import SvmProblem, balanced

__all__ = ["by_convex_steps", "outputs_of", "with_outputs"]

MAX_CONVEX_STEPS = 30


def by_convex_steps(
    solve: Callable[[SvmProblem, np.ndarray], SolverResult], problem: SvmProblem, convex: SolverResult
) -> SolverResult:
    """From the solution with the hinge to a stationary point; ``solve(part, a)`` starts at coefficients a."""
    found, (value, kept) = convex, _value_and_rows(problem, convex)
    last = np.ones(len(kept), dtype=bool)
    for _ in range(MAX_CONVEX_STEPS):
        if found.status is not Status.CONVERGED or np.array_equal(kept, last):  # one stopped is resumed there
            break
        rows = np.flatnonzero(kept)
        part = solve(_part(problem, rows), found.coef[rows])
        coef = np.zeros(len(kept))
        coef[rows] = part.coef
        step = replace(part, coef=coef)
        new_value, again = _value_and_rows(problem, step)
        if new_value > value and step.status is Status.CONVERGED:  # no further than the tolerance of a step
            break
        found, value, last, kept = step, new_value, kept, again
    return found


def _part(problem: SvmProblem, rows: np.ndarray) -> SvmProblem:
    whole = (
        {"blocks": None} if isinstance(problem.kernel, PairKernel) else {}
    )  # they hold every row of a class
    kernel = problem.kernel.take(rows, **whole)
    return SvmProblem(kernel, problem.y[rows], problem.cost[rows], problem.squared)


def _value_and_rows(problem: SvmProblem, found: SolverResult) -> tuple[float, np.ndarray]:
    """The ramp objective at a point, and the rows with a margin of at least -1 there."""
    loss, f = Ramp(), outputs_of(problem, found.coef)
    outputs = f + found.intercept
    value = 0.5 * float(found.coef @ f) + float(problem.cost @ loss.value(problem.y * outputs))
    return value, loss.kept(outputs, problem.y)


def with_outputs(problem: SvmProblem, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Feasible coefficients near a, and their outputs: a start that can be resumed to the same bits."""
    a = balanced(problem, a)
    return a, outputs_of(problem, a)


def outputs_of(problem: BoxProblem, a: np.ndarray) -> np.ndarray:
    """``K a``."""
    support = np.flatnonzero(a)
    if not len(support):
        return np.zeros(len(a))
    return problem.kernel.matmul(np.arange(len(a)), support, np.ascontiguousarray(a[support, None]))[:, 0]

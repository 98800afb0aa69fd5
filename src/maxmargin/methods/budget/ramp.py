"""The ramp loss for a fixed set of support vectors: convex steps, each with its certificate.

A step sets rows with a margin below -1 aside, column by column, and refits the others with the hinge. The
constant 2 majorises the loss of the rows set aside and touches it, so the ramp objective

    sum_i c_i min(max(0, 1 - y_i f_i), 2) + alpha/2 ||v||^2

does not rise. A row set aside can return. The steps end where the set no longer changes: the point is
stationary, and the bounds are those of its last convex step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...losses import Ramp
from .problem import BudgetProblem, BudgetResult
from .reduced_newton import ReducedProblem, Refit

MAX_CONVEX_STEPS = 30
ROWS_PER_BLOCK = 8192  # of kernel values


def by_convex_steps(
    solve: Callable[[ReducedProblem, np.ndarray], Refit], problem: ReducedProblem, V: np.ndarray
) -> Refit:
    """Minimise the ramp objective from V, a solution with the hinge; ``solve`` refits a convex problem."""
    kept = _kept(problem, problem.panel.dot(V) if len(V) else np.zeros(problem.targets.shape))
    fitted = solve(_without(problem, ~kept), V)
    value = ramp_objective(problem, fitted)
    for _ in range(MAX_CONVEX_STEPS):
        again = _kept(problem, fitted.F)
        if np.array_equal(again, kept):
            break
        step = solve(_without(problem, ~again), fitted.V)
        if ramp_objective(problem, step) > value:  # no further than the tolerance of a step
            break
        kept, fitted, value = again, step, ramp_objective(problem, step)
    return fitted


def _kept(problem: ReducedProblem, F: np.ndarray) -> np.ndarray:
    taking_part = np.where(problem.cost > 0.0, problem.targets, 0.0)
    return Ramp().kept(F, taking_part)


def _without(problem: ReducedProblem, aside: np.ndarray) -> ReducedProblem:
    return replace(problem, cost=np.where(aside, 0.0, problem.cost))


def ramp_objective(problem: ReducedProblem, fitted: Refit) -> float:
    """The value that the steps minimise, over all columns."""
    losses = problem.losses(Ramp(), fitted.F)
    return float(losses.sum() + 0.5 * problem.alpha * np.square(fitted.V).sum())


def kept_rows(problem: BudgetProblem, result: BudgetResult, n_trained: int) -> np.ndarray:
    """Which of the first ``n_trained`` rows a fit keeps in each column; True for the others."""
    points = problem.kernel.points(result.support) if result.points is None else result.points
    kept = np.ones(problem.targets.shape, dtype=bool)
    F = np.zeros((n_trained, problem.n_columns))
    for first in range(0, n_trained, ROWS_PER_BLOCK):
        some = slice(first, min(n_trained, first + ROWS_PER_BLOCK))
        F[some] = problem.kernel.block(some, points).astype(np.float64) @ result.coef
    kept[:n_trained] = Ramp().kept(F, problem.targets[:n_trained].astype(np.float64))
    return kept

"""The log loss by the Newton iteration of `newton.py`: shares in (0, 1), searches on a smooth function.

The shares are u_i = 1 / (1 + exp(m_i)), the slopes at the margins, which are dual feasible once the intercept
balances them. The intercept, and the length of a step, are roots of increasing functions of one number, found
by Newton's method inside a bracket.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...solving import FLOAT_EPS, Callback, SolverResult, State, Stop
from .newton import Direction, NewtonIteration, exact_direction, newton
from .problem import MarginProblem

__all__ = ["LogIteration", "log_newton"]

SLOPE_SHARE = 0.1  # of the slope at 0 that a step length may leave
MIN_CURVATURE = 1e-30  # relative to the largest one; less is 0
MAX_SEARCH_STEPS = 100


def log_newton(
    problem: MarginProblem,
    *,
    stop: Stop,
    state: State | None = None,
    callback: Callback | None = None,
    direction: Direction = exact_direction,
) -> SolverResult:
    """Minimise a ``MarginProblem`` with the log loss to ``stop.tol``."""
    return newton(
        problem, stop=stop, state=state, callback=callback, direction=direction, iterate=LogIteration
    )


class LogIteration(NewtonIteration):
    """One Newton step at a time; there are no rounds."""

    @property
    def max_share(self) -> float:
        """The largest share of a sample."""
        return 1.0

    def _shares(self, shortfall: np.ndarray) -> np.ndarray:
        return np.asarray(-self.problem.loss.slope(1.0 - shortfall))

    def curvature(self, shares: np.ndarray) -> np.ndarray:
        """The second derivative of each sample's term."""
        found = self.problem.cost * shares * (1.0 - shares)
        found[found < MIN_CURVATURE * found.max(initial=0.0)] = 0.0
        return found

    def _best_intercept(self, middle: bool) -> float:
        y, cost, scores = self.problem.y, self.problem.cost, self.state.scores

        def slope(b: float) -> tuple[float, float]:
            weighted = cost * (u := self._shares(1.0 - y * (scores + b)))
            return -float(weighted @ y), float(weighted @ (1.0 - u))

        return root(slope, float(self.state.b[0]), FLOAT_EPS * float(cost.sum()))

    def _step_length(self, along: np.ndarray, linear: float, quadratic: float) -> float:
        y, cost = self.problem.y, self.problem.cost

        def slope(t: float) -> tuple[float, float]:
            weighted = cost * (u := self._shares(self.shortfall - t * y * along)) * along
            curvature = float((weighted * (1.0 - u)) @ along)
            return linear + quadratic * t - float(weighted @ y), quadratic + curvature

        return root(slope, 1.0, SLOPE_SHARE * abs(slope(0.0)[0]))


def root(function: Callable[[float], tuple[float, float]], t: float, enough: float) -> float:
    """A t where an increasing function, given with its derivative, is at most ``enough`` from 0."""
    low, high = -np.inf, np.inf
    for _ in range(MAX_SEARCH_STEPS):
        value, derivative = function(t)
        if abs(value) <= enough:
            break
        low, high = (low, t) if value > 0.0 else (t, high)
        step = -value / derivative if derivative > 0.0 else np.inf
        limit = 10.0 * (1.0 + abs(t))
        there = t + float(np.clip(step, -limit, limit)) if np.isfinite(step) else t - np.sign(value) * limit
        if there != t and not low < there < high:
            there = 0.5 * (low + high)  # finite: a step away from the only end is inside
        if there == t:
            break
        t = there
    return t

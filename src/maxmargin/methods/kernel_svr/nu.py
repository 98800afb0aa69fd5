"""nu instead of epsilon (Schoelkopf et al. 2000): the width of the tube is a variable that costs nu.

    min_{f,b,epsilon}  1/2 ||f||^2 + C sum_i s_i max(0, |r_i| - epsilon) + C nu S epsilon,    S = sum_i s_i,

is the minimum over epsilon >= 0 of the optimum V(epsilon) of ``KernelSVR``, which is convex, plus a linear
term. Coefficients a that are feasible for one epsilon are so for all, thus

    V(epsilon) >= y'a - 1/2 a'K a - epsilon |a|_1,

a line whose slope the search for the multiplier needs. Each fit starts from the coefficients and the kernel
rows of the last one: gradients do not depend on epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ...numerics import LowerLine, MultiplierSearch
from ...solving import Callback, SolverResult, State, Stop
from ..kernel_svm import BoxProblem, NuPoint, NuSearch, start
from .problem import RegressionProblem

__all__ = ["solve_nu"]

KEPT = ("a", "g", "active", "seen", "path", "double", "snapshots", "reference", "row_path")


@dataclass
class TubeSearch(NuSearch):
    """The width of the tube; ``problem`` has no kink, and ``cost_of_width`` is C nu S."""

    problem: RegressionProblem = field(kw_only=True)
    cost_of_width: float = field(kw_only=True)

    name = "epsilon"

    def __post_init__(self) -> None:
        """The widest tube has all targets within it, and needs no coefficients."""
        low, high = float(self.problem.y.min()), float(self.problem.y.max())
        widest, total = 0.5 * (high - low), float(self.problem.cost.sum())
        self.unit, self.tiny = self.problem.unit, self.problem.tiny
        self.search = MultiplierSearch((0.0, self.cost_of_width - total), (widest, self.cost_of_width))
        self.search.add(self.line(widest, 0.0, 0.0, 0.0))
        zeros = np.zeros(len(self.problem.y))
        self.keep(NuPoint(self.search.found[-1].value, widest, zeros, 0.5 * (low + high)))

    def at(self, m: float) -> RegressionProblem:
        """The problem with a tube of this width."""
        return replace(self.problem, kink=m)

    def moved(self, state: State, before: BoxProblem, after: BoxProblem, tol: float) -> State:
        """The state after a change of the kink: coefficients and gradients remain."""
        new = start(after, tol, False)
        new.update({name: state[name] for name in KEPT})
        dual = state.dual + (before.kink - after.kink) * float(np.abs(state.a).sum())
        new.update(dual=dual, covered=False)
        return new

    def value(self, m: float, primal: float) -> float:
        """The tube costs its width."""
        return primal + self.cost_of_width * m

    def line(self, m: float, size: float, primal: float, dual: float) -> LowerLine:
        """The dual value of the same coefficients, as a function of the width."""
        return LowerLine(m, self.value(m, primal), self.cost_of_width - size, dual + m * size)

    def unknown(self, m: float) -> LowerLine:
        """Losses are not negative."""
        return LowerLine(m, math.inf, self.cost_of_width, 0.0)


def solve_nu(
    problem: RegressionProblem,
    cost_of_width: float,
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool,
    callback: Callback | None,
) -> tuple[SolverResult, float]:
    """The solution and its epsilon; ``cost_of_width`` is C nu S."""
    tube = TubeSearch(
        stop,
        cache_bytes,
        shrinking,
        callback,
        problem=replace(problem, kink=0.0),
        cost_of_width=cost_of_width,
    )
    if not problem.y.any():  # then no tube is needed, and no bracket has a point inside
        tube.search.add(tube.evaluate(0.0))
        tube.enough(tube.search)
    else:
        tube.search.run(tube.evaluate, tube.enough)
    return tube.found()

"""nu instead of epsilon (Schoelkopf et al. 2000): the width of the tube is a variable that costs nu.

    min_{f,b,epsilon}  1/2 ||f||^2 + C sum_i s_i max(0, |r_i| - epsilon) + C nu S epsilon,    S = sum_i s_i,

is the minimum over epsilon >= 0 of the optimum V(epsilon) of ``KernelSVR``, which is convex, plus a linear
term. Coefficients a that are feasible for one epsilon are so for all, thus

    V(epsilon) >= y'a - 1/2 a'K a - epsilon |a|_1,

a line whose slope the search for the multiplier needs. Each fit starts from the coefficients and the kernel
rows of the last one: gradients do not depend on epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...numerics import LowerLine, MultiplierSearch
from ...solving import Callback, Check, SolverResult, State, Status, Stop, relative_gap
from ..kernel_svm import Solve, solved, start
from .problem import RegressionProblem

__all__ = ["solve_nu"]

MAX_FITS = 60
TOL_PER_TOL = 0.1  # tolerance of a fit at one epsilon


@dataclass
class TubeSearch:
    """The fits so far of a problem without a kink, and the certificates of the whole search."""

    problem: RegressionProblem
    cost_of_width: float
    stop: Stop
    cache_bytes: int
    shrinking: bool
    callback: Callback | None

    def __post_init__(self) -> None:
        self.solve: Solve | None = None
        self.results: dict[float, SolverResult] = {}
        self.history: list[Check] = []
        self.status: Status | None = None
        largest = float(np.abs(self.problem.y).max())
        total = float(self.problem.cost.sum())
        self.search = MultiplierSearch((0.0, self.cost_of_width - total), (largest, self.cost_of_width))

    def evaluate(self, epsilon: float) -> LowerLine:
        """The fit at one epsilon."""
        at = replace(self.problem, kink=epsilon)
        limits = replace(self.stop, tol=TOL_PER_TOL * self.stop.tol, journal=None)
        if self.solve is None:
            state = start(at, limits.tol, self.shrinking)
            self.solve = Solve(at, self.cache_bytes, limits, self.shrinking, state)
        else:
            before = self.solve.problem.kink
            self.solve.go_on(at, _at_kink(self.solve.state, before, at, limits.tol), limits)
        found = solved(self.solve, limits)
        self.results[epsilon] = found
        size, last = float(np.abs(found.coef).sum()), found.history[-1]
        primal, dual = last.primal / at.unit, last.dual / at.unit
        return LowerLine(
            epsilon, primal + self.cost_of_width * epsilon, self.cost_of_width - size, dual + epsilon * size
        )

    def enough(self, search: MultiplierSearch) -> bool:
        """Store a certificate; True if no further fit is due."""
        best, found = search.best, self.results[search.found[-1].m]
        unit, last = self.problem.unit, found.history[-1]
        assert best is not None
        assert self.solve is not None
        before = self.history[-1] if self.history else replace(last, n_iter=0, seconds=0.0)
        check = replace(
            last,
            n_iter=before.n_iter + last.n_iter,
            seconds=before.seconds + last.seconds,
            primal=best.value * unit,
            dual=search.lower * unit,
            tiny=self.problem.tiny * unit,
        )
        self.history.append(check)
        stopped = self.callback is not None and bool(self.callback(check, self.solve.state))
        if relative_gap(check.primal, check.dual, check.tiny) <= self.stop.tol:
            self.status = Status.CONVERGED
        elif stopped:
            self.status = Status.STOPPED
        elif last.dual == -np.inf:  # the kernel is indefinite
            self.status = Status.STALLED
        elif found.status not in (Status.CONVERGED, Status.STALLED):
            self.status = found.status
        elif len(search.found) >= MAX_FITS:
            self.status = Status.STALLED
        return self.status is not None


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
    problem = replace(problem, kink=0.0)
    tube = TubeSearch(problem, cost_of_width, stop, cache_bytes, shrinking, callback)
    if not problem.y.any():  # then no tube is needed, and no bracket has a point inside
        tube.search.add(tube.evaluate(0.0))
        tube.enough(tube.search)
    else:
        tube.search.run(tube.evaluate, tube.enough)
    best = tube.search.best
    assert best is not None
    status = tube.status or Status.STALLED
    return replace(tube.results[best.m], status=status, history=tuple(tube.history)), best.m


def _at_kink(state: State, before: float, problem: RegressionProblem, tol: float) -> State:
    """The state after a change of the kink: coefficients and gradients remain."""
    new = start(problem, tol, False)
    new.update({name: state[name] for name in KEPT})
    new.update(dual=state.dual + (before - problem.kink) * float(np.abs(state.a).sum()), covered=False)
    return new


KEPT = ("a", "g", "active", "seen", "path", "double", "snapshots", "reference", "row_path")

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
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...numerics import LowerLine, MultiplierSearch
from ...solving import Callback, Check, SolverResult, State, Status, Stop, relative_gap
from ..kernel_svm import Solve, solved, start
from .problem import RegressionProblem

__all__ = ["solve_nu"]

MAX_FITS = 60
MAX_DIVERGED_FITS = 3  # of one search
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
        self.before: Check | None = None  # the last certificate of the fits before the current one
        low, high = float(self.problem.y.min()), float(self.problem.y.max())
        widest, total = 0.5 * (high - low), float(self.problem.cost.sum())
        self.search = MultiplierSearch((0.0, self.cost_of_width - total), (widest, self.cost_of_width))
        value = self.cost_of_width * widest  # of a = 0, with all targets within the tube
        self.search.add(LowerLine(widest, value, self.cost_of_width, 0.0))
        zeros = np.zeros(len(self.problem.y))
        self.results[widest] = SolverResult(zeros, 0.5 * (low + high), Status.CONVERGED, ())

    def evaluate(self, epsilon: float) -> LowerLine:
        """The fit at one epsilon."""
        at = replace(self.problem, kink=epsilon)
        limits = self.stop.part(f"epsilon-{len(self.results)}")
        self.before = self.history[-1] if self.history else None
        limits = replace(limits, tol=TOL_PER_TOL * self.stop.tol)
        stored = limits.resumed(None)
        if self.solve is None or stored is not None:
            state = stored or start(at, limits.tol, self.shrinking)
            self.solve = Solve(at, self.cache_bytes, limits, self.shrinking, state)
        else:
            before = self.solve.problem.kink
            self.solve.go_on(at, _at_kink(self.solve.state, before, at, limits.tol), limits)
        found = solved(self.solve, limits, None if self.callback is None else partial(self._tell, epsilon))
        self.results[epsilon] = found
        self.history += [self._in_all(check, self._best(epsilon, check)) for check in found.history]
        if (
            found.status is Status.DIVERGED and found.history[-1].dual > -np.inf
        ):  # all that is known is that losses are not negative
            return LowerLine(epsilon, math.inf, self.cost_of_width, 0.0)
        size, last = float(np.abs(found.coef).sum()), found.history[-1]
        primal, dual = last.primal / at.unit, last.dual / at.unit
        return LowerLine(
            epsilon, primal + self.cost_of_width * epsilon, self.cost_of_width - size, dual + epsilon * size
        )

    def _best(self, epsilon: float, check: Check) -> float:
        """The least objective of the whole search at a certificate of the fit at one epsilon."""
        width, known = self.cost_of_width * epsilon * self.problem.unit, self.search.best
        return min(check.primal + width, math.inf if known is None else known.value * self.problem.unit)

    def _in_all(self, check: Check, primal: float) -> Check:
        """A certificate of the whole search, from one of the current fit."""
        unit = self.problem.unit
        n_iter, seconds = (self.before.n_iter, self.before.seconds) if self.before else (0, 0.0)
        return replace(
            check,
            n_iter=check.n_iter + n_iter,
            seconds=check.seconds + seconds,
            primal=primal,
            dual=self.search.lower * unit,
            tiny=self.problem.tiny * unit,
        )

    def _tell(self, epsilon: float, check: Check, state: State) -> bool:
        """Call the callback with a certificate of a fit."""
        assert self.callback is not None
        return bool(self.callback(self._in_all(check, self._best(epsilon, check)), state))

    def enough(self, search: MultiplierSearch) -> bool:
        """Store a certificate; True if no further fit is due."""
        best, found = search.best, self.results[search.found[-1].m]
        unit, last = self.problem.unit, found.history[-1]
        assert best is not None
        assert self.solve is not None
        if found.status is Status.STOPPED:  # what the callback saw last is the end
            self.status = found.status
            return True
        check = self._in_all(last, best.value * unit)
        if last.dual == -np.inf:  # the kernel is indefinite, and no fit has a bound
            check = replace(check, dual=-np.inf)
        self.history.append(check)
        stopped = self.callback is not None and bool(self.callback(check, self.solve.state))
        if relative_gap(check.primal, check.dual, check.tiny) <= self.stop.tol:
            self.status = Status.CONVERGED
        elif stopped:
            self.status = Status.STOPPED
        elif last.dual == -np.inf:
            self.status = Status.STALLED
        elif found.status is Status.DIVERGED:
            self.status = found.status if self._n_diverged() >= MAX_DIVERGED_FITS else None
        elif found.status not in (Status.CONVERGED, Status.STALLED):
            self.status = found.status
        elif len(search.found) >= MAX_FITS:
            self.status = Status.STALLED
        return self.status is not None

    def _n_diverged(self) -> int:
        return sum(found.status is Status.DIVERGED for found in self.results.values())


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

"""nu instead of C (Schoelkopf et al. 2000): the margin rho is a variable that earns nu.

With weights s_i and their sum S,

    min_{f,b,rho}  1/2 ||f||^2 - nu rho + 1/S sum_i s_i max(0, rho - y_i (f(x_i) + b)),    rho >= 0,

has the dual

    max_a  -1/2 a'K a    s.t.  sum_i a_i = 0,  0 <= a_i y_i <= s_i / S,  sum_i |a_i| >= nu.

The primal is the minimum over rho of a convex function, h(rho). For one rho it is, divided by rho^2, the
problem of ``KernelSVC`` with C = 1 / (rho S), whose solution is f / rho: margins are 1 again. If p bounds its
value from above, and coefficients a with the dual value d bound it from below, then

    h(rho) <= rho^2 p - nu rho,        h(x) >= (rho |a|_1 - nu) x - rho^2 (|a|_1 - d)    for all x >= 0:

rho a is feasible for any margin x. That is the line which the search for the multiplier needs. Numbers below
are those of rho S and f S, in which the costs for rho are s_i / rho.

``NuSearch`` is what such a search has in common with that for the tube of ``KernelSVR``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ...codes import Code
from ...numerics import LowerLine, MultiplierSearch
from ...solving import (
    FLOAT_EPS,
    Callback,
    Check,
    SolverResult,
    State,
    Status,
    Stop,
    relative_gap,
)
from .box_problem import BoxProblem
from .path import moved
from .problem import SvmProblem
from .solve import Solve, solved
from .working_set import start

__all__ = ["NuResult", "NuSearch", "check_feasible", "solve_margin"]

MAX_FITS = 60
MAX_DIVERGED_FITS = 3  # of one search
TOL_PER_TOL = 0.1  # tolerance of a fit, relative to what its error may add to the gap of the search
LEAST_TOL = 1e-12  # of a fit
NEGLIGIBLE = 1e-10  # of the largest that ||f||^2 / 2 can be
SLACK = 1e-12  # of the largest feasible nu, a quotient of sums
N_ROWS_FOR_MARGIN = 256  # of each class, for the first margin


@dataclass
class NuSearch(ABC):
    """The fits so far, one for each value m of a variable, and the certificates of the whole search."""

    stop: Stop
    cache_bytes: int
    shrinking: bool
    callback: Callback | None
    memory: np.ndarray | None = None
    solve: Solve | None = field(default=None, init=False)
    results: dict[float, SolverResult] = field(default_factory=dict, init=False)
    history: list[Check] = field(default_factory=list, init=False)
    status: Status | None = field(default=None, init=False)
    before: Check | None = field(default=None, init=False)  # the last one of the fits before the current one

    search: MultiplierSearch = field(init=False)
    unit: float = field(init=False)  # the value of one unit of the search's objective in the problem as given
    tiny: float = field(init=False)  # what counts as zero among its values

    name = ""  # of the variable

    @abstractmethod
    def at(self, m: float) -> BoxProblem:
        """The problem for one value of the variable."""

    @abstractmethod
    def moved(self, state: State, before: BoxProblem, after: BoxProblem, tol: float) -> State:
        """The state after a change of the problem."""

    @abstractmethod
    def value(self, m: float, primal: float) -> float:
        """The objective of the search, from that of the fit, both in their own units."""

    @abstractmethod
    def line(self, m: float, size: float, primal: float, dual: float) -> LowerLine:
        """What a fit proves, from its bounds and ``|a|_1``."""

    @abstractmethod
    def unknown(self, m: float) -> LowerLine:
        """What is known where a fit has diverged: the line of zero coefficients."""

    def tol(self, m: float) -> float:
        """The tolerance of a fit: a value of this size may be off by so much."""
        return TOL_PER_TOL * self.stop.tol

    def evaluate(self, m: float) -> LowerLine:
        """The fit at one value of the variable."""
        at, limits = self.at(m), self.stop.part(f"{self.name}-{len(self.results)}")
        self.before = self.history[-1] if self.history else None
        limits = replace(limits, tol=self.tol(m))
        stored = limits.resumed(None)
        if self.solve is None or stored is not None:
            state = stored or start(at, limits.tol, self.shrinking)
            self.solve = Solve(at, self.cache_bytes, limits, self.shrinking, state, self.memory)
        else:
            state = self.moved(self.solve.state, self.solve.problem, at, limits.tol)
            self.solve.go_on(at, state, limits)
        found = solved(self.solve, limits, None if self.callback is None else partial(self._tell, m))
        self.results[m] = found
        self.history += [self._in_all(check, self._best(m, check)) for check in found.history]
        last = found.history[-1]
        if found.status is Status.DIVERGED and last.dual > -np.inf:
            return self.unknown(m)
        size, dual = float(np.abs(found.coef).sum()), last.dual / at.unit
        return self.line(m, size, last.primal / at.unit, dual if size > 0.0 else min(dual, 0.0))

    def _best(self, m: float, check: Check) -> float:
        """The least objective of the whole search at a certificate of the fit at one value."""
        own, known = self.value(m, check.primal / self.at(m).unit), self.search.best
        return self.unit * min(own, math.inf if known is None else known.value)

    def _in_all(self, check: Check, primal: float) -> Check:
        """A certificate of the whole search, from one of the current fit."""
        n_iter, seconds = (self.before.n_iter, self.before.seconds) if self.before else (0, 0.0)
        return replace(
            check,
            n_iter=check.n_iter + n_iter,
            seconds=check.seconds + seconds,
            primal=primal,
            dual=self.search.lower * self.unit,
            tiny=self.tiny * self.unit,
        )

    def _tell(self, m: float, check: Check, state: State) -> bool:
        """Call the callback with a certificate of a fit."""
        assert self.callback is not None
        return bool(self.callback(self._in_all(check, self._best(m, check)), state))

    def enough(self, search: MultiplierSearch) -> bool:
        """Store a certificate; True if no further fit is due."""
        best, found = search.best, self.results[search.found[-1].m]
        last = found.history[-1]
        assert best is not None
        assert self.solve is not None
        if found.status is Status.STOPPED:  # what the callback saw last is the end
            self.status = found.status
            return True
        check = self._in_all(last, best.value * self.unit)
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

    def found(self) -> tuple[SolverResult, float]:
        """The best fit with the history of the whole search, and its value of the variable."""
        best = self.search.best
        assert best is not None
        status = self.status or Status.STALLED
        return replace(self.results[best.m], status=status, history=tuple(self.history)), best.m


@dataclass(frozen=True)
class NuResult(SolverResult):
    """The solution of :class:`KernelSVC` for the C that nu leads to; 0 for zero coefficients."""

    C: float = 0.0


@dataclass
class MarginSearch(NuSearch):
    """The margin rho S of a column; ``problem`` has the weights as its costs."""

    problem: SvmProblem = field(kw_only=True)
    nu: float = field(kw_only=True)

    name = "rho"

    def __post_init__(self) -> None:
        """The lines of zero coefficients, and of all of the lighter class at their bounds."""
        weight, y = self.problem.cost, self.problem.y
        self.total = float(weight.sum())
        self.earned = self.nu * self.total
        sides = float(weight[y > 0.0].sum()), float(weight[y < 0.0].sum())
        lengths = self.problem.kernel.lengths(np.arange(len(y)))
        self.longest = float(lengths.max()) or 1.0
        self.unit = 1.0 / self.total**2
        self.tiny = 0.5 * NEGLIGIBLE * (self.earned * self.longest) ** 2
        most = 2.0 * min(sides)
        widest, rise = most * self.longest**2, max(0.0, most - self.earned)
        self.search = MultiplierSearch((0.0, -self.earned), (widest, rise))
        self.search.add(LowerLine(widest, math.inf, rise, -0.5 * (most * self.longest) ** 2))
        self.search.add(LowerLine(0.0, 0.0, -self.earned, 0.0))
        self.results[0.0] = SolverResult(np.zeros(len(y)), 0.0, Status.CONVERGED, ())

    def at(self, m: float) -> SvmProblem:
        """The problem of the C of this margin."""
        return replace(self.problem, cost=self.problem.cost / m)

    def moved(self, state: State, before: BoxProblem, after: BoxProblem, tol: float) -> State:
        """The state on the path of C."""
        return moved(state, before, after, float(after.cost[0] / before.cost[0]), tol)

    def value(self, m: float, primal: float) -> float:
        """``m^2 primal - nu S m``."""
        return m * m * primal - self.earned * m

    def line(self, m: float, size: float, primal: float, dual: float) -> LowerLine:
        """Where all of the lighter class is at its bounds, sums differ from nu by their rounding."""
        slope = m * size - self.earned
        if abs(slope) <= 64.0 * FLOAT_EPS * self.earned:
            slope = 0.0
        return LowerLine(m, self.value(m, primal), slope, m * m * (dual - size))

    def unknown(self, m: float) -> LowerLine:
        """The margins of zero coefficients cost at most what they earn."""
        return LowerLine(m, math.inf, -self.earned, 0.0)

    def tol(self, m: float) -> float:
        """What the margin earns and the losses cost nearly cancel, so their errors count for more."""
        best = self.search.best
        if best is None or best.m == 0.0:
            return super().tol(m)
        share = -best.value / (best.value + self.earned * best.m)  # of the objective of the fit
        return max(LEAST_TOL, min(1.0, share) * super().tol(m))

    def first(self) -> float:
        """The margin if the reduced hulls of the classes were as far apart as their means are."""
        y = self.problem.y
        rows = np.concatenate([np.flatnonzero(y * side > 0.0)[:N_ROWS_FOR_MARGIN] for side in (1.0, -1.0)])
        v = self.problem.cost[rows] * y[rows]
        v = np.where(v > 0.0, v / v[v > 0.0].sum(), v / -v[v < 0.0].sum())
        distance = float(v @ self.problem.kernel.between(rows, rows).astype(np.float64) @ v)
        if not 0.0 < distance < math.inf:
            distance = self.longest**2
        return min(0.25 * self.earned * distance, 0.5 * self.search.high[0])

    def run(self) -> NuResult:
        """The fits, from that at the first margin."""
        self.search.add(self.evaluate(self.first()))
        if not self.enough(self.search):
            self.search.run(self.evaluate, self.enough)
        found, m = self.found()
        return NuResult(
            found.coef, found.intercept, found.status, found.history, C=1.0 / m if m > 0.0 else 0.0
        )

    def enough(self, search: MultiplierSearch) -> bool:
        """Store a certificate; raise if it proves that zero coefficients are optimal."""
        if search.lower >= -self.tiny:
            self._refuse()
        return super().enough(search)

    def _refuse(self) -> None:
        least = self.nu + min(line.slope for line in self.search.found if line.slope > 0.0) / self.total
        raise ValueError(
            f"nu={self.nu:g} is infeasible: the classes overlap so much with this kernel that no margin is "
            f"left, and zero coefficients are optimal. Set nu to {least:.3g} or more, or take another kernel."
        )


def solve_margin(
    problem: SvmProblem,
    nu: float,
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool,
    callback: Callback | None,
    memory: np.ndarray | None = None,
) -> NuResult:
    """The solution of one column, whose costs are the weights."""
    return MarginSearch(stop, cache_bytes, shrinking, callback, memory, problem=problem, nu=nu).run()


def check_feasible(nu: float, code: Code, labels: np.ndarray, weight: np.ndarray) -> None:
    """Raise unless each column of the code has enough weight on both of its sides."""
    largest = []
    for t in range(code.n_columns):
        which, targets = code.column(labels, t)
        sides = [float(weight[which[targets * side > 0.0]].sum()) for side in (1.0, -1.0)]
        largest.append(2.0 * min(sides) / sum(sides))
    t = int(np.argmin(largest))
    if nu > largest[t] * (1.0 + SLACK):
        raise ValueError(
            f"nu={nu:g} is infeasible: in column {t} of the code, the lighter side has "
            f"{0.5 * largest[t]:.3g} of the weight, which allows nu up to {largest[t]:.6g}. Lower nu, or "
            "balance the classes, for example with class_weight='balanced'."
        )

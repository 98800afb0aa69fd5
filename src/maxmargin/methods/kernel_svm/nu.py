"""nu instead of C (Schoelkopf et al. 2000): the margin rho is a variable that earns nu.

With weights s_i whose sum is 1,

    min_{f,b,rho}  1/2 ||f||^2 - nu rho + sum_i s_i max(0, rho - y_i (f(x_i) + b)),    rho >= 0,

has the dual

    max_a  -1/2 a'K a    s.t.  sum_i a_i = 0,  0 <= a_i y_i <= s_i,  sum_i |a_i| >= nu.

The primal is the minimum over rho of a convex function, h(rho). For one rho it is, divided by rho^2, the
problem of ``KernelSVC`` with C = 1 / rho, whose solution is f / rho: margins are 1 again. If p bounds its
value from above, and coefficients a with the dual value d bound it from below, then

    h(rho) <= rho^2 p - nu rho,        h(x) >= (rho |a|_1 - nu) x - rho^2 (|a|_1 - d)    for all x >= 0:

rho a is feasible for any margin x. That is the line which the search for the multiplier needs.

A fit that was cut still has a good direction. For a given f, the b, the rho and the multiple t of all three
with the least objective have a closed form: with u = rho - b and w = rho + b,

    v = max_{u,w}  nu (u + w) / 2 - sum_{y_i > 0} s_i max(0, u - f_i) - sum_{y_i < 0} s_i max(0, w + f_i)

is attained at the quantiles of f_i and -f_i with the weight nu / 2 below them, and t^2 ||f||^2 / 2 - t v is
least at t = v / ||f||^2, where it is -v^2 / (2 ||f||^2), if v > 0; then rho > 0, since v <= nu rho.

``NuSearch`` is what such a search has in common with that for the tube of ``KernelSVR``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

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
    until_cut,
)
from .box_problem import BoxProblem
from .path import moved
from .problem import SvmProblem, best_margin
from .solve import Solve, solved
from .working_set import start

__all__ = ["NuPoint", "NuResult", "NuSearch", "solve_margin"]

MAX_FITS = 60
MAX_DIVERGED_FITS = 3  # of one search
TOL_PER_TOL = 0.1  # tolerance of a fit, relative to what its error may add to the gap of the search
LEAST_TOL = 1e-12  # of a fit
NEGLIGIBLE = 1e-10  # of the largest that ||f||^2 / 2 can be, for coefficients that sum to 0
LEAST_STEP = 1e-3  # of nu, from an infeasible one to the next that is named
N_ROWS_FOR_MARGIN = 256  # of each class, for the first margin


@dataclass(frozen=True)
class NuPoint:
    """Coefficients, the variable's value there, and the objective of the search."""

    value: float
    m: float
    coef: np.ndarray
    intercept: float


@dataclass
class NuSearch(ABC):
    """The fits so far, one for each value m of a variable, and the certificates of the whole search."""

    stop: Stop
    cache_bytes: int
    shrinking: bool
    callback: Callback | None
    memory: np.ndarray | None = None
    solve: Solve | None = field(default=None, init=False)
    best: NuPoint | None = field(default=None, init=False)
    last: SolverResult | None = field(default=None, init=False)
    last_m: float = field(default=0.0, init=False)
    n_fits: int = field(default=0, init=False)
    n_diverged: int = field(default=0, init=False)
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
        at, limits = self.at(m), self.stop.part(f"{self.name}-{self.n_fits}")
        self.before = self.history[-1] if self.history else None
        limits = replace(limits, tol=self.tol(m), max_iter=max(1, self._rounds_left()))
        stored = limits.resumed(None)
        if self.solve is None or stored is not None:
            state = stored or start(at, limits.tol, self.shrinking)
            self.solve = Solve(at, self.cache_bytes, limits, self.shrinking, state, self.memory)
        else:
            state = self.moved(self.solve.state, self.solve.problem, at, limits.tol)
            self.solve.go_on(at, state, limits)
        found = solved(self.solve, limits, None if self.callback is None else partial(self._tell, m))
        self.last, self.last_m, self.n_fits = found, m, self.n_fits + 1
        self.n_diverged += found.status is Status.DIVERGED
        self.history += [self._in_all(check, self._best(m, check)) for check in found.history]
        last = found.history[-1]
        point = self.point(m, found)
        self.keep(point)
        if found.status is Status.DIVERGED and last.dual > -np.inf:
            return replace(self.unknown(m), value=point.value)
        size, dual = float(np.abs(found.coef).sum()), last.dual / at.unit
        line = self.line(m, size, last.primal / at.unit, dual if size > 0.0 else min(dual, 0.0))
        return replace(line, value=point.value)

    def point(self, m: float, found: SolverResult) -> NuPoint:
        """What a fit has found; one that has diverged has nothing."""
        last = found.history[-1]
        lost = found.status is Status.DIVERGED and last.dual > -np.inf
        value = math.inf if lost else self.value(m, last.primal / self.at(m).unit)
        return NuPoint(value, m, found.coef, found.intercept)

    def keep(self, point: NuPoint) -> None:
        """Remember the best point."""
        if self.best is None or point.value < self.best.value:
            self.best = point

    def _rounds_left(self) -> int:
        return self.stop.max_iter - (self.history[-1].n_iter if self.history else 0)

    def _best(self, m: float, check: Check) -> float:
        """The least objective of the whole search at a certificate of the fit at one value."""
        own, known = self.value(m, check.primal / self.at(m).unit), self.search.best
        return self.unit * min(own, math.inf if known is None else known.value)

    def _in_all(self, check: Check, primal: float) -> Check:
        """A certificate of the whole search, from one of the current fit."""
        n_iter, seconds = (self.before.n_iter, self.before.seconds) if self.before else (0, 0.0)
        lower = self.search.lower * self.unit
        crossed = max(0.0, lower - primal)  # by what rounding does to both bounds
        return replace(
            check,
            n_iter=check.n_iter + n_iter,
            seconds=check.seconds + seconds,
            primal=primal,
            dual=lower - 2.0 * crossed,
            tiny=self.tiny * self.unit,
        )

    def _tell(self, m: float, check: Check, state: State) -> bool:
        """Call the callback with a certificate of a fit."""
        assert self.callback is not None
        return bool(self.callback(self._in_all(check, self._best(m, check)), state))

    def enough(self, search: MultiplierSearch) -> bool:
        """Store a certificate; True if no further fit is due."""
        best, found = self.best, self.last
        assert best is not None
        assert found is not None
        assert self.solve is not None
        last = found.history[-1]
        check = self._in_all(last, best.value * self.unit)
        if last.dual == -np.inf:  # the kernel is indefinite, and no fit has a bound
            check = replace(check, dual=-np.inf)
        if found.status is Status.STOPPED:  # the callback has seen this point, and may know it as a worse one
            if check.primal < self.history[-1].primal:
                self.history.append(check)
            self.status = found.status
            return True
        self.history.append(check)
        stopped = self.callback is not None and bool(self.callback(check, self.solve.state))
        if relative_gap(check.primal, check.dual, check.tiny) <= self.stop.tol:
            self.status = Status.CONVERGED
        elif stopped:
            self.status = Status.STOPPED
        elif last.dual == -np.inf:
            self.status = Status.STALLED
        elif self._rounds_left() <= 0:
            self.status = Status.MAX_ITER
        elif found.status is Status.DIVERGED:
            self.status = found.status if self.n_diverged >= MAX_DIVERGED_FITS else None
        elif found.status not in (Status.CONVERGED, Status.STALLED):
            self.status = found.status
        elif self.n_fits >= MAX_FITS:
            self.status = Status.STALLED
        return self.status is not None

    def found(self) -> tuple[SolverResult, float]:
        """The best point with the history of the whole search, and its value of the variable."""
        assert self.best is not None
        status = self.status or Status.STALLED
        result = SolverResult(self.best.coef, self.best.intercept, status, tuple(self.history))
        return result, self.best.m


@dataclass(frozen=True)
class NuResult(SolverResult):
    """The solution of :class:`KernelSVC` for the C that nu leads to; 0 for zero coefficients."""

    C: float = 0.0


@dataclass
class MarginSearch(NuSearch):
    """The margin rho of a column; the costs of ``problem`` are its weights, whose sum is 1."""

    problem: SvmProblem = field(kw_only=True)
    nu: float = field(kw_only=True)
    column: str = field(kw_only=True)  # in words

    name = "rho"

    def __post_init__(self) -> None:
        """The lines of zero coefficients, and of all of the lighter class at their bounds."""
        weight, y, kernel = self.problem.cost, self.problem.y, self.problem.kernel
        rows = np.arange(len(y))
        lengths = kernel.lengths(rows)
        self.longest = float(lengths.max()) or 1.0
        first = rows[y > 0.0][:1]  # the same row in any order of the classes
        across = kernel.between(rows, first)[:, 0].astype(np.float64)
        squares = np.abs(lengths**2 - 2.0 * across + lengths[first] ** 2)
        rounding = 8.0 * float(np.finfo(kernel.dtype).eps) * self.longest**2
        self.radius = math.sqrt(float(squares.max()) + rounding)  # coefficients sum to 0: no shift counts
        least = max(NEGLIGIBLE * self.radius**2, 8.0 * FLOAT_EPS * self.longest**2)
        self.unit, self.tiny = 1.0, 0.5 * self.nu**2 * least
        self.most = 2.0 * min(float(weight[y > 0.0].sum()), float(weight[y < 0.0].sum()))
        widest, rise = self.most * self.radius**2, max(0.0, self.most - self.nu)
        self.search = MultiplierSearch((0.0, -self.nu), (widest, rise))
        self.search.add(LowerLine(widest, math.inf, rise, -0.5 * (self.most * self.radius) ** 2))
        self.search.add(LowerLine(0.0, 0.0, -self.nu, 0.0))
        self.keep(NuPoint(0.0, 0.0, np.zeros(len(y)), 0.0))

    def at(self, m: float) -> SvmProblem:
        """The problem of the C of this margin."""
        return replace(self.problem, cost=self.problem.cost / m)

    def moved(self, state: State, before: BoxProblem, after: BoxProblem, tol: float) -> State:
        """The state on the path of C."""
        return moved(state, before, after, float(after.cost[0] / before.cost[0]), tol)

    def value(self, m: float, primal: float) -> float:
        """``m^2 primal - nu m``."""
        return m * m * primal - self.nu * m

    def line(self, m: float, size: float, primal: float, dual: float) -> LowerLine:
        """Where all of the lighter class is at its bounds, sums differ from nu by their rounding."""
        slope = m * size - self.nu
        if abs(slope) <= 64.0 * FLOAT_EPS * self.nu:
            slope = 0.0
        return LowerLine(m, self.value(m, primal), slope, m * m * (dual - size))

    def unknown(self, m: float) -> LowerLine:
        """The margins of zero coefficients cost at most what they earn."""
        return LowerLine(m, math.inf, -self.nu, 0.0)

    def tol(self, m: float) -> float:
        """What the margin earns and the losses cost nearly cancel, so their errors count for more."""
        best = self.best
        if best is None or best.m == 0.0:
            return super().tol(m)
        share = -best.value / (best.value + self.nu * best.m)  # of the objective of the fit
        return max(LEAST_TOL, min(1.0, share) * super().tol(m))

    def first(self) -> float:
        """The margin if the reduced hulls of the classes were as far apart as their means are."""
        y = self.problem.y
        rows = np.concatenate([np.flatnonzero(y * side > 0.0)[:N_ROWS_FOR_MARGIN] for side in (1.0, -1.0)])
        v = self.problem.cost[rows] * y[rows]
        v = np.where(v > 0.0, v / v[v > 0.0].sum(), v / -v[v < 0.0].sum())
        distance = float(v @ self.problem.kernel.between(rows, rows).astype(np.float64) @ v)
        if not 0.0 < distance < math.inf:
            distance = self.radius**2
        return min(0.25 * self.nu * distance, 0.5 * self.search.high[0])

    def run(self) -> tuple[SolverResult, float]:
        """The fits, from that at the first margin."""
        self.search.add(self.evaluate(self.first()))
        if not self.enough(self.search):
            self.search.run(self.evaluate, self.enough)
        return self.found()

    def enough(self, search: MultiplierSearch) -> bool:
        """Store a certificate; raise if it proves that zero coefficients are optimal."""
        if search.lower >= -self.tiny:
            self._refuse()
        return super().enough(search)

    def _refuse(self) -> None:
        """The lines hold for any nu: its slopes are smaller for a larger one."""
        proven = self.nu + max(0.0, self.search.spare_slope(self.tiny))
        least = max(proven, self.nu * (1.0 + LEAST_STEP))
        if least >= self.most * (1.0 - LEAST_STEP):
            advice = "No nu is feasible with this kernel: take another kernel or gamma, or C instead of nu."
        else:
            size = 10.0 ** (math.floor(math.log10(least)) - 2)
            named = min(math.ceil(least / size) * size, self.most * (1.0 - 0.5 * LEAST_STEP))
            advice = (
                f"Only more than {proven:.6g} can be feasible, and up to {self.most:.6g}: set nu to "
                f"{named:.4g} or more, or take another kernel."
            )
        raise ValueError(
            f"nu={self.nu:g} is infeasible for {self.column}: the classes overlap so much with this kernel "
            f"that no margin is left, and zero coefficients are optimal. {advice}"
        )

    def found(self) -> tuple[SolverResult, float]:
        """The best point; the last fit where all that was found before the end is worse than zeros."""
        result, m = super().found()
        last = self.last
        if m > 0.0 or last is None or not last.coef.any() or not np.isfinite(last.coef).all():
            return result, m
        value = self.value(self.last_m, last.history[-1].primal)
        history = (*result.history, replace(result.history[-1], primal=value))
        return replace(result, coef=last.coef, intercept=last.intercept, history=history), self.last_m

    def point(self, m: float, found: SolverResult) -> NuPoint:
        """The best multiple of the fit, with the best margin and intercept, or the fit itself."""
        own = super().point(m, found)
        assert self.solve is not None
        sets, state = self.solve.sets, self.solve.state
        with until_cut(self.stop.deadline):
            sets.evaluate_all()
        known = isinstance(sets.fresh(), slice) and np.isfinite(found.history[-1].primal)
        if not (known and found.coef.any() and np.isfinite(state.g).all() and np.isfinite(state.a).all()):
            return own
        best = self._best_multiple(m, state.a, self.problem.y - state.g)
        better = best is not None and best.value + self.stop.tol * abs(best.value) < own.value
        return best if best is not None and better else own  # which is within the bounds of the dual

    def _best_multiple(self, m: float, a: np.ndarray, f: np.ndarray) -> NuPoint | None:
        """The best point with these outputs but for a factor; None if all are worse than zeros."""
        gain, rho, b = best_margin(f, self.problem.y, self.problem.cost, self.nu)
        assert self.solve is not None
        size, norm = float(np.abs(a).sum()), float(a @ f)
        error = float(np.finfo(self.solve.problem.kernel.dtype).eps) * size * self.longest**2
        if not (gain > error and rho > 0.0):
            return None
        if norm > 0.0:  # multiples of what may be rounding are smaller
            m = (gain - error) / (norm + error * size)
        elif self.problem.kernel.kernel.positive:
            return None
        return NuPoint(m * (0.5 * m * norm - gain), m * rho, a / rho, b / rho)


def solve_margin(
    problem: SvmProblem,
    nu: float,
    *,
    column: str,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool,
    callback: Callback | None,
    memory: np.ndarray | None = None,
) -> NuResult:
    """The solution of one column, whose costs are the weights: only their ratios count."""
    total = problem.total
    shares = replace(problem, cost=problem.cost / total)
    search = MarginSearch(
        stop, cache_bytes, shrinking, callback, memory, problem=shares, nu=nu, column=column
    )
    found, m = search.run()
    C = 1.0 / (m * total) if m * total > 0.0 else 0.0
    return NuResult(found.coef, found.intercept, found.status, found.history, C=C)

"""The all-pairs M-SVM: sweeps over the samples, then working sets of pairs.

A sweep takes an exact step for the pairs of each sample in turn, on an augmented Lagrangian of the equations
whose multipliers are the intercepts; after each group of sweeps the point is made feasible. Once sweeps get
slow, or from the start if there are few pairs, working sets are solved by an interior-point method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ... import _native
from ..._native import one_blas_thread
from ...solving import FLOAT_EPS, Callback, Certificate, SolverResult, State, Stop, certified, drive
from .box_qp import BoxQP, Solution, interior_point
from .problem import AllPairsPoint, AllPairsProblem

MAX_PAIRS_WITHOUT_SWEEPS = 600  # so few pairs are one working set from the start
MAX_WORKING_SET_PAIRS = 1500
SWEEPS_PER_UPDATE = 5  # of the multipliers
UPDATES_PER_CERTIFICATE = 2  # of the multipliers
SLOW_GAP_RATIO = 0.7  # a round that leaves more than this share of the gap is slow
MAX_SLOW_ROUNDS = 3  # groups of sweeps before a working set, and working sets before the solver gives up
BOUND_TOLERANCES = (1e-2, 1e-5, 1e-9)  # how close a pair must be to a bound to be placed there


@dataclass(frozen=True)
class AllPairsResult(SolverResult):
    """``coef`` is B, (n_samples, n_classes), and each class has an intercept."""

    intercepts: np.ndarray = None  # type: ignore[assignment]


def all_pairs(
    problem: AllPairsProblem,
    *,
    stop: Stop,
    seed: int = 0,
    state: State | None = None,
    callback: Callback | None = None,
) -> AllPairsResult:
    """Solve an ``AllPairsProblem`` to ``stop.tol``."""
    with one_blas_thread():
        descent = Descent(problem, stop, stop.resumed(state) or _start(problem, seed))
        status, history = drive(descent.state, descent.step, descent.certify, stop, callback)
    best, history = descent.best, certified(history)
    coef, b = best.scale * problem.coefficients(best.a), best.scale * best.b
    return AllPairsResult(coef, 0.0, status, history, intercepts=b - b.mean())


def _start(problem: AllPairsProblem, seed: int) -> State:
    a, b = np.zeros((len(problem.labels), problem.n_classes)), np.zeros(problem.n_classes)
    weight = float(np.abs(np.diag(problem.K)).mean() + 0.1 / problem.cost.mean())
    return State(
        a=a,
        outputs=np.zeros(a.shape[::-1]),
        bias=b,
        best_a=a.copy(),
        best_b=b.copy(),
        weight=weight,
        n_slow=0,
        n_idle=0,
        seed=seed,
        n_iter=0,
    )


class Descent:
    """Groups of sweeps and working sets, each from one feasible point to the next; stores the best point."""

    def __init__(self, problem: AllPairsProblem, stop: Stop, state: State) -> None:
        self.problem, self.stop, self.state = problem, stop, state
        self.few = problem.own.size - len(problem.labels) <= MAX_PAIRS_WITHOUT_SWEEPS
        self.point = problem.point(state.a, state.bias)
        self.best = problem.point(state.best_a, state.best_b)

    def certify(self) -> Certificate:
        """The bounds of the best point so far.

        If rounding puts an earlier dual value above its primal value, the primal is raised by twice that.
        """
        bounds = self.problem.certificate(self.best)
        excess = max(0.0, self.state.get("best_dual", -np.inf) - bounds.primal)
        return replace(bounds, primal=bounds.primal + 2.0 * excess)

    def step(self) -> bool:
        """A group of sweeps, or a working set once sweeps are slow; True if neither makes progress."""
        state = self.state
        by_set = self.few or state.n_slow >= MAX_SLOW_ROUNDS
        before = self.point
        self._working_set() if by_set else self._sweeps()
        rounding = 64.0 * FLOAT_EPS * abs(before.dual)
        slow = self.point.gap > SLOW_GAP_RATIO * before.gap or before.gap <= rounding
        if by_set:
            rises = self.point.dual - before.dual > max(0.01 * self.stop.tol * abs(before.dual), rounding)
            state.n_idle = state.n_idle + 1 if slow and not rises else 0
            state.n_slow = 0
        else:
            state.n_slow = state.n_slow + 1 if slow else 0
        if self.problem.largest_gap(self.point) < self.problem.largest_gap(self.best):
            self.best = self.point
            state.best_a[:], state.best_b[:] = self.point.a, self.point.b
        return bool(state.n_idle >= MAX_SLOW_ROUNDS)

    def _sweeps(self) -> None:
        """Sweeps and multiplier updates; ``point`` is a feasible point near the current one."""
        problem, state = self.problem, self.state
        rng = np.random.default_rng([state.seed, state.n_iter])
        for _ in range(UPDATES_PER_CERTIFICATE):
            for _ in range(SWEEPS_PER_UPDATE):
                order = rng.permutation(len(problem.labels))
                _native.pairs_sweep(problem, state, state.weight, order, self.stop.cancel)
            excess = problem.coefficients(state.a).sum(axis=0)
            state.bias += state.weight * excess
        self.point = problem.point(state.a, state.bias - state.weight * excess)

    def _working_set(self) -> None:
        problem, state, tol = self.problem, self.state, self.stop.tol
        pairs = pair_set(problem, self.point, MAX_WORKING_SET_PAIRS)
        value = self.point.dual + self.point.gap
        accuracy = max(min(0.05 * self.point.gap, 1e-3 * tol * value), FLOAT_EPS * value)
        late = self.stop.deadline.passed
        self.point = optimal_pairs(
            problem, self.point, pairs, (accuracy, late), lambda gap: max(1.5 * gap, 0.3 * tol * value)
        )
        state.a[:], state.bias[:], state.outputs[:] = self.point.a, self.point.b, self.point.F.T


Pairs = tuple[np.ndarray, np.ndarray]  # rows and classes


def pair_set(problem: AllPairsProblem, point: AllPairsPoint, most: int) -> Pairs:
    """At most ``most`` pairs: those between their bounds, then those that add most to the gap."""
    between = (point.a > 0.0) & (point.a < problem.upper)
    gaps = problem.gaps(point.a, point.z)
    first = between.sum() <= most // 2
    key = np.where(problem.own, -1.0, gaps + (gaps.max() * between if first else 0.0))
    n = min(most, key.size - len(key))
    chosen = np.sort(np.argpartition(-key, n - 1, axis=None)[:n])
    rows, classes = np.unravel_index(chosen, key.shape)
    return rows, classes


def optimal_pairs(
    problem: AllPairsProblem,
    point: AllPairsPoint,
    pairs: Pairs,
    until: tuple[float, Callable[[], bool]],
    allowed: Callable[[float], float],
) -> AllPairsPoint:
    """The point where these pairs are optimal, with as many at their bounds as the gap allows.

    ``until`` is the accuracy of the solution, and whether it is too late for another step; ``allowed(gap)``
    is the largest gap with pairs at their bounds, where the gap of the interior solution is given.
    """
    program = _program(problem, point, pairs)
    solution = interior_point(program, *until, point.a[pairs])
    inside = _moved(problem, point, pairs, solution.x, solution.equations)
    limit = allowed(inside.gap)
    for share in BOUND_TOLERANCES:
        x = _at_bounds(program, solution, share)
        outside = _moved(problem, point, pairs, x, solution.equations)
        if outside.gap <= limit:
            return outside
        between = (x > 0.0) & (x < program.u)
        if between.any():  # again, with the others fixed at their bounds
            some = pairs[0][between], pairs[1][between]
            refined = interior_point(_program(problem, outside, some), *until, x[between])
            outside = _moved(problem, outside, some, refined.x, refined.equations)
            if outside.gap <= limit:
                return outside
    return inside


def _program(problem: AllPairsProblem, point: AllPairsPoint, pairs: Pairs) -> BoxQP:
    rows, classes = pairs
    x, labels = point.a[pairs], problem.labels[rows]
    E = np.zeros((problem.n_classes, len(rows)))
    E[labels, np.arange(len(rows))] = 1.0
    E[classes, np.arange(len(rows))] -= 1.0
    H = problem.K[np.ix_(rows, rows)] * (E.T @ E)
    slope = point.F[rows, labels] - point.F[rows, classes] - 1.0
    return BoxQP(H, H @ x - slope, E, E @ x, problem.cost[rows])


def _moved(
    problem: AllPairsProblem, point: AllPairsPoint, pairs: Pairs, x: np.ndarray, b: np.ndarray
) -> AllPairsPoint:
    a = point.a.copy()
    a[pairs] = x
    return problem.point(a, b)


def _at_bounds(program: BoxQP, solution: Solution, share: float) -> np.ndarray:
    """Bounds in place of values so close to them that the slope there changes by at most this share."""
    x, u, stiffness = solution.x, program.u, np.diag(program.H)
    to_0 = (x < 0.5 * u) & (stiffness * x <= share * solution.lower)
    to_u = (x > 0.5 * u) & (stiffness * (u - x) <= share * solution.upper)
    return np.where(to_0, 0.0, np.where(to_u, u, x))

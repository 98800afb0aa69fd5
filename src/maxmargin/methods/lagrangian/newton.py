"""The Lagrangian SVM with a kernel matrix, by Newton's method on the set of violated margins.

    min_u  1/2 u'G u + 1/2 sum_i c_i max(0, 1 - y_i (G u)_i)^2,    G = K + 1 1'

is a quadratic as long as the set A of violated margins does not change, and its minimiser is

    u_A = (G_AA + diag(1/c_A))^{-1} y_A,    u = 0 elsewhere.

A step goes there, or part of the way; a few steps reach the optimum. The start is solved on half of the rows
(and its own start on a quarter), since a factorisation costs the third power of the rows in A.

Where G has far more digits than a double, the solution of the system is noise. So a step counts only if it
lowers the objective with what rounding can add to it, and no point is worse than u = 0.
"""

from __future__ import annotations

import numpy as np

from ... import _native
from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    SolverResult,
    State,
    Stop,
    drive,
    with_rounding,
)
from .cholesky import Factor
from .problem import LagrangianProblem
from .systems import KernelSystem

MIN_ROWS_FOR_SAMPLED_START = 500  # rows above which the start is solved on half of them
MAX_IDLE_STEPS = 3  # steps that do not lower the objective before rounding is taken to dominate


def kernel_newton(
    system: KernelSystem,
    y: np.ndarray,
    *,
    stop: Stop,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise over u, which is both ``coef`` and ``dual_coef`` of the result."""
    with _native.one_blas_thread():
        state = stop.resumed(state) or _sampled(system, y, stop)
        iteration = KernelNewton(system, y, state)
        status, history = drive(state, iteration.step, iteration.certify, stop, callback)
    return SolverResult(state.u, float(state.u.sum()), status, history, state.u)


def start(system: KernelSystem, u: np.ndarray) -> State:
    """The state of a solver that starts at given coefficients."""
    return State(u=u.copy(), scores=system.scores(u), lowest=np.inf, idle=0)


def _sampled(system: KernelSystem, y: np.ndarray, stop: Stop) -> State:
    """A start at a rough solution for the first half of the rows, or at zero if there are few."""
    n, u = len(y), np.zeros(len(y))
    half = n // 2
    if n < MIN_ROWS_FOR_SAMPLED_START or len(np.unique(y[:half])) < 2:
        return start(system, u)
    rough = Stop(tol=0.05, max_iter=20, deadline=stop.deadline)
    u[:half] = kernel_newton(system.first(half), y[:half], stop=rough).coef
    return start(system, u)


class KernelNewton:
    """One step at a time; the factor is reused while the set of violated margins does not change."""

    def __init__(self, system: KernelSystem, y: np.ndarray, state: State) -> None:
        self.problem, self.system, self.y, self.state = LagrangianProblem(system, y), system, y, state
        self.violated = np.zeros(0, dtype=np.intp)
        self.factor: Factor | None = None
        if state.lowest == np.inf:  # no step has been taken
            state.lowest = self._largest_primal(state.u, state.scores)
            zero = np.zeros_like(state.u)
            at_zero = self._largest_primal(zero, zero)
            if not state.lowest <= at_zero:
                state.u, state.scores, state.lowest = zero, zero.copy(), at_zero

    def _largest_primal(self, u: np.ndarray, scores: np.ndarray) -> float:
        """The objective of u with what rounding can add to it."""
        return self.problem.primal(u, scores) + self.problem.rounding(u, u, scores)

    def certify(self) -> Certificate:
        """Bounds at u and at the multipliers max(0, y u)."""
        state, problem = self.state, self.problem
        u = np.where(self.y * state.u > 0.0, state.u, 0.0)
        scores = state.scores if np.array_equal(u, state.u) else self.system.scores(u)
        bounds = Certificate(
            primal=problem.primal(state.u, state.scores),
            dual=problem.dual(self.y * u, self.system.sqnorm(u, scores)),
            n_support=int(np.count_nonzero(state.u)),
            tiny=problem.tiny,
        )
        return with_rounding(bounds, problem.rounding(state.u, state.u, state.scores))

    def step(self) -> bool:
        """A step towards the optimum of the current set; True once rounding errors dominate."""
        state, cost = self.state, self.system.cost
        violated = np.flatnonzero(self.y * state.scores < 1.0)
        if self.factor is None or not np.array_equal(violated, self.violated):
            self.violated, self.factor = violated, self.system.factor(violated)
        target = self._target(violated)
        scores = self.system.scores(target)
        along, change = scores - state.scores, target - state.u
        t = _native.squared_hinge_step(
            self.y, cost, state.scores, along, float(state.u @ along), float(change @ along)
        )
        u = target if t == 1.0 else state.u + t * change
        scores = scores if t == 1.0 else state.scores + t * along
        primal = self._largest_primal(u, scores)
        state.idle = 0 if primal < state.lowest * (1.0 - 8.0 * FLOAT_EPS) else state.idle + 1
        if primal < state.lowest:
            state.u, state.scores, state.lowest = u, scores, primal
        return state.idle >= MAX_IDLE_STEPS or not len(violated)

    def _target(self, violated: np.ndarray) -> np.ndarray:
        """The optimum of the set: u restricted to the set, plus a correction."""
        state, factor = self.state, self.factor
        target = np.zeros_like(state.u)
        target[violated] = state.u[violated]
        scores = state.scores if np.array_equal(target, state.u) else self.system.scores(target)
        missing = self.y[violated] - scores[violated] - target[violated] / self.system.cost[violated]
        target[violated] += factor.solve(missing) if factor is not None and len(violated) else 0.0
        return target

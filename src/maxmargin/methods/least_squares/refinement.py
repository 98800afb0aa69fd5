"""Least squares without a penalty or with a ridge: corrections by a linear system until the gap is closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...solving import Callback, Certificate, SolverResult, State, Stop, drive
from .problem import SquaresProblem
from .system import System

BOUND_RADIUS = 10.0  # without a penalty the bound covers coefficients this many lengths away
MAX_IDLE_CERTIFICATES = 4  # certificates without progress before the solver gives up
PROGRESS_RATIO = 0.9  # a gap above this share of the best one is no progress


def least_squares(
    problem: SquaresProblem,
    system: System,
    *,
    stop: Stop,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise a ``SquaresProblem`` without a penalty or with a ridge to ``stop.tol``."""
    iteration = Refinement(problem, system, stop.resumed(state) or start(problem))
    status, history = drive(iteration.state, iteration.step, iteration.certify, stop, callback)
    dual = problem.data.cost * iteration.shares()
    return SolverResult(iteration.state.w, iteration.b, status, history, dual)


def start(problem: SquaresProblem, w: np.ndarray | None = None) -> State:
    """At zero, or at given coefficients."""
    n, d = len(problem.y), problem.data.rows.n_features
    w = np.zeros(d) if w is None else np.array(w, dtype=np.float64)
    return State(w=w, a=np.zeros(n), best_gap=np.inf, idle=0, judged=-1)


class Refinement:
    """Corrections of w, or of the coefficients a that make it up."""

    def __init__(self, problem: SquaresProblem, system: System, state: State) -> None:
        self.problem, self.system, self.state = problem, system, state
        self._refresh()

    def _refresh(self) -> None:
        self.r, self.b = self.problem.data.residual(self.problem.y, self.state.w)
        self._gradient: np.ndarray | None = None

    def gradient(self) -> np.ndarray:
        """``A'e`` of the present residual, which a step and the certificate before it share."""
        if self._gradient is None:
            self._gradient = self.problem.data.combine(self.r)
        return self._gradient

    def shares(self) -> np.ndarray:
        """The dual point: the residuals, or those that a stands for."""
        if self.system.wide:
            return self.state.a / self.problem.data.root
        return self.problem.data.centred(self.r)

    def step(self) -> bool:
        """One correction; True after several certificates without progress."""
        state, data, ridge = self.state, self.problem.data, self.problem.ridge
        if state.idle >= MAX_IDLE_CERTIFICATES:
            return True
        if self.system.wide:
            state.a += self.system.solve(data.root * data.centred(self.r) - ridge * state.a)
            state.w[:] = data.combine(self.shares())
        else:
            state.w += self.system.solve(self.gradient() - ridge * state.w)
        self._refresh()
        return False

    def certify(self) -> Certificate:
        """Bounds at the current coefficients, from freshly computed residuals.

        They are provisional before the first step from w = 0, which a small C would accept.
        """
        problem, state = self.problem, self.state
        if problem.penalty == "ridge":
            dual_w = None if self.system.wide else self.gradient()
            bounds = problem.certificate(state.w, self.r, self.shares(), dual_w)
        else:
            e = problem.data.root * problem.data.centred(self.r)
            gain = self.system.gain(state.w, self.gradient(), e, BOUND_RADIUS)
            bounds = problem.bounded_by(state.w, self.r, gain)
        gap, n_iter = bounds.primal - bounds.dual, state.get("n_iter", 0)
        if n_iter != state.judged:  # once for each point, however often it is certified
            state.idle = 0 if gap < PROGRESS_RATIO * state.best_gap else state.idle + 1
            state.best_gap, state.judged = min(gap, state.best_gap), n_iter
        return replace(bounds, provisional=not n_iter and not state.w.any())

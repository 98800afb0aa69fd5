"""The least-squares problem of one column, with one of three penalties, and its certificates.

    none    1/2 sum_i c_i r_i^2,                          r_i = y_i - <w, x_i> - b
    ridge   1/2 ||w||^2 + 1/2 sum_i c_i r_i^2
    lasso   ||w||_1     + 1/2 sum_i c_i r_i^2

Any shares v with ``sum_i c_i v_i = 0`` (where b is free) bound the last two from below, with
w(v) = sum_i c_i v_i x_i: ridge by D(v) - 1/2 ||w(v)||^2, lasso by D(v) where no entry of w(v) exceeds 1 in
size, D(v) = sum_i c_i (v_i y_i - v_i^2 / 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    SolverResult,
    State,
    Stop,
    drive,
)
from .data import SquaresData
from .system import System

Penalty = Literal["none", "ridge", "lasso"]


@dataclass(frozen=True)
class SquaresProblem:
    """Rows with costs, targets and a penalty."""

    data: SquaresData
    y: np.ndarray
    penalty: Penalty = "ridge"

    @property
    def ridge(self) -> float:
        """What is added to the diagonal of A'A."""
        return 1.0 if self.penalty == "ridge" else 0.0

    @property
    def tiny(self) -> float:
        """What counts as zero among objective values: that of w = 0 times the unit roundoff."""
        y = self.data.centred(self.y)
        return float(0.5 * FLOAT_EPS * (self.data.cost @ y**2))

    def primal(self, w: np.ndarray, r: np.ndarray) -> float:
        """The objective at w, whose residuals are given."""
        norm = {"none": 0.0, "ridge": 0.5 * float(w @ w), "lasso": float(np.abs(w).sum())}[self.penalty]
        return float(norm + 0.5 * (self.data.cost @ r**2))

    def certificate(
        self, w: np.ndarray, r: np.ndarray, shares: np.ndarray | None = None, dual_w: np.ndarray | None = None
    ) -> Certificate:
        """Both bounds of ridge or lasso; shares that are not given are the residuals'; dual_w is w(v)."""
        v = self.data.centred(r if shares is None else shares)
        dual_w = self.data.combine(v) if dual_w is None else dual_w
        linear, square = float(self.data.cost @ (v * self.y)), float(self.data.cost @ v**2)
        if self.penalty == "ridge":
            dual = linear - 0.5 * square - 0.5 * float(dual_w @ dual_w) - self.data.rounding(dual_w, v)
        else:
            largest = float(np.abs(dual_w).max())
            best = linear / square if square > 0.0 else 0.0
            t = float(np.clip(best, -1.0 / largest, 1.0 / largest)) if largest > 0.0 else best
            dual = t * linear - 0.5 * t * t * square
        return self._bounds(w, r, dual - self.data.rounding(w, r))

    def bounded_by(self, w: np.ndarray, r: np.ndarray, gain: float) -> Certificate:
        """Both bounds without a penalty, where no coefficients considered gain more than ``gain``."""
        return self._bounds(w, r, max(self.primal(w, r) - gain, 0.0))

    def _bounds(self, w: np.ndarray, r: np.ndarray, dual: float) -> Certificate:
        return Certificate(
            primal=self.primal(w, r), dual=dual, n_support=int(np.count_nonzero(w)), tiny=self.tiny
        )


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
        return self.state.a / self.problem.data.root if self.system.wide else self.r

    def step(self) -> bool:
        """One correction; True once there has been no progress for a while."""
        state, data, ridge = self.state, self.problem.data, self.problem.ridge
        if state.idle >= MAX_IDLE_CERTIFICATES:
            return True
        if self.system.wide:
            state.a += self.system.solve(data.root * self.r - ridge * state.a)
            state.w[:] = data.combine(self.shares())
        else:
            state.w += self.system.solve(self.gradient() - ridge * state.w)
        self._refresh()
        return False

    def certify(self) -> Certificate:
        """Bounds at the present coefficients, from freshly computed residuals.

        They are no reason to stop before the first step from w = 0, which a small C would let pass.
        """
        problem, state = self.problem, self.state
        if problem.penalty == "ridge":
            dual_w = None if self.system.wide else self.gradient()
            bounds = problem.certificate(state.w, self.r, self.shares(), dual_w)
        else:
            gain = self.system.gain(state.w, self.gradient(), problem.data.root * self.r, BOUND_RADIUS)
            bounds = problem.bounded_by(state.w, self.r, gain)
        gap, n_iter = bounds.primal - bounds.dual, state.get("n_iter", 0)
        if n_iter != state.judged:  # once for each point, however often it is certified
            state.idle = 0 if gap < PROGRESS_RATIO * state.best_gap else state.idle + 1
            state.best_gap, state.judged = min(gap, state.best_gap), n_iter
        return replace(bounds, provisional=not n_iter and not state.w.any())

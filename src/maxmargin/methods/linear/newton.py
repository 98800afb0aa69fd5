"""Linear max-margin problems by a semismooth Newton method inside an augmented Lagrangian.

The squared hinge is smooth enough for Newton's method itself: a full step reaches the optimum for the current
set of violated margins, and a few steps reach the optimum. The hinge is not, so its dual is solved by the
proximal point method (Rockafellar 1976): with the shares v of the previous round and a sharpness s,

    min_{w,b}  1/2 ||w||^2 + p/2 b^2 + sum_i c_i max_{0 <= t <= 1} [ t z_i - (t - v_i)^2 / (2 s) ],
    z_i = 1 - y_i f(x_i),

is again piecewise quadratic; its maximisers t_i = clip(v_i + s z_i, 0, 1) become the next v, and s grows.
For a quadratic program a finite number of rounds is exact. A smoothed hinge of some width is one such round,
with v = 0 and s = 1 / width. A free intercept is minimised exactly after each
step, a one-dimensional monotone equation, so that the dual's equality constraint holds throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ... import _native
from ..._native import one_blas_thread
from ...losses import SmoothedHinge
from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    SolverResult,
    State,
    Stop,
    drive,
    relative_gap,
    unsolved,
    until_cut,
)
from .newton_system import newton_direction
from .problem import MarginProblem

FIRST_SHARPNESS = 0.5  # at w = 0 every share is then one half, so the first step is a least-squares fit
SHARPNESS_GROWTH = 5.0  # factor of s from one round to the next
STEPS_PER_SCORE_REFRESH = 8  # steps after which scores are recomputed rather than updated
MAX_SHARPNESS = 1e13  # beyond this, rounding errors dominate
ROUND_ERROR_SHARE = 0.1  # a round ends when its own error is this share of the duality gap
SHARPNESS_AFTER_SAMPLE = 2.0  # s of the first round after a start from a sample
START_SAMPLE_DIVISOR = 8  # starts use one eighth of the samples, if that is many times the features


def exact_direction(iteration: NewtonIteration) -> tuple[np.ndarray, float]:
    """The step to the minimum of the current quadratic."""
    curvature = iteration.curvature(iteration.shares)
    return newton_direction(iteration.problem, curvature, iteration.gradient, iteration.gradient_b)


def newton(
    problem: MarginProblem,
    *,
    stop: Stop,
    state: State | None = None,
    callback: Callback | None = None,
    direction: Direction = exact_direction,
    iterate: type[NewtonIteration] | None = None,
) -> SolverResult:
    """Minimise a ``MarginProblem`` to ``stop.tol``: hinge and squared hinge, other losses by ``iterate``."""
    iterate = iterate or NewtonIteration
    with one_blas_thread():
        state = stop.resumed(state) or _start(problem, stop, direction, iterate)
        iteration = None
        with until_cut(stop.deadline):
            iteration = iterate(problem, state, direction)
        if iteration is None:
            return unsolved(state.w, float(state.b[0]))
        status, history = drive(
            iteration.state, iteration.step, lambda: iteration.certify(stop.tol), stop, callback
        )
    state = iteration.state
    b = problem.rows.given_intercept(state.w, float(state.b[0]))
    return SolverResult(state.w, b, status, history, problem.cost * state.dual_share * problem.y)


def start_at(problem: MarginProblem, w: np.ndarray, b: float) -> State:
    """The state of a solver that starts at a primal point."""
    n = len(problem.y)
    sharpness = 1.0 / problem.loss.width if isinstance(problem.loss, SmoothedHinge) else FIRST_SHARPNESS
    return State(
        w=np.array(w, dtype=np.float64),
        b=np.array([b], dtype=np.float64),
        anchor=np.zeros(n),
        dual_share=np.zeros(n),
        sharpness=sharpness,
        n_iter=0,
        seconds=0.0,
    )


def _start(problem: MarginProblem, stop: Stop, direction: Direction, iterate: type[NewtonIteration]) -> State:
    """A start at zero or, with many rows, at the solution for a random sample of them."""
    n, d = len(problem.y), problem.rows.n_features
    state = start_at(problem, np.zeros(d), 0.0)
    n_sample = n // START_SAMPLE_DIVISOR
    few = n_sample < 4 * d or n_sample < 1000 or len(np.unique(problem.y[:n_sample])) < 2
    if not few:
        rough = Stop(tol=0.01, max_iter=stop.max_iter // 2, deadline=stop.deadline)
        sample = problem.first(n_sample)
        started = _start(sample, rough, direction, iterate)
        with until_cut(stop.deadline):
            iteration = iterate(sample, started, direction)
            drive(iteration.state, iteration.step, lambda: iteration.certify(rough.tol), rough)
        state.w[:], state.b[:] = started.w, started.b
        if not isinstance(problem.loss, SmoothedHinge):
            state.sharpness = SHARPNESS_AFTER_SAMPLE
        state.n_iter, state.seconds = started.n_iter, started.seconds
        if problem.loss.name == "hinge" and not stop.deadline.has_cut:
            margins = problem.y * (problem.scores(state.w) + state.b[0])
            state.anchor[:] = np.clip(state.sharpness * (1.0 - margins), 0.0, 1.0)
    return state


class NewtonIteration:
    """One Newton step at a time on the current round's piecewise quadratic function."""

    @property
    def max_share(self) -> float | None:
        """The largest share of a sample, if there is one."""
        return 1.0 if self.hinge else None

    def __init__(self, problem: MarginProblem, state: State, direction: Direction) -> None:
        self.problem, self.state, self.direction = problem, state, direction
        self.in_rounds = problem.loss.name == "hinge"
        self.hinge = self.in_rounds or isinstance(problem.loss, SmoothedHinge)  # which has but one round
        if "scores" in state:
            self._evaluate()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Scores, intercept, shares and gradient from w and the round's anchor."""
        self.state.scores = self.problem.scores(self.state.w)
        self.state.fresh = self.state.n_iter
        self._settle(middle=True)

    def _settle(self, middle: bool = False) -> None:
        if self.problem.intercept == "free":
            self.state.b[0] = self._best_intercept(middle)
        self._evaluate()

    def _evaluate(self) -> None:
        state, problem = self.state, self.problem
        self.shortfall = 1.0 - problem.y * (state.scores + state.b[0])
        self.shares = self._shares(self.shortfall)
        if problem.intercept == "free":
            self._balance()
        self.dual_w = problem.combine(self.shares)
        self.gradient = state.w - self.dual_w
        self.gradient_b = problem.intercept_penalty * state.b[0] - self._imbalance()

    def _imbalance(self) -> float:
        return float((self.problem.cost * self.shares) @ self.problem.y)

    def _balance(self) -> None:
        """One more step of b, applied to the shares: sharp rounds need more digits than b has."""
        curvature = self.curvature(self.shares)
        total = float(curvature.sum())
        if total > 0.0:
            finer = self.problem.y * curvature / self.problem.cost * (self._imbalance() / total)
            self.shares = np.clip(self.shares - finer, 0.0, self.max_share)

    def _shares(self, shortfall: np.ndarray) -> np.ndarray:
        if self.hinge:
            return np.clip(self.state.anchor + self.state.sharpness * shortfall, 0.0, 1.0)
        return np.maximum(shortfall, 0.0)

    def curvature(self, shares: np.ndarray) -> np.ndarray:
        """The second derivative of each sample's term in the current round."""
        if self.hinge:
            return self.problem.cost * self.state.sharpness * ((shares > 0.0) & (shares < 1.0))
        return self.problem.cost * (shares > 0.0)

    def _best_intercept(self, middle: bool) -> float:
        """The b at which the shares of both signs balance; with ``middle``, the middle of all such b."""
        root = _native.best_intercept(self, float(self.state.b[0]))
        return self._middle(root) if middle else root

    def _middle(self, root: float) -> float:
        y, cost, scores = self.problem.y, self.problem.cost, self.state.scores
        kinks = y - scores
        width = 1.0 / self.state.sharpness if self.hinge else 0.0

        def balanced(b: float) -> bool:
            return float((cost * self._shares(1.0 - y * (scores + b))) @ y) == 0.0

        return middle_of_interval(balanced, float(kinks.min()) - width, float(kinks.max()) + width, root)

    def certify(self, tol: float) -> Certificate:
        """Bounds at the current iterate; from fresh scores every few steps, and before the fit may end."""
        state = self.state
        stale = state.n_iter - state.get("fresh", state.n_iter)
        bounds = self._bounds()
        best = max(bounds.dual, state.get("best_dual", -np.inf))
        if stale >= STEPS_PER_SCORE_REFRESH or (
            stale and relative_gap(bounds.primal, best, bounds.tiny) <= tol
        ):
            self.refresh()
            bounds = self._bounds()
        self.primal, self.gap = bounds.primal, bounds.primal - bounds.dual
        return replace(bounds, provisional=not state.n_iter and not state.w.any())

    def _bounds(self) -> Certificate:
        state = self.state
        feasible = self.problem.balanced(self.shares)
        dual_w = self.dual_w if feasible is self.shares else None
        best_dual = state.get("best_dual", -np.inf)
        bounds = self.problem.certificate(
            state.w, state.b[0], 1.0 - self.shortfall, feasible, dual_w, best_dual
        )
        if bounds.dual >= best_dual:
            state.dual_share[:] = feasible
        return bounds

    def step(self) -> bool:
        """One Newton step, in the next round if the current one is solved."""
        if self.in_rounds and self._round_is_solved():
            if self.state.sharpness >= MAX_SHARPNESS:
                return True
            self.state.anchor[:] = self.shares
            self.state.sharpness *= SHARPNESS_GROWTH
            self._settle()
        state, problem = self.state, self.problem
        p, p_b = self.direction(self)
        along = problem.rows.dot(p) + p_b
        penalty = problem.intercept_penalty
        t = self._step_length(
            along,
            float(state.w @ p + penalty * state.b[0] * p_b),
            float(p @ p + penalty * p_b * p_b),
        )
        state.w += t * p
        state.b += t * p_b
        state.scores += t * (along - p_b)
        before = self.gradient
        self._settle()
        return not self.in_rounds and t < FLOAT_EPS and np.array_equal(before, self.gradient)

    def _step_length(self, along: np.ndarray, linear: float, quadratic: float) -> float:
        """The best t where outputs change by ``t along``, the penalty by ``linear t + quadratic t^2/2``."""
        return float(_native.step_length(self, along, linear=linear, quadratic=quadratic))

    def _round_is_solved(self) -> bool:
        gradient_sq = self.gradient @ self.gradient + self.problem.intercept_penalty * self.gradient_b**2
        rounding = self.problem.tiny + FLOAT_EPS * float(self.dual_w @ self.dual_w)
        return bool(0.5 * gradient_sq <= max(ROUND_ERROR_SHARE * self.gap, rounding))


Direction = Callable[[NewtonIteration], tuple[np.ndarray, float]]


def middle_of_interval(inside: Callable[[float], bool], low: float, high: float, point: float) -> float:
    """The middle of the interval around ``point``, within [low, high]; ``point`` if it is not inside."""
    if not inside(point):
        return point
    left = right = point
    for _ in range(60):
        middle = 0.5 * (low + left)
        low, left = (low, middle) if inside(middle) else (middle, left)
        middle = 0.5 * (right + high)
        right, high = (middle, high) if inside(middle) else (right, middle)
    return 0.5 * (left + right)

"""The top-k SVM by block-coordinate ascent on its dual: one step for the variables of each sample in turn.

Steps are exact, by projection ("dual-ascent"), or Frank-Wolfe steps towards a vertex. Exact epochs visit
samples in random order and skip those whose last step changed nothing; every fifth epoch visits all.
Where they gain little, the second-order steps of `newton.py` take over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..._native import one_blas_thread
from ...data import Rows
from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    State,
    Status,
    Stop,
    bounds_cross,
    drive,
    is_indefinite,
    most_important,
    relative_gap,
    until_cut,
    without_bound,
)
from .newton import Newton, fits_newton
from .problem import TopKPoint, TopKProblem, TopKResult
from .scores import KernelScores, LinearScores, Scores

SOLVERS = ("auto", "dual-ascent", "frank-wolfe")
SAMPLING = ("uniform", "gaps")
EPOCHS_PER_FULL_SWEEP = 5  # epochs between two that visit all samples
EPOCHS_PER_CERTIFICATE = 10  # at first, and more later, unless the gaps seen in sweeps are small
NEGLIGIBLE_GAP_SHARE = 0.05  # a sample with this share of the gap to be reached is not worth a step
MAX_PREDICTED_EPOCHS = 200  # where epochs would need more than this, second-order steps take over
MAX_FRUITLESS_NEWTON_STEPS = 20  # second-order steps without progress before the solver gives up
UNIFORM_SAMPLING_SHARE = 0.1  # share of uniform draws in sampling by gaps, so that every sample is revisited


@dataclass(frozen=True)
class AscentMethod:
    """One of ``SOLVERS``; for Frank-Wolfe, how samples are drawn and whether iterates are averaged."""

    solver: str = "auto"
    sampling: str = "uniform"
    averaging: bool = False

    @property
    def exact(self) -> bool:
        """Whether block steps are exact; the other options are for Frank-Wolfe steps."""
        return self.solver != "frank-wolfe"

    @property
    def step(self) -> str:
        """The name of the step in the compiled core."""
        return "exact" if self.exact else "frank-wolfe"


def topk(
    problem: TopKProblem,
    *,
    solver: str | AscentMethod = "auto",
    stop: Stop,
    seed: int = 0,
    state: State | None = None,
    callback: Callback | None = None,
) -> TopKResult:
    """Solve a ``TopKProblem`` to ``stop.tol`` with one of ``SOLVERS``; a state may hold A alone."""
    method = solver if isinstance(solver, AscentMethod) else AscentMethod(solver)
    state = stop.resumed(state) or State(A=problem.zeros())
    ascent = Ascent(problem, state, method, seed, stop)
    with one_blas_thread():
        status, history = drive(state, ascent.step, ascent.certify, stop, callback, ascent.due)
    shown = state
    with until_cut(stop.deadline):
        shown = ascent.shown()
    A, point = shown.A, ascent.scores.point(shown)
    started = history[-1].primal < np.inf or len(history) > 2  # a cut step is better than a certified zero
    if status is not Status.CONVERGED and started and state.best_primal < history[-1].primal:
        point = TopKPoint(state.best_coef, state.best_offset)
        history = (*history[:-1], replace(history[-1], primal=state.best_primal))
    result = TopKResult(point.coef, 0.0, status, history, dual_coef=A, offset=point.offset)
    return cast(TopKResult, without_bound(result)) if refutes(problem, result) else result


def refutes(problem: TopKProblem, result: TopKResult) -> bool:
    """Whether the bounds, or the rows with the largest weight in W, prove an unknown kernel indefinite."""
    A = cast(np.ndarray, result.dual_coef)
    if isinstance(problem.data, Rows) or problem.data.kernel.positive or not np.isfinite(A).all():
        return False
    if bounds_cross(result):
        return True
    which = most_important(np.abs(problem.cost[:, None] * A).sum(axis=1))
    return is_indefinite(problem.data.between(which, which) + problem.constant, balanced=False)


class Ascent:
    """Epochs over the samples, and their certificates."""

    def __init__(
        self, problem: TopKProblem, state: State, method: AscentMethod, seed: int, stop: Stop
    ) -> None:
        self.problem, self.state, self.method, self.stop = problem, state, method, stop
        self.scores: Scores = (LinearScores if problem.is_linear else KernelScores)(problem, stop.cancel)
        self.newton: Newton | None = None
        self.averaging = method.averaging and not method.exact
        if "gaps" not in state:
            n = len(state.A)
            state.gaps, state.moved = np.ones(n), np.ones(n, dtype=np.uint8)
            state.order, state.position = np.empty(0, dtype=np.int64), 0
            state.seed, state.epoch, state.checked, state.seen_all = seed, 0, 0, 0
            state.primal, state.gap, state.passed_over, state.staleness = 1.0, np.inf, 0.0, 1.0
            state.second_order, state.accepted, state.best_gap, state.no_gain = False, False, np.inf, 0
            state.refuted = False  # that the kernel is positive semi-definite
            state.best_primal = np.inf
            if self.averaging:
                state.mean = state.A.copy()
            self.scores.start(state)

    def step(self) -> bool:
        """One epoch, as far as time allows, or a second-order step; True if no progress is possible."""
        state = self.state
        if state.refuted:
            return True
        if state.second_order:
            self._second_order()
            state.epoch += 1
            return bool(state.no_gain >= MAX_FRUITLESS_NEWTON_STEPS)
        if state.position >= len(state.order):
            state.order, state.position = self._order(), 0
        while state.position < len(state.order):
            some = state.order[state.position : state.position + self.scores.piece]
            self.scores.sweep(state, self.method.step, some)
            state.position += len(some)
            if self.stop.deadline.passed() and state.position < len(state.order):
                return False
        state.epoch += 1
        self._average()
        return self._at_rest()

    def _at_rest(self) -> bool:
        """Whether no sample moves any more; if second-order steps are possible, they come next."""
        state = self.state
        if not self.method.exact or len(state.order) < len(state.A) or state.moved.any():
            return False
        state.second_order = fits_newton(self.problem)
        return not state.second_order

    def _average(self) -> None:
        """Update the mean, in which later iterates have more weight."""
        state = self.state
        if self.averaging:
            state.mean += 2.0 / (state.epoch + 1.0) * (state.A - state.mean)

    def shown(self) -> State:
        """The iterate that is certified and returned: the last one, or the mean."""
        if not self.averaging:
            return self.state
        mean = State(A=self.state.mean, gaps=self.state.gaps.copy(), moved=self.state.moved, passed_over=0.0)
        self.scores.start(mean)
        return mean

    def _keep_best(self, primal: float, shown: State) -> None:
        """Store the best primal point, for fits that stop early: later points may be far worse."""
        if primal < self.state.best_primal:
            point = self.scores.point(shown)
            self.state.best_primal = primal
            self.state.best_coef, self.state.best_offset = point.coef.copy(), point.offset.copy()

    def _second_order(self) -> None:
        state, problem = self.state, self.problem
        if self.newton is None:
            self.newton = Newton(problem, self.stop.deadline)
        if "tau" not in state:
            curvature = float((problem.cost * problem.sqnorms).mean())
            self.newton.start(state, max(0.5 * curvature * min(1.0, 10.0 * state.gap), 1e-200))
        state.accepted = self.newton.step(state)
        state.no_gain += 1
        if state.accepted:
            self.scores.start(state)

    def _order(self) -> np.ndarray:
        """The samples to visit: any at random for Frank-Wolfe, else those that may move."""
        state, n = self.state, len(self.state.A)
        rng = np.random.default_rng([state.seed, state.epoch])
        if not self.method.exact:
            return rng.integers(0, n, n) if self.method.sampling == "uniform" else self._by_gaps(rng)
        if state.epoch < state.seen_all + EPOCHS_PER_FULL_SWEEP:
            return rng.permutation(np.flatnonzero(state.moved))
        state.seen_all = state.epoch
        return rng.permutation(n)

    def _by_gaps(self, rng: np.random.Generator) -> np.ndarray:
        """Samples drawn in proportion to what they add to the gap, as far as that is known."""
        shares = self.problem.mass * np.maximum(self.state.gaps, 0.0)
        n, total = len(shares), float(shares.sum())
        shares = UNIFORM_SAMPLING_SHARE / n + (1.0 - UNIFORM_SAMPLING_SHARE) * (
            shares / total if total > 0.0 else 1.0 / n
        )
        ends = np.cumsum(shares)
        return np.minimum(np.searchsorted(ends, rng.random(n) * ends[-1], side="right"), n - 1)

    def due(self) -> bool:
        """Whether a certificate is due: after a second-order step, or if the gaps seen are small enough."""
        state = self.state
        if state.second_order:
            return bool(state.accepted)
        likely = state.staleness * self._seen_gap() <= self.stop.tol * state.primal
        return likely or state.epoch >= state.checked + max(EPOCHS_PER_CERTIFICATE, state.checked // 2)

    def _seen_gap(self) -> float:
        """The sum of the gaps that samples had when they were last visited."""
        return float(self.problem.mass @ self.state.gaps)

    def certify(self) -> Certificate:
        """Both bounds; where epochs gain little, second-order steps come next."""
        state, seen, shown = self.state, self._seen_gap(), self.shown()
        certificate = self.scores.certify(shown)
        gap = relative_gap(certificate.primal, certificate.dual)
        self._keep_best(certificate.primal, shown)
        if certificate.dual == -np.inf:
            state.best_dual, state.refuted = -np.inf, True  # nor was there a bound before
            return certificate
        if state.epoch > state.checked:
            fresh = certificate.primal - certificate.dual
            state.staleness = float(np.clip(fresh / max(seen, 1e-300), 0.5, 2.0))
            slow = (
                state.epoch - state.checked >= EPOCHS_PER_CERTIFICATE
                and self._epochs_left(gap) > MAX_PREDICTED_EPOCHS
            )
            if slow and self.method.exact and fits_newton(self.problem):
                state.second_order = True
        certain = certificate.dual - certificate.rounding  # a dual that is rounding alone is no progress
        if gap < 0.9 * state.best_gap or certain > 1.1 * max(state.get("best_dual", 0.0), 0.0):
            state.best_gap, state.no_gain = min(gap, state.best_gap), 0
        state.checked, state.primal, state.gap = state.epoch, certificate.primal, gap
        if self.method.exact:
            state.passed_over, state.seen_all = (
                NEGLIGIBLE_GAP_SHARE * self.stop.tol * state.primal,
                state.epoch,
            )
            state.moved[:] = state.gaps > state.passed_over
        return certificate

    def _epochs_left(self, gap: float) -> float:
        """The number of epochs to the tolerance if the gap keeps falling at the same rate."""
        state = self.state
        if gap <= self.stop.tol:
            return 0.0
        fall = np.log(state.gap / gap) / (state.epoch - state.checked)
        goal = max(self.stop.tol, FLOAT_EPS)
        return float(np.log(gap / goal) / fall) if fall > 0.0 else np.inf

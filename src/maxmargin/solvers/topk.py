"""The top-k SVM by block-coordinate ascent on its dual: a step for one sample's variables after the other.

Steps are exact, by projection ("dual-ascent"), or those of Frank and Wolfe towards a vertex. Epochs visit
samples in random order and leave out those whose last step changed nothing; every fifth visits all. Where
exact steps gain little, and from the start where there are many samples of few features, second-order steps
of ``topk_newton`` take over.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._native import one_blas_thread
from ..rows import Rows
from .drive import Callback, Certificate, drive
from .result import FLOAT_EPS, State, Stop, relative_gap
from .topk_newton import Newton, fits_newton
from .topk_problem import Point, TopKProblem, TopKResult
from .topk_scores import KernelScores, LinearScores

SOLVERS = ("auto", "dual-ascent", "frank-wolfe")
RECHECK = 5  # epochs from one that visits all samples, or a certificate, to the next
CHECK_EVERY = 10  # epochs between two certificates, unless the gaps seen on the way are small before
PASSED_OVER = 0.05  # gaps of a sample that are not worth a step, as a share of the gap to be reached
TOO_MANY = 200  # epochs left, by what those since the last certificate gained, where epochs gain little
FIRST_EPOCHS = 4  # before second-order steps, where these are expected to be faster
MANY_SAMPLES, FEW_COEFFICIENTS = 50, 5000  # a feature; in W: where they are


class Scores(Protocol):
    """The model that goes with the dual variables, and how sweeps keep the two together."""

    def start(self, state: State) -> None:
        """Put what the model needs into a state that has only A."""

    def sweep(self, state: State, method: str, order: np.ndarray) -> None:
        """Steps for the samples of ``order``."""

    def certify(self, state: State) -> Certificate:
        """Both bounds; ``state.gaps`` are those of all samples."""

    def point(self, state: State) -> Point:
        """The primal point."""


def topk(
    problem: TopKProblem,
    *,
    solver: str = "auto",
    stop: Stop,
    seed: int = 0,
    state: State | None = None,
    callback: Callback | None = None,
) -> TopKResult:
    """Solve a ``TopKProblem`` to ``stop.tol`` with one of ``SOLVERS``; a state may hold A alone."""
    state = state if state is not None else State(A=problem.zeros())
    ascent = Ascent(problem, state, solver, seed, stop)
    with one_blas_thread():
        status, history = drive(state, ascent.step, ascent.certify, stop, callback, ascent.due)
    point = ascent.scores.point(state)
    return TopKResult(point.coef, 0.0, status, history, dual_coef=state.A, offset=point.offset)


class Ascent:
    """Epochs over the samples, and their certificates."""

    def __init__(self, problem: TopKProblem, state: State, solver: str, seed: int, stop: Stop) -> None:
        self.problem, self.state, self.stop = problem, state, stop
        self.method = "frank-wolfe" if solver == "frank-wolfe" else "exact"
        self.scores: Scores = (LinearScores if problem.is_linear else KernelScores)(problem, stop.cancel)
        self.newton: Newton | None = None
        if "gaps" not in state:
            state.gaps, state.moved = np.ones(len(state.A)), np.ones(len(state.A), dtype=np.uint8)
            state.seed, state.epoch, state.checked = seed, 0, 0
            state.primal, state.gap, state.second_order, state.accepted = 1.0, np.inf, False, False
            state.seen_all, state.passed_over, state.staleness = 0, 0.0, 1.0
            self.scores.start(state)

    def step(self) -> None:
        """One epoch, or a second-order step."""
        state = self.state
        if state.second_order:
            self._second_order()
        else:
            self.scores.sweep(state, self.method, self._order())
        state.epoch += 1

    def _second_order(self) -> None:
        state, problem = self.state, self.problem
        if self.newton is None:
            self.newton = Newton(problem, self.stop.cancel)
        if "tau" not in state:
            curvature = float((problem.cost * problem.sqnorms).mean())
            self.newton.start(state, max(0.5 * curvature * min(1.0, 10.0 * state.gap), 1e-200))
        state.accepted = self.newton.step(state)
        if state.accepted:
            self.scores.start(state)

    def _order(self) -> np.ndarray:
        """Whom to visit: with Frank and Wolfe any at random, else those that may move."""
        state, n = self.state, len(self.state.A)
        rng = np.random.default_rng([state.seed, state.epoch])
        if self.method == "frank-wolfe":
            return rng.integers(0, n, n)
        if state.epoch < state.seen_all + RECHECK:
            return rng.permutation(np.flatnonzero(state.moved))
        state.seen_all = state.epoch
        return rng.permutation(n)

    def due(self) -> bool:
        """Whether a second-order step ended, or the gaps seen in an epoch make an end likely."""
        state = self.state
        if state.second_order:
            return bool(state.accepted)
        likely = state.staleness * self._seen_gap() <= self.stop.tol * state.primal
        return likely or state.epoch >= state.checked + self._period()

    def _seen_gap(self) -> float:
        """The sum of the gaps that samples had when they were last visited."""
        return float(self.problem.mass @ self.state.gaps)

    def _period(self) -> int:
        return FIRST_EPOCHS if self._tall() else CHECK_EVERY

    def _tall(self) -> bool:
        """Whether second-order steps are expected to be faster than epochs."""
        problem, data = self.problem, self.problem.data
        if self.method != "exact" or not isinstance(data, Rows) or not fits_newton(problem):
            return False
        few = (data.n_features + 1) * problem.n_classes <= FEW_COEFFICIENTS
        return few and len(data) >= MANY_SAMPLES * data.n_features

    def certify(self) -> Certificate:
        """Both bounds; where epochs gain little, second-order steps come next."""
        state, seen = self.state, self._seen_gap()
        certificate = self.scores.certify(state)
        if state.epoch > state.checked:
            fresh = certificate.primal - certificate.dual
            state.staleness = float(np.clip(fresh / max(seen, 1e-300), 0.5, 2.0))
        gap = relative_gap(certificate.primal, certificate.dual)
        slow = state.epoch - state.checked >= CHECK_EVERY and self._epochs_left(gap) > TOO_MANY
        early = state.epoch > 0 and self._tall()
        if (
            self.method == "exact"
            and not state.second_order
            and (slow or early)
            and fits_newton(self.problem)
        ):
            state.second_order = True
        state.checked, state.primal, state.gap = state.epoch, certificate.primal, gap
        state.passed_over, state.seen_all = PASSED_OVER * self.stop.tol * state.primal, state.epoch
        state.moved[:] = state.gaps > state.passed_over
        return certificate

    def _epochs_left(self, gap: float) -> float:
        """How many more it takes to the tolerance if the gap goes on falling as it did."""
        state = self.state
        if gap <= self.stop.tol:
            return 0.0
        fall = np.log(state.gap / gap) / (state.epoch - state.checked)
        goal = max(self.stop.tol, FLOAT_EPS)
        return float(np.log(gap / goal) / fall) if fall > 0.0 else np.inf

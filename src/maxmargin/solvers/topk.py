"""The top-k SVM by block-coordinate ascent on its dual: a step for one sample's variables after the other.

Steps are exact, by projection ("dual-ascent"), or those of Frank and Wolfe towards a vertex. Epochs visit
samples in random order and leave out those whose last step changed nothing; every fifth visits all.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .drive import Callback, Certificate, drive
from .result import State, Stop
from .topk_problem import Point, TopKProblem, TopKResult
from .topk_scores import KernelScores, LinearScores

SOLVERS = ("auto", "dual-ascent", "frank-wolfe")
RECHECK = 5  # epochs from one that visits all samples to the next
CHECK_EVERY = 10  # epochs between two certificates, unless the gaps seen on the way are small before


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
    status, history = drive(state, ascent.step, ascent.certify, stop, callback, ascent.due)
    point = ascent.scores.point(state)
    return TopKResult(point.coef, 0.0, status, history, dual_coef=state.A, offset=point.offset)


class Ascent:
    """Epochs over the samples, and their certificates."""

    def __init__(self, problem: TopKProblem, state: State, solver: str, seed: int, stop: Stop) -> None:
        self.problem, self.state, self.stop = problem, state, stop
        self.method = "frank-wolfe" if solver == "frank-wolfe" else "exact"
        self.scores: Scores = (LinearScores if problem.is_linear else KernelScores)(problem, stop.cancel)
        if "gaps" not in state:
            state.gaps, state.moved = np.ones(len(state.A)), np.ones(len(state.A), dtype=np.uint8)
            state.seed, state.epoch, state.checked, state.primal = seed, 0, 0, 1.0
            self.scores.start(state)

    def step(self) -> None:
        """One epoch."""
        state = self.state
        self.scores.sweep(state, self.method, self._order())
        state.epoch += 1

    def _order(self) -> np.ndarray:
        """Whom to visit: with Frank and Wolfe any at random, else those that may move."""
        state, n = self.state, len(self.state.A)
        rng = np.random.default_rng([state.seed, state.epoch])
        if self.method == "frank-wolfe":
            return rng.integers(0, n, n)
        return rng.permutation(n if state.epoch % RECHECK == 0 else np.flatnonzero(state.moved))

    def due(self) -> bool:
        """Whether the gaps seen on the way, which are out of date, make an end likely."""
        state = self.state
        likely = float(self.problem.mass @ state.gaps) <= 1.5 * self.stop.tol * state.primal
        return likely or state.epoch >= state.checked + CHECK_EVERY

    def certify(self) -> Certificate:
        """Both bounds."""
        certificate = self.scores.certify(self.state)
        self.state.checked, self.state.primal = self.state.epoch, certificate.primal
        return certificate

"""LaSVM: the 1-norm SVM with an intercept, learnt sample by sample (Bordes, Ertekin, Weston & Bottou 2005).

Only the samples that the method holds take part in its steps, and all kernel values between them are kept.
Values against those that come are computed for a block of samples together.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ... import _native
from ...kernels import KernelData
from ...solving import (
    Callback,
    Certificate,
    SolverResult,
    State,
    Status,
    Stop,
    drive,
)

BLOCK = 256
FIRST_TAU, LAST_TAU = 1e-3, 1e-12
STEP_VALUES = 4_000_000  # kernel values read by the reprocessing steps of one native call


@dataclass(frozen=True)
class LasvmProblem:
    """``min 1/2 ||f||^2 + sum_i cost_i max(0, 1 - y_i (f(x_i) + b))`` over f and b."""

    kernel: KernelData
    y: np.ndarray  # -1.0 or +1.0
    cost: np.ndarray


@dataclass(frozen=True)
class Recipe:
    """How samples are chosen, and when to be content."""

    selection: str = "random"  # or "active", "gradient"
    n_candidates: int = 1  # of which one is chosen
    finishing: bool = True
    max_support: int = 0  # 0: no limit


def lasvm(
    problem: LasvmProblem,
    recipe: Recipe,
    *,
    stop: Stop,
    seed: list[int],
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Epochs until the gap over all samples is at most ``stop.tol``; ``coef`` is y times the multipliers."""
    epochs = Lasvm(problem, recipe, stop.resumed(state) or _start(problem), seed, stop)
    status, history = drive(epochs.state, epochs.step, epochs.certify, stop, callback)
    coef = np.zeros(len(problem.y))
    coef[epochs.held] = epochs.a
    if status is Status.STALLED:
        status = Status.BUDGET_FULL
    return SolverResult(coef, epochs.intercept(), status, history)


def _start(problem: LasvmProblem) -> State:
    room = min(2 * BLOCK, len(problem.y) + BLOCK)
    return State(
        K=np.zeros((room, room), dtype=problem.kernel.dtype),
        numbers=np.zeros((4, room)),  # a, gradient, y, cost of the samples held
        sample=np.zeros(room, dtype=np.int64),
        counts=np.zeros(2, dtype=np.int64),  # samples held; those with a coefficient
        tau=FIRST_TAU,
        epoch=0,
        position=0,
    )


class Lasvm:
    """Epochs of PROCESS and REPROCESS on a ``LasvmProblem``."""

    def __init__(
        self, problem: LasvmProblem, recipe: Recipe, state: State, seed: list[int], stop: Stop
    ) -> None:
        self.problem, self.recipe, self.state, self.seed = problem, recipe, state, seed
        self.cancel, self.deadline = stop.cancel, time.perf_counter() + stop.max_seconds

    @property
    def held(self) -> np.ndarray:
        """The samples held."""
        return self.state.sample[: self.state.counts[0]]

    @property
    def a(self) -> np.ndarray:
        """Their coefficients."""
        return self.state.numbers[0, : self.state.counts[0]]

    @property
    def gradient(self) -> np.ndarray:
        """``y - f`` of the samples held, without the intercept."""
        return self.state.numbers[1, : self.state.counts[0]]

    def step(self) -> bool:
        """One epoch, and the finishing steps; true when there is no room for another support vector."""
        state, full = self.state, False
        n, group = len(self.problem.y), self.recipe.n_candidates
        order = np.random.default_rng([*self.seed, state.epoch]).permutation(n)
        block = group * max(1, BLOCK // group)
        while state.position < n and not full and not self._late():
            full = self._block(order[state.position : state.position + block]) and not self._found_room()
            state.position += block
        if self.recipe.finishing:
            self._finish()
        if state.position >= n:
            state.position, state.epoch, state.tau = 0, state.epoch + 1, max(0.1 * state.tau, LAST_TAU)
        return full

    def certify(self) -> Certificate:
        """Both bounds, over all samples.

        Those held have their outputs in the gradient, consistent with the kernel values that the dual is made
        of, so the gap is a sum of terms none of which is negative.
        """
        problem, held, a = self.problem, self.held, self.a
        f = np.zeros(len(problem.y))
        others = np.setdiff1d(np.arange(len(f)), held, assume_unique=True)
        support = a != 0.0
        for i in range(0, len(others) if support.any() else 0, BLOCK):  # a cancel is seen between blocks
            if self.cancel[0]:
                raise RuntimeError("cancelled")
            some = others[i : i + BLOCK]
            f[some] = problem.kernel.matmul(some, held[support], a[support, None])[:, 0]
        f[held] = problem.y[held] - self.gradient
        half_norm = 0.5 * float(a @ f[held])
        losses = np.maximum(0.0, 1.0 - problem.y * (f + self.intercept()))
        primal = half_norm + float(problem.cost @ losses)
        dual = float(a @ problem.y[held]) - half_norm
        return Certificate(primal, dual, int(self.state.counts[1]), problem.kernel.n_values)

    def intercept(self) -> float:
        """The middle of what the samples held allow."""
        y, cost = self.problem.y[self.held], self.problem.cost[self.held]
        up = self.gradient[self.a < np.maximum(0.0, cost * y)]
        down = self.gradient[self.a > np.minimum(0.0, cost * y)]
        if len(up) and len(down):
            return 0.5 * float(up.max() + down.min())
        return float(up.max()) if len(up) else float(down.min()) if len(down) else 0.0

    def _late(self) -> bool:
        return time.perf_counter() >= self.deadline or bool(self.cancel[0])

    def _block(self, which: np.ndarray) -> bool:
        problem, recipe, state = self.problem, self.recipe, self.state
        self._make_room(len(which) // recipe.n_candidates + 1)
        return bool(
            _native.lasvm_block(
                recipe.selection,
                recipe.n_candidates,
                state.tau,
                recipe.max_support,
                problem.kernel.between(which, np.concatenate([self.held, which])),
                which,
                problem.y[which],
                problem.cost[which],
                *self._memory(),
            )
        )

    def _memory(self) -> tuple[np.ndarray, ...]:
        state = self.state
        return state.K, state.numbers, state.sample, state.counts, self.cancel

    def _make_room(self, more: int) -> None:
        """Room for so many samples more, doubled where it must grow."""
        state = self.state
        size, room = int(state.counts[0]), len(state.sample)
        if size + more <= room:
            return
        larger = max(2 * room, size + more)
        K = np.zeros((larger, larger), dtype=state.K.dtype)
        K[:size, :size] = state.K[:size, :size]
        state.K, state.numbers = K, np.pad(state.numbers, ((0, 0), (0, larger - room)))
        state.sample = np.pad(state.sample, (0, larger - room))

    def _found_room(self) -> bool:
        """Whether finishing the support vectors as they are leaves room for two more."""
        self._drop_idle()
        if self.recipe.finishing:
            self._finish()
        return bool(self.state.counts[1] + 2 <= self.recipe.max_support)

    def _drop_idle(self) -> None:
        """Samples without a coefficient leave, so that finishing cannot give them one."""
        state, kept = self.state, np.flatnonzero(self.a)
        state.K[: len(kept), : len(kept)] = state.K[np.ix_(kept, kept)]
        state.numbers[:, : len(kept)] = state.numbers[:, kept]
        state.sample[: len(kept)] = state.sample[kept]
        state.counts[0] = len(kept)

    def _finish(self) -> None:
        """Reprocessing until no pair of the samples held violates optimality by more than tau."""
        going = True
        while going and not self._late():
            n_steps = max(16, STEP_VALUES // max(1, int(self.state.counts[0])))
            going = _native.lasvm_reprocess(self.state.tau, self.recipe.max_support, n_steps, *self._memory())

"""The working-set method for small problems: all kernel rows fit into memory, and nothing is shrunk.

The rounds are those of ``working_set.py``, but every sample is active from the start and kernel row i is
stored at position i. A column of a thousand samples takes milliseconds, so the work between rounds matters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import _native
from ...solving import FLOAT_EPS, Certificate, State, Stop
from .box_problem import BoxProblem
from .polish import polish

ROUNDS_PER_STEP = 16
MAX_STEPS_BEFORE_POLISH = 4  # afterwards the exact method takes over
GAP_BEFORE_POLISH = 1e-8  # relative gap to reach by rounds before the exact method starts
MAX_POLISHED_AT_ONCE = 128  # samples of a problem for which such rounds take longer than they save
GAP_BEFORE_POLISH_AT_ONCE = 0.1  # of these problems
MAX_STATIONARY_STEPS = 8  # with KKT violations within rounding, before a solve counts as stalled
MAX_FRUITLESS_STEPS = 300  # after the exact method, before a solve counts as stalled
LEAST_PROGRESS = 0.01  # of the gap in so many steps


def stands_still(state: State, violation: float, g: np.ndarray) -> bool:
    """Whether many steps in a row, including the last one, had nothing to gain.

    With an indefinite kernel this is a stationary point, however large the gap.
    """
    rounding = 64.0 * FLOAT_EPS * float(np.abs(g).max(initial=1.0))
    state.still = state.still + 1 if violation <= rounding else 0
    return bool(state.still >= MAX_STATIONARY_STEPS)


def is_fruitless(state: State, gap: float, most: int = MAX_FRUITLESS_STEPS) -> bool:
    """Whether the least gap has not fallen for so many steps.

    Gradients may be so rounded that rounds move for ever and lead nowhere.
    """
    if gap < (1.0 - LEAST_PROGRESS) * state.setdefault("least_gap", math.inf):
        state.least_gap, state.fruitless = gap, 0
    else:
        state.fruitless = state.get("fruitless", 0) + 1
    return bool(state.get("fruitless", 0) >= most)


class SmallSets:
    """Rounds on a ``BoxProblem`` whose samples are all active, with current gradients.

    ``memory`` holds two kernel matrices: ``rows``, in which row i is valid if ``known[i]``, and that of a
    block. ``rules`` are the keyword arguments of a round.
    """

    def __init__(
        self,
        problem: BoxProblem,
        stop: Stop,
        state: State,
        memory: np.ndarray,
        rules: dict[str, Any],
    ) -> None:
        n = len(problem.y)
        self.rules = rules
        self.rows, self.block_memory = memory[: n * n].reshape(n, n), memory[n * n : 2 * n * n]
        self.known = np.zeros(n, dtype=np.uint8)
        self.n_known = self.asked = 0
        self.go_on(problem, state, stop)

    def go_on(self, problem: BoxProblem, state: State, stop: Stop) -> None:
        """Switch to this problem, which has the kernel and the targets of the last one."""
        self.problem, self.state, self.stop = problem, state, stop
        self.tiny = problem.tiny
        self.fixed = (problem.lower, problem.upper, problem.y, problem.cost, problem.squared)
        self.shape = problem.shape
        self._look()

    def _look(self) -> None:
        self.b, self.open, self.violation = _native.svm_look(
            self.state.a, self.state.g, *self.fixed, **self.shape
        )

    def _target(self) -> float:
        """The relative gap to reach by rounds; tiny problems leave the rest to the exact method."""
        at_once = not self.state.polished and len(self.state.a) <= MAX_POLISHED_AT_ONCE
        return max(float(self.state.target), GAP_BEFORE_POLISH_AT_ONCE if at_once else 0.0)

    def _is_open(self) -> bool:
        return not self.open <= self._target() * max(abs(self.state.dual), self.tiny)

    def step(self) -> bool:
        """Rounds, followed by the exact method; True if no further progress is possible."""
        state = self.state
        if state.covered and self.open <= state.target * abs(state.dual):
            state.target *= 0.5  # the last certificate was not good enough
        state.covered = False
        weary = not state.polished and state.n_iter >= MAX_STEPS_BEFORE_POLISH
        if self._is_open() and not weary:
            stalled = self._rounds(self._target())
            if self._is_open() and (state.polished or not stalled):
                return stalled or (state.polished and is_fruitless(state, self.open))
        if not state.polished:
            self._polish()
        state.covered = True
        return False

    def due(self) -> bool:
        """Whether there is something new to certify."""
        return bool(self.state.covered)

    def certify(self) -> Certificate:
        """Bounds over all samples."""
        state, problem = self.state, self.problem
        state.covered = True
        state.dual = _native.svm_dual(state.a, state.g, problem.y, kink=problem.kink)
        return Certificate(
            primal=state.dual + self.open,
            dual=state.dual,
            n_support=int(np.count_nonzero(state.a)),
            kernel_values=problem.kernel.n_values,
            tiny=self.tiny,
            violation=self.violation,
            hit_rate=(self.asked - self.n_known) / max(1, self.asked),
        )

    def refresh(self) -> None:
        """Gradients from the coefficients, without the errors that many steps add up to."""
        state, problem = self.state, self.problem
        support = np.flatnonzero(state.a)
        f = problem.kernel.matmul(np.arange(len(state.a)), support, state.a[support, None])[:, 0]
        state.g[:] = problem.y - f - problem.ridge * state.a
        self._look()

    def put_back(self) -> None:
        """Nothing to do: the state is always current."""

    def evaluate_all(self) -> None:
        """Nothing to do: all gradients are fresh."""

    def fresh(self) -> slice:
        """The samples with fresh gradients: all."""
        return slice(None)

    def _rounds(self, target: float) -> bool:
        """Solve blocks of samples and update all gradients."""
        state, kernel = self.state, self.problem.kernel
        shared = (self.rows, self.block_memory, state.a, state.g, *self.fixed)
        rules = dict(
            self.rules,
            n_rounds=ROUNDS_PER_STEP,
            target=target,
            tiny=self.tiny,
            seconds=self.stop.deadline.left(),
            dual=state.dual,
            n_threads=kernel.n_threads,
            cancel=self.stop.cancel,
            **self.shape,
        )
        filler = kernel.filler()
        if filler is None:
            _, state.dual, moved, stalled, asked = _native.svm_rounds(*shared, fetch=self._fetch, **rules)
        else:
            _, state.dual, moved, stalled, asked = _native.svm_small_rounds(
                *shared, source=filler.source, index=kernel.index, known=self.known, **rules
            )
            n_known = int(np.count_nonzero(self.known))
            kernel.n_values += (n_known - self.n_known) * len(self.known)
            self.n_known = n_known
        self.asked += asked
        state.path += moved
        self._look()
        return bool(stalled) or stands_still(state, self.violation, state.g)

    def _fetch(self, which: np.ndarray) -> np.ndarray:
        """The positions of kernel rows, which equal the sample numbers; missing rows are computed."""
        missing = which[self.known[which] == 0]
        if len(missing):
            self.problem.kernel.fill(missing, np.arange(len(self.known)), (self.rows, missing, 0))
            self.known[missing] = 1
            self.n_known += len(missing)
        return which

    def _kernel_rows(self, which: np.ndarray) -> np.ndarray:
        return self.rows[self._fetch(which)]

    def kernel_among(self, which: np.ndarray) -> np.ndarray:
        """The kernel values between some samples; most are already known."""
        return self._kernel_rows(which)[:, which]

    def _polish(self) -> None:
        """The exact solution: by the core, or by ``polish`` if the core meets a singular face."""
        state = self.state
        if len(state.a) > MAX_POLISHED_AT_ONCE:
            self._rounds(GAP_BEFORE_POLISH)
        with _native.one_blas_thread():
            if not _native.svm_polish(
                self.rows,
                self.known,
                state.a,
                state.g,
                *self.fixed,
                seconds=self.stop.deadline.left(),
                fetch=self._fetch,
                cancel=self.stop.cancel,
                **self.shape,
            ):
                state.a, state.g = polish(self.problem, state.a, self.stop.deadline.passed, self._kernel_rows)
        state.polished = True
        self._look()

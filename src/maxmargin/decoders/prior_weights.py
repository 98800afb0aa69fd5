"""The convex decoder with a prior, by a proximal method of multipliers with Newton steps.

The smoothed problem of `prior_program.py` is minimised by Newton's method: directions by conjugate gradients,
preconditioned by the blocks of the classes, and halved steps. Once it is solved well enough its multipliers
become the next center, and gamma falls; the bounds are those of the problem without smoothing.
"""

from __future__ import annotations

import numpy as np

from ..solving import (
    Certificate,
    Check,
    State,
    Status,
    Stop,
    drive,
)
from .prior_program import PriorProgram, Smoothed

GAMMA = 0.3
LEAST_GAMMA = 1e-7
SOLVED = 0.05  # of the duality gap: what may be left of the smoothed problem
MOST_PRODUCTS = 200  # conjugate gradients for one direction


def prior_weights(
    program: PriorProgram, *, stop: Stop, state: State | None = None
) -> tuple[State, Status, tuple[Check, ...]]:
    """Minimise the program: the state has the best ``V`` and the multipliers ``center``.

    A state of another nu, on the same rows, is a start.
    """
    V, center = (
        (state.V, state.center) if state is not None else (program.V0, np.zeros(program.prior_scores.shape))
    )
    iteration = ProximalNewton(program, V.copy(), center.copy())
    status, history = drive(iteration.state, iteration.step, iteration.certify, stop)
    return iteration.state, status, history


class ProximalNewton:
    """One Newton step a step."""

    def __init__(self, program: PriorProgram, V: np.ndarray, center: np.ndarray) -> None:
        self.program = program
        self.state = State(V=V, last=V, center=center, gamma=GAMMA, primal=np.inf)
        self.dual = -np.inf
        self.point = Smoothed(program, V, center, GAMMA)

    def certify(self) -> Certificate:
        """The least objective so far, and what the multipliers prove."""
        state, point = self.state, self.point
        if point.primal < state.primal:
            state.primal, state.V = point.primal, state.last
        self.dual = max(self.dual, self.program.bound(point.t))
        n_support = int(np.count_nonzero(point.t))
        return Certificate(primal=state.primal, dual=self.dual, n_support=n_support, tiny=1e-9)

    def step(self) -> Status | None:
        """A Newton step, or a new center where none is needed."""
        state, program = self.state, self.program
        left = float((self.point.gradient**2).sum()) / (2.0 * program.nu)
        if left <= max(SOLVED * (state.primal - self.dual), 1e-15 * state.primal):
            state.center, state.gamma = self.point.t, max(state.gamma / 3.0, LEAST_GAMMA)
            self.point = Smoothed(program, state.last, state.center, state.gamma)
            return None
        direction = self._direction(min(0.1, np.sqrt(left / max(state.primal, 1e-300))))
        slope = float((self.point.gradient * direction).sum())
        rate = 1.0
        while rate > 1e-8:
            V = state.last + rate * direction
            trial = Smoothed(program, V, state.center, state.gamma)
            if trial.value <= self.point.value + 1e-4 * rate * slope + 1e-15 * abs(self.point.value):
                state.last, self.point = V, trial
                return None
            rate /= 2.0
        return Status.STALLED

    def _direction(self, accuracy: float) -> np.ndarray:
        """Conjugate gradients on curvature x = -gradient."""
        inverse, r = self.point.inverse_blocks(), -self.point.gradient
        x, goal = np.zeros_like(r), accuracy * np.linalg.norm(r)
        z = np.einsum("ptu,pu->pt", inverse, r)
        d, rz = z.copy(), float((r * z).sum())
        for _ in range(MOST_PRODUCTS):
            product = self.point.product(d)
            a = rz / float((d * product).sum())
            x += a * d
            r = r - a * product
            if np.linalg.norm(r) <= goal:
                break
            z = np.einsum("ptu,pu->pt", inverse, r)
            rz, old = float((r * z).sum()), rz
            d = z + (rz / old) * d
        return x

"""The convex decoder with a prior: the problem, smoothed around multipliers, and proximal Newton steps.

    min_V  nu/2 ||V - V0||^2 + sum_i c_i max(0, max_{p != y_i} z_ip),   z_ip = 1 - (v_{y_i} - v_p)'f_i

over V that are 0 where the code is. The loss of a row is the largest <t, z_i> over t >= 0 with sum t <= 1.
Such t_i for all rows give, with the flow E_ip = c_i ([p = y_i] sum_k t_ik - t_ip), the lower bound

    sum_ip c_i t_ip - <E, F V0'> - 1/(2 nu) ||E'F on the code's support||^2

and V0 + E'F / nu at the optimum. Subtracting gamma/2 ||t - center||^2 makes the loss smooth: its t is the
projection of center + z / gamma.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..solving import Certificate, Check, State, Status, Stop, drive


@dataclass(frozen=True)
class PriorProgram:
    """Outputs ``F`` (n, T), labels (n,), costs (n,) of sum 1, the prior and the support (G, T), nu > 0."""

    F: np.ndarray
    labels: np.ndarray
    cost: np.ndarray
    V0: np.ndarray
    support: np.ndarray
    nu: float

    @cached_property
    def prior_scores(self) -> np.ndarray:
        """``F V0'``."""
        return self.F @ self.V0.T

    def missing(self, V: np.ndarray) -> np.ndarray:
        """``z``, (n, G); minus infinity for the true class."""
        S = self.F @ V.T
        rows = np.arange(len(S))
        Z = S + (1.0 - S[rows, self.labels])[:, None]
        Z[rows, self.labels] = -np.inf
        return Z

    def penalty(self, V: np.ndarray) -> float:
        """``nu/2 ||V - V0||^2``."""
        return 0.5 * self.nu * float(((V - self.V0) ** 2).sum())

    def loss(self, Z: np.ndarray) -> float:
        """The mean loss."""
        return float(self.cost @ np.maximum(Z.max(axis=1), 0.0))

    def pull(self, t: np.ndarray) -> np.ndarray:
        """``E'F`` on the support, from t (n, G) that is 0 for the true class."""
        used = np.flatnonzero(t.any(axis=1))
        flow = -self.cost[used, None] * t[used]
        flow[np.arange(len(used)), self.labels[used]] = -flow.sum(axis=1)
        return np.where(self.support, flow.T @ self.F[used], 0.0)

    def bound(self, t: np.ndarray) -> float:
        """The lower bound given by multipliers t."""
        rows = np.arange(len(t))
        gain = t.sum(axis=1) * (1.0 - self.prior_scores[rows, self.labels]) + (t * self.prior_scores).sum(
            axis=1
        )
        return float(self.cost @ gain - (self.pull(t) ** 2).sum() / (2.0 * self.nu))


def capped_simplex(A: np.ndarray) -> np.ndarray:
    """The projection of each row onto {t >= 0, sum t <= 1}; minus infinity becomes 0."""
    t = np.maximum(A, 0.0)
    over = np.flatnonzero(t.sum(axis=1) > 1.0)
    if len(over):
        some = A[over]
        largest = -np.sort(-some, axis=1)
        sums = np.cumsum(np.maximum(largest, -1e300), axis=1) - 1.0
        counts = np.arange(1, some.shape[1] + 1)
        n = (largest * counts > sums).sum(axis=1)
        shift = sums[np.arange(len(over)), n - 1] / n
        t[over] = np.maximum(some - shift[:, None], 0.0)
    return t


class Smoothed:
    """The smoothed problem at V: its value, multipliers, gradient, and products with its curvature."""

    def __init__(self, program: PriorProgram, V: np.ndarray, center: np.ndarray, gamma: float) -> None:
        self.program, self.gamma = program, gamma
        Z = program.missing(V)
        self.primal = program.penalty(V) + program.loss(Z)
        raw = center + Z / gamma
        self.t = capped_simplex(raw)
        own = np.arange(len(Z)), program.labels
        Z[own] = 0.0
        value = (self.t * Z).sum(axis=1) - 0.5 * gamma * ((self.t - center) ** 2).sum(axis=1)
        self.value = program.penalty(V) + float(program.cost @ value)
        self.gradient = program.nu * (V - program.V0) - program.pull(self.t)
        self.rows = np.flatnonzero(self.t.any(axis=1))
        self.active = self.t[self.rows] > 0.0
        self.full = np.maximum(raw[self.rows], 0.0).sum(axis=1) > 1.0  # on the face sum t = 1
        self.F, self.labels = program.F[self.rows], program.labels[self.rows]
        self.scale = program.cost[self.rows] / gamma

    def product(self, D: np.ndarray) -> np.ndarray:
        """The curvature times D."""
        own = np.arange(len(self.rows)), self.labels
        S = self.F @ D.T
        change = np.where(self.active, S - S[own][:, None], 0.0)
        count = np.maximum(self.active.sum(axis=1), 1)
        mean = np.where(self.full, change.sum(axis=1) / count, 0.0)
        change -= np.where(self.active, mean[:, None], 0.0)
        flow = -self.scale[:, None] * change
        flow[own] = np.where(self.full, 0.0, -flow.sum(axis=1))
        return self.program.nu * D - np.where(self.program.support, flow.T @ self.F, 0.0)

    def inverse_blocks(self) -> np.ndarray:
        """The inverse of the curvature's block of each class, (G, T, T)."""
        G, T = self.program.V0.shape
        count = self.active.sum(axis=1)
        share = np.where(self.full, 1.0 - 1.0 / np.maximum(count, 1), 1.0)
        weight = self.active * (self.scale * share)[:, None]
        weight[np.arange(len(weight)), self.labels] = np.where(self.full, 0.0, self.scale * count)
        blocks = np.empty((G, T, T))
        for p in range(G):
            used = np.flatnonzero(weight[:, p])
            X = np.where(self.program.support[p], self.F[used], 0.0) * np.sqrt(weight[used, p])[:, None]
            blocks[p] = X.T @ X
        blocks[:, np.arange(T), np.arange(T)] += self.program.nu
        return np.linalg.inv(blocks)


INITIAL_GAMMA = 0.3
MIN_GAMMA = 1e-7
INNER_GAP_FRACTION = 0.05  # the smoothed problem is solved to this fraction of the duality gap
MAX_CONJUGATE_GRADIENTS = 200  # iterations for one direction


def prior_weights(
    program: PriorProgram, *, stop: Stop, state: State | None = None
) -> tuple[State, Status, tuple[Check, ...]]:
    """Minimise the program: the state has the best ``V`` and the multipliers ``center``.

    The state of another nu on the same rows is a warm start.
    """
    V, center = (
        (state.V, state.center) if state is not None else (program.V0, np.zeros(program.prior_scores.shape))
    )
    iteration = ProximalNewton(program, V.copy(), center.copy())
    status, history = drive(iteration.state, iteration.step, iteration.certify, stop)
    return iteration.state, status, history


class ProximalNewton:
    """A Newton step on the smoothed problem, or a new center, in each step."""

    def __init__(self, program: PriorProgram, V: np.ndarray, center: np.ndarray) -> None:
        self.program = program
        self.state = State(V=V, last=V, center=center, gamma=INITIAL_GAMMA, primal=np.inf)
        self.dual = -np.inf
        self.point = Smoothed(program, V, center, INITIAL_GAMMA)

    def certify(self) -> Certificate:
        """The smallest objective so far, and the largest lower bound."""
        state, point = self.state, self.point
        if point.primal < state.primal:
            state.primal, state.V = point.primal, state.last
        self.dual = max(self.dual, self.program.bound(point.t))
        n_support = int(np.count_nonzero(point.t))
        return Certificate(primal=state.primal, dual=self.dual, n_support=n_support, tiny=1e-9)

    def step(self) -> Status | None:
        """A Newton step, or a new center if the smoothed problem is solved."""
        state, program = self.state, self.program
        left = float((self.point.gradient**2).sum()) / (2.0 * program.nu)
        if left <= max(INNER_GAP_FRACTION * (state.primal - self.dual), 1e-15 * state.primal):
            state.center, state.gamma = self.point.t, max(state.gamma / 3.0, MIN_GAMMA)
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
        for _ in range(MAX_CONJUGATE_GRADIENTS):
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

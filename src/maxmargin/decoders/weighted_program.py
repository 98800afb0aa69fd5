"""Decoding weights by constraint generation: a linear program over few of the pairs, solved repeatedly.

HiGHS holds the dual of the restricted program,

    max  margin sum_j pi_j - sum_p l_p    s.t.  A_pq(pi) <= l_p where m_pq != 0,   0 <= pi_j <= c_j

with a column for each active pair and a row for each weight: the basis has the size of the weights, slacks
need no variables, and the weights are the rows' multipliers. Each solve starts from the last basis.

The restricted optimum W' moves far from round to round, as usual with cutting planes. So the next W is the
point with the smallest loss between the best W so far and W', and the pairs violated a little beyond that
point become active.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics import SERIAL_SIMPLEX, Outcome, new_highs, outcome_of, run_highs
from ..solving import Certificate, Check, Deadline, State, Status, Stop, drive

OVERSHOOT = 0.3  # how far beyond the best point, towards the restricted optimum, violated pairs are sought
NEW_PAIRS_PER_ROUND = 500  # or half as many as are active, if that is more


def learn_weights(
    program: WeightsProgram, W: np.ndarray, *, epsilon: float, stop: Stop
) -> tuple[State, Status, tuple[Check, ...]]:
    """Minimise the program from W: the state has the best ``W`` and the active ``pairs``.

    Pairs violated by at most ``epsilon`` stay inactive. ``stop.tol`` limits the relative duality gap.
    """
    generation = ConstraintGeneration(program, W, epsilon, stop)
    status, history = drive(generation.state, generation.step, generation.certify, stop)
    return generation.state, status, history


class ConstraintGeneration:
    """Solves one restricted program in each step."""

    def __init__(self, program: WeightsProgram, W: np.ndarray, epsilon: float, stop: Stop) -> None:
        self.program, self.epsilon, self.deadline = program, epsilon, stop.deadline
        self.state = State(W=W, pairs=np.zeros(0, dtype=np.int64))
        self.master = RestrictedDual(program)
        self.Z = program.missing(W)  # at the best point
        self.corner = self.beyond = self.Z  # at the restricted optimum, and where violated pairs are sought
        self.dual = -np.inf

    def certify(self) -> Certificate:
        """The loss of the best weights, and the largest lower bound."""
        primal, tiny = self.program.loss(self.Z), self.program.tiny
        dual = min(self.dual, primal) if self.dual <= primal + 1e-6 * tiny else self.dual
        return Certificate(primal=primal, dual=dual, n_support=len(self.state.pairs), tiny=tiny)

    def step(self) -> Status | None:
        """Activate violated pairs, solve, and move towards the solution."""
        pairs = self._violated(self.beyond)
        if not len(pairs):
            pairs = self._violated(self.corner)
        if not len(pairs):  # no inactive pair is violated by more than epsilon
            return Status.CONVERGED
        self.master.add(pairs)
        self.state.pairs = np.concatenate([self.state.pairs, pairs])
        outcome = self.master.solve(self.deadline)
        found = self.master.solution() if outcome == "optimal" else None
        if found is None:
            return None if outcome == "interrupted" else Status.STALLED
        self._move(*found)
        return None

    def _violated(self, Z: np.ndarray) -> np.ndarray:
        missing = Z.ravel().copy()
        missing[self.state.pairs] = -np.inf
        G, cost = Z.shape[1], self.program.cost
        pairs = np.flatnonzero(missing > self.epsilon)
        pairs = pairs[cost[pairs // G] > 0.0]
        most = max(NEW_PAIRS_PER_ROUND, len(self.state.pairs) // 2)
        if len(pairs) > most:
            worth = missing[pairs] * cost[pairs // G]
            pairs = np.sort(pairs[np.argsort(-worth, kind="stable")[:most]])
        return pairs

    def _move(self, corner: np.ndarray, multipliers: np.ndarray) -> None:
        program, state = self.program, self.state
        pi = np.zeros(self.Z.shape)
        pi.ravel()[state.pairs] = multipliers
        self.dual = max(self.dual, program.bound(pi))
        self.corner = program.missing(corner)
        share = program.best_share(self.Z, self.corner)
        self.beyond = program.mixed(self.Z, self.corner, share + OVERSHOOT * (1.0 - share))
        W = state.W + share * (corner - state.W)
        Z = program.missing(W)
        if program.loss(Z) < program.loss(self.Z):
            state.W, self.Z = W, Z


class RestrictedDual:
    """The restricted program inside HiGHS."""

    def __init__(self, program: WeightsProgram) -> None:
        self.program = program
        self.weights = np.nonzero(program.matrix)  # (class, column) of each row
        self.row = np.full(program.matrix.shape, -1)
        n, G = len(self.weights[0]), len(program.matrix)
        self.row[self.weights] = np.arange(n)
        self.pairs = np.zeros(0, dtype=np.int64)
        self.unit = float(np.median(program.cost[program.cost > 0.0]))
        self.highs = new_highs(SERIAL_SIMPLEX)
        none, zeros = np.zeros(0, dtype=np.int32), np.zeros(n)
        self.highs.addRows(n, np.full(n, -np.inf), zeros, 0, np.zeros(n, dtype=np.int32), none, np.zeros(0))
        starts = np.searchsorted(self.weights[0], np.arange(G)).astype(np.int32)
        free = np.full(G, np.inf)
        self.highs.addCols(G, np.ones(G), -free, free, n, starts, np.arange(n, dtype=np.int32), -np.ones(n))

    def add(self, pairs: np.ndarray) -> None:
        """Add columns for pairs, given as indices ``i G + p``."""
        program = self.program
        i, p = np.divmod(pairs, len(program.matrix))
        y, h = program.labels[i], program.H[i]
        value = np.hstack([program.matrix[y] * h, -program.matrix[p] * h])
        index = np.hstack([self.row[y], self.row[p]])
        kept = value != 0.0
        starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
        n = len(pairs)
        bounds = np.zeros(n), program.cost[i] / self.unit
        entries = starts[-1], starts[:-1], index[kept].astype(np.int32), value[kept]
        self.highs.addCols(n, np.full(n, -program.margin), *bounds, *entries)
        self.pairs = np.concatenate([self.pairs, pairs])

    def solve(self, deadline: Deadline) -> Outcome:
        """Run the simplex method from the last basis; if that fails by rounding, once more from scratch."""
        run_highs(self.highs, deadline)
        outcome = outcome_of(self.highs)
        if outcome == "failed":
            self.highs.clearSolver()
            run_highs(self.highs, deadline)
            outcome = outcome_of(self.highs)
        return outcome

    def solution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Weights whose rows sum to 1, and multipliers within their bounds; None if they are not valid."""
        program, found = self.program, self.highs.getSolution()
        W = np.zeros(program.matrix.shape)
        W[self.weights] = np.maximum(-np.asarray(found.row_dual), 0.0)
        sums = W.sum(axis=1, keepdims=True)
        pi = np.asarray(found.col_value)[len(W) :] * self.unit
        if not (np.isfinite(pi).all() and np.isfinite(sums).all() and (sums > 0.5).all()):
            return None
        return W / sums, np.clip(pi, 0.0, program.cost[self.pairs // len(W)])


NEGLIGIBLE_LOSS = 1e-9  # in units of the margin


@dataclass(frozen=True)
class WeightsProgram:
    """``H`` (n, T) in {-1, 0, +1}, labels (n,), costs (n,) of sum 1, a code (G, T), a margin > 0."""

    H: np.ndarray
    labels: np.ndarray
    cost: np.ndarray
    matrix: np.ndarray
    margin: float

    @property
    def tiny(self) -> float:
        """A loss that counts as zero."""
        return NEGLIGIBLE_LOSS * self.margin

    def missing(self, W: np.ndarray) -> np.ndarray:
        """How much each pair (i, p) lacks to the margin, (n, G); minus infinity for p = y_i."""
        return self._missing(self.H @ (self.matrix * W).T)

    def _missing(self, S: np.ndarray) -> np.ndarray:
        rows = np.arange(len(S))
        Z = S + (self.margin - S[rows, self.labels])[:, None]
        Z[rows, self.labels] = -np.inf
        return Z

    def mixed(self, Z: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
        """``missing`` at ``(1 - share) W + share W_other``."""
        rows = np.arange(len(Z))
        Z, other = Z.copy(), other.copy()
        Z[rows, self.labels] = other[rows, self.labels] = 0.0
        Z += share * (other - Z)
        Z[rows, self.labels] = -np.inf
        return Z

    def loss(self, Z: np.ndarray) -> float:
        """The objective, from what ``missing`` returns."""
        return float(self.cost @ np.maximum(Z, 0.0).sum(axis=1))

    def bound(self, pi: np.ndarray) -> float:
        """The dual value of multipliers (n, G) between 0 and the costs."""
        flow = -pi
        flow[np.arange(len(pi)), self.labels] += pi.sum(axis=1)
        A = np.where(self.matrix != 0, self.matrix * (flow.T @ self.H), -np.inf)
        return float(self.margin * pi.sum() - A.max(axis=1).sum())

    def best_share(self, Z: np.ndarray, other: np.ndarray) -> float:
        """The share of another point that minimises the loss, which is convex and piecewise linear."""
        pairs = np.flatnonzero((Z > 0.0) | (other > 0.0))
        a, b = Z.ravel()[pairs], other.ravel()[pairs]
        slope = self.cost[pairs // Z.shape[1]] * (b - a)
        start = float(slope[(a > 0.0) | ((a == 0.0) & (b > 0.0))].sum())
        bends = np.flatnonzero(((a > 0.0) != (b > 0.0)) & (a != 0.0))
        where = a[bends] / (a[bends] - b[bends])
        order = np.argsort(where, kind="stable")
        slopes = start + np.concatenate([[0.0], np.cumsum(np.abs(slope[bends][order]))])
        first = int(np.searchsorted(slopes, 0.0))
        return float(np.concatenate([[0.0], where[order], [1.0]])[first])


def column_accuracy(H: np.ndarray, labels: np.ndarray, weight: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Each column's accuracy on each class, with rows that sum to 1: the initial weights.

    If all columns of a class are always wrong, or a class has no rows, its columns count equally.
    """
    right = np.zeros(matrix.shape)
    for p in np.unique(labels):
        of_class = labels == p
        right[p] = weight[of_class] @ (H[of_class] == matrix[p])
    right[matrix == 0] = 0.0
    right = np.where(right.any(axis=1, keepdims=True), right, matrix != 0)
    return right / right.sum(axis=1, keepdims=True)

"""The linear program of learned decoding weights: its loss, its bound, and where it starts.

    min_W  sum_i c_i sum_{p != y_i} max(0, margin - s_{y_i}(h_i) + s_p(h_i)),    s_p(h) = sum_q w_pq m_pq h_q
    s.t.   w_p >= 0,  sum_q w_pq = 1,  w_pq = 0 where m_pq = 0

Its dual has a multiplier 0 <= pi_ip <= c_i for each pair and, with A_pq = m_pq sum_i ([p = y_i] sum_k pi_ik -
pi_ip) h_iq, maximises

    margin sum_ip pi_ip - sum_p max {A_pq : m_pq != 0}

so that any multipliers between 0 and c give a bound from below, whether or not they solve a program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TINY = 1e-9  # a loss of so many margins counts as none


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
        """What counts as no loss."""
        return TINY * self.margin

    def missing(self, W: np.ndarray) -> np.ndarray:
        """What each pair (i, p) lacks to the margin, (n, G); minus infinity for p = y_i."""
        return self._missing(self.H @ (self.matrix * W).T)

    def _missing(self, S: np.ndarray) -> np.ndarray:
        rows = np.arange(len(S))
        Z = S + (self.margin - S[rows, self.labels])[:, None]
        Z[rows, self.labels] = -np.inf
        return Z

    def mixed(self, Z: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
        """What is missing at ``(1 - share) W + share W_other``."""
        rows = np.arange(len(Z))
        Z, other = Z.copy(), other.copy()
        Z[rows, self.labels] = other[rows, self.labels] = 0.0
        Z += share * (other - Z)
        Z[rows, self.labels] = -np.inf
        return Z

    def loss(self, Z: np.ndarray) -> float:
        """The objective, from what is missing."""
        return float(self.cost @ np.maximum(Z, 0.0).sum(axis=1))

    def bound(self, pi: np.ndarray) -> float:
        """The dual value of multipliers (n, G) between 0 and the costs."""
        flow = -pi
        flow[np.arange(len(pi)), self.labels] += pi.sum(axis=1)
        A = np.where(self.matrix != 0, self.matrix * (flow.T @ self.H), -np.inf)
        return float(self.margin * pi.sum() - A.max(axis=1).sum())

    def best_share(self, Z: np.ndarray, other: np.ndarray) -> float:
        """The share of another point at which the loss, convex and piecewise linear, is least."""
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
    """Each column's share of right outputs on each class, rows divided by their sums: where learning starts.

    Where all columns of a class are always wrong, or a class has no rows, its columns count alike.
    """
    right = np.zeros(matrix.shape)
    for p in np.unique(labels):
        of_class = labels == p
        right[p] = weight[of_class] @ (H[of_class] == matrix[p])
    right[matrix == 0] = 0.0
    right = np.where(right.any(axis=1, keepdims=True), right, matrix != 0)
    return right / right.sum(axis=1, keepdims=True)

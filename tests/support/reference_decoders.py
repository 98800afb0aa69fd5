"""Slow, obvious oracles for decoders: likelihoods and programs handed to a general solver."""

import numpy as np
from scipy.optimize import linprog, minimize

from .quadratic_program import solve_qp


def bradley_terry_likelihood(p, r, matrix):
    """Mean log-likelihood of class probabilities p, given those of the columns' sides with +1."""
    above, below = (matrix == 1).T @ p, (matrix == -1).T @ p
    return np.mean(r * np.log(above / (above + below)) + (1 - r) * np.log(below / (above + below)))


def most_likely_probabilities(r, matrix, rng, n_starts=5):
    """The largest such likelihood that a general-purpose optimiser finds from several points."""

    def loss(theta):
        p = np.exp(theta - theta.max())
        return -bradley_terry_likelihood(np.maximum(p / p.sum(), 1e-12), r, matrix)

    starts = rng.normal(size=(n_starts, len(matrix)))
    return max(-minimize(loss, start, method="L-BFGS-B").fun for start in starts)


def decoding_weights_lp(H, labels, cost, matrix, margin):
    """The learned decoding weights' linear program over all pairs, in (W, xi): its optimum."""
    G, T = matrix.shape
    pairs = [(i, p) for i in range(len(H)) for p in range(G) if p != labels[i]]
    A = np.zeros((len(pairs), G * T + len(pairs)))
    for row, (i, p) in enumerate(pairs):
        y = labels[i]
        A[row, y * T : (y + 1) * T] = -matrix[y] * H[i]
        A[row, p * T : (p + 1) * T] = matrix[p] * H[i]
        A[row, G * T + row] = -1.0
    sums = np.hstack([np.kron(np.eye(G), np.ones(T)), np.zeros((G, len(pairs)))])
    objective = np.concatenate([np.zeros(G * T), [cost[i] for i, _ in pairs]])
    bounds = [(0.0, 1.0 if m else 0.0) for m in matrix.ravel()] + [(0.0, None)] * len(pairs)
    found = linprog(objective, A, np.full(len(pairs), -margin), sums, np.ones(G), bounds, method="highs-ds")
    assert found.status == 0, found.message
    return found.fun


def prior_decoder_qp(F, labels, cost, V0, support, nu):
    """The convex decoder with a prior as a quadratic program in (V, xi): its optimum."""
    G, T = V0.shape
    n = len(F)
    P = np.diag(np.concatenate([np.ones(G * T), np.zeros(n)]))  # all is divided by nu, for V's last digits
    c = np.concatenate([-V0.ravel(), cost / nu])
    rows = []
    for i in range(n):
        for p in set(range(G)) - {labels[i]}:
            row = np.zeros((G, T))
            row[labels[i]], row[p] = -F[i], F[i]
            rows.append(np.concatenate([row.ravel(), -np.eye(n)[i]]))
    bound = np.where(support.ravel(), np.inf, 0.0)
    lower, upper = np.concatenate([-bound, np.zeros(n)]), np.concatenate([bound, np.full(n, np.inf)])
    x = solve_qp(P, c, lower=lower, upper=upper, G=np.array(rows), h=-np.ones(len(rows)))
    return nu * (0.5 * x @ P @ x + c @ x + 0.5 * (V0**2).sum()), x[: G * T].reshape(G, T)

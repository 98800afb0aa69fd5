"""The top-k hinge by sorting, and the top-k SVM as a quadratic program."""

import itertools

import numpy as np

from .quadratic_program import solve_qp


def top_k_loss(s, y, k, true_class):
    """The top-k hinge of one row of scores, by sorting."""
    violations = [1.0 + s[j] - s[y] for j in range(len(s)) if j != y] + [0.0] * (true_class == "include")
    return max(0.0, sum(sorted(violations)[-k:])) / k


def top_k_objective(W, X, labels, weight, alpha, k, true_class):
    """``alpha/2 ||W||^2 + weighted mean loss``, as printed."""
    losses = [top_k_loss(s, y, k, true_class) for s, y in zip(X @ W, labels)]
    return 0.5 * alpha * np.sum(W**2) + weight @ losses / weight.sum()


def top_k_primal(X, labels, weight, alpha, k, true_class, n_classes):
    """The top-k SVM as a quadratic program in (W, t, rho, xi); returns W and the objective.

    A sum of the k largest is min_t k t + sum_j max(0, z_j - t), so the loss is the least xi_i >= 0 with

    k xi_i >= k t_i + sum_j rho_ij,   rho_ij >= z_ij - t_i,   rho >= 0,   z_ij = 1 + (w_j - w_y)'x_i, z_iy = 0
    """
    n, d = X.shape
    m = n_classes
    first_t, first_rho, first_xi = d * m, d * m + n, d * m + n + n * m
    size = first_xi + n
    P, c = np.zeros((size, size)), np.zeros(size)
    P[: d * m, : d * m] = alpha * np.eye(d * m)
    c[first_xi:] = weight / weight.sum()
    G, h = [], []
    for i, y in enumerate(labels):
        row = np.zeros(size)
        row[first_t + i], row[first_xi + i] = k, -k
        row[first_rho + i * m : first_rho + (i + 1) * m] = 1.0
        G.append(row)
        h.append(0.0)
        for j in range(m):
            if j == y and true_class == "exclude":
                continue
            row = np.zeros(size)
            if j != y:
                row[: d * m] = np.outer(X[i], np.eye(m)[j] - np.eye(m)[y]).ravel()
            row[first_t + i] = row[first_rho + i * m + j] = -1.0
            G.append(row)
            h.append(0.0 if j == y else -1.0)
    lower = np.full(size, -np.inf)
    lower[first_rho:] = 0.0
    x = solve_qp(P, c, lower=lower, G=np.array(G), h=np.array(h))
    W = x[: d * m].reshape(d, m)
    return W, top_k_objective(W, X, labels, weight, alpha, k, true_class)


def top_k_vertices(m, y, k, true_class):
    """Slopes that the top-k hinge can have inside a region where it is linear, and 0."""
    sizes = (k - 1, k) if true_class == "include" else (k,)
    found = [np.zeros(m)]
    for size in sizes:
        for chosen in itertools.combinations([j for j in range(m) if j != y], size):
            v = np.zeros(m)
            v[list(chosen)] = 1.0 / k
            v[y] = -size / k
            found.append(v)
    return np.array(found)

"""Slow, obvious oracles for least squares, ridge and the lasso."""

from fractions import Fraction

import numpy as np

from .quadratic_program import solve_qp


def shortest_least_squares(X, y, weight, free):
    """min 1/2 sum_i weight_i (y_i - <w, x_i> - b)^2, the shortest w of several; and its value."""
    centre, level = (weight @ X / weight.sum(), weight @ y / weight.sum()) if free else (0.0, 0.0)
    root = np.sqrt(weight)
    w = np.linalg.lstsq(root[:, None] * (X - centre), root * (y - level), rcond=None)[0]
    b = float(level - w @ centre) if free else 0.0
    return w, b, 0.5 * float(weight @ (y - X @ w - b) ** 2)


def ridge_in_extended_precision(X, y, cost, free):
    """min 1/2 ||w||^2 + 1/2 sum_i cost_i (y_i - <w, x_i> - b)^2 by elimination in long doubles."""
    n, d = X.shape
    Z = np.column_stack([X, np.ones(n)]).astype(np.longdouble)
    penalty = np.append(np.ones(d), 0.0 if free else 1e300).astype(np.longdouble)
    M = (Z.T * cost) @ Z + np.diag(penalty)
    x = (Z.T * cost) @ y.astype(np.longdouble)
    for k in range(d + 1):  # symmetric positive definite: no pivots needed
        for i in range(k + 1, d + 1):
            factor = M[i, k] / M[k, k]
            M[i] -= factor * M[k]
            x[i] -= factor * x[k]
    for k in reversed(range(d + 1)):
        x[k] = (x[k] - M[k, k + 1 :] @ x[k + 1 :]) / M[k, k]
    w, b = x[:d].astype(float), float(x[d])
    return w, b, 0.5 * w @ w + 0.5 * cost @ (y - X @ w - b) ** 2


def lasso_primal(X, y, cost, free):
    """min sum_j (p_j + m_j) + 1/2 sum_i cost_i r_i^2  s.t.  r = y - X(p - m) - b,  p, m >= 0."""
    n, d = X.shape
    P = np.zeros((2 * d + 1 + n, 2 * d + 1 + n))
    scale = max(1.0, cost.max())
    P[2 * d + 1 :, 2 * d + 1 :] = np.diag(cost / scale)
    c = np.concatenate([np.ones(2 * d) / scale, np.zeros(n + 1)])
    A = np.hstack([X, -X, np.full((n, 1), 1.0 if free else 0.0), np.eye(n)])
    lower = np.concatenate([np.zeros(2 * d), np.full(n + 1, -np.inf)])
    if not free:
        P[2 * d, 2 * d] = 1.0
    x = solve_qp(P, c, A, y, lower=lower)
    w, b = x[:d] - x[d : 2 * d], x[2 * d] if free else 0.0
    return w, b, np.abs(w).sum() + 0.5 * cost @ (y - X @ w - b) ** 2


def ridge_left_out_exactly(X, y, cost, free):
    """Each row's ridge output from the others alone, in rational arithmetic, so without any rounding.

    The dual of the others, bordered by the intercept's condition; or the normal equations, where smaller.
    """
    n, d = X.shape
    rows = [[Fraction(float(value)) for value in row] for row in X]
    target, cost = [Fraction(float(value)) for value in y], [Fraction(float(value)) for value in cost]
    outputs = np.empty(n)
    for i in range(n):
        others = [k for k in range(n) if k != i]
        if n - 1 <= d:
            M = [[_product(rows[k], rows[j]) + (k == j) / cost[k] for j in others] + [free] for k in others]
            M.append([Fraction(free)] * (n - 1) + [Fraction(not free)])
            *shares, b = _solved_exactly(M, [target[k] for k in others] + [Fraction(0)])
            w = [_product(shares, [rows[k][f] for k in others]) for f in range(d)]
        else:
            Z = [rows[k] + [Fraction(free)] for k in others]
            weighted = [[cost[k] * value for value in z] for k, z in zip(others, Z)]
            left, right = list(zip(*weighted)), list(zip(*Z))
            M = [[_product(p, q) for q in right] for p in left]
            for f in range(d):
                M[f][f] += 1
            M[d][d] += not free
            *w, b = _solved_exactly(M, [_product(p, [target[k] for k in others]) for p in left])
        outputs[i] = float(_product(w, rows[i]) + b)
    return outputs


def _product(u, v):
    return sum((p * q for p, q in zip(u, v)), Fraction(0))


def _solved_exactly(M, right):
    """Elimination with the first pivot that is not 0."""
    M = [[Fraction(value) for value in row] + [q] for row, q in zip(M, right)]
    for k in range(len(M)):
        pivot = next(i for i in range(k, len(M)) if M[i][k] != 0)
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(len(M)):
            if i != k and M[i][k] != 0:
                factor = M[i][k] / M[k][k]
                M[i] = [p - factor * q for p, q in zip(M[i], M[k])]
    return [row[-1] / row[k] for k, row in enumerate(M)]

"""Slow, obvious oracles for support vector machines: textbook programs handed to a general solver."""

import itertools

import numpy as np

from .quadratic_program import solve_qp


def svm_primal(X, y, cost, loss, intercept):
    """The soft-margin SVM in (w, b, xi), as printed in textbooks; returns w, b and the objective.

    min 1/2 ||w||^2 + p/2 b^2 + sum_i cost_i xi_i        (hinge; squared hinge: cost_i xi_i^2 / 2)
    s.t. y_i (<w, x_i> + b) >= 1 - xi_i,  xi >= 0
    """
    n, d = X.shape
    size = d + 1 + n
    P = np.zeros((size, size))
    P[:d, :d] = np.eye(d)
    P[d, d] = 1.0 if intercept == "penalised" else 0.0
    c = np.zeros(size)
    if loss == "hinge":
        c[d + 1 :] = cost
    else:
        P[d + 1 :, d + 1 :] = np.diag(cost)
    G = np.hstack([-y[:, None] * X, -y[:, None], -np.eye(n)])
    lower = np.concatenate([np.full(d + 1, -np.inf), np.zeros(n)])
    upper = np.full(size, np.inf)
    if intercept == "none":  # b takes no part, and its own square holds it at 0
        P[d, d] = 1.0
        G[:, d] = 0.0
    scale = max(1.0, cost.max())  # the solver's tolerances are meant for numbers near 1
    x = solve_qp(P / scale, c / scale, lower=lower, upper=upper, G=G, h=-np.ones(n))
    w, b = x[:d], x[d]
    return w, b, svm_objective(w, b, X, y, cost, loss, intercept)


def svm_objective(w, b, X, y, cost, loss, intercept):
    xi = np.maximum(0.0, 1.0 - y * (X @ w + b))
    penalty = 0.5 * (w @ w + (b * b if intercept == "penalised" else 0.0))
    return penalty + cost @ (xi if loss == "hinge" else 0.5 * xi**2)


def svm_dual_objective(a, X, y, cost, loss, intercept):
    """The dual at ``a``, which must be feasible up to rounding."""
    assert (a >= 0.0).all()
    if loss == "hinge":
        assert (a <= cost * (1 + 1e-12)).all()
    if intercept == "free":
        assert abs(a @ y) <= 1e-9 * max(a.sum(), 1e-300)
    w = (a * y) @ X
    extra = (a @ y) ** 2 if intercept == "penalised" else 0.0
    ridge = 0.0 if loss == "hinge" else 0.5 * np.sum(a**2 / cost)
    return a.sum() - 0.5 * (w @ w + extra) - ridge


def kernel_svm_dual(K, y, cost, loss):
    """The dual of the kernel SVM with a free intercept; returns a and its value, or None where it gives up.

    max a'y - 1/2 a'(K + R) a   s.t.  sum a = 0,  a y in [0, cost] (squared hinge: a y >= 0, R = 1 / cost)
    """
    squared = loss == "squared-hinge"
    ridge = np.diag(1.0 / cost) if squared else 0.0
    most = np.inf if squared else cost
    lower, upper = np.where(y < 0, -most, 0.0), np.where(y > 0, most, 0.0)
    best = None
    equal, units = np.ones((1, len(y))), (1.0, cost.max(), cost.min(), 1.0 / np.abs(K + ridge).max())
    for unit, eps in itertools.product(units, (1e-11, 1e-9)):  # the solver likes numbers near 1
        try:
            P = unit * (K + ridge)
            a = unit * solve_qp(P, -y, equal, np.zeros(1), lower / unit, upper / unit, eps=eps)
        except AssertionError:
            continue
        a = np.clip(a, lower, upper)  # feasible beyond the solver's tolerance
        up, down = a[a > 0.0].sum(), -a[a < 0.0].sum()
        a = np.where(a > 0.0, a * min(1.0, down / max(up, 1e-300)), a * min(1.0, up / max(down, 1e-300)))
        value = a @ y - 0.5 * a @ (K + ridge) @ a
        best = (a, value) if best is None or value > best[1] else best
    return best


def kernel_svm_bounds(a, b, K, y, cost, loss):
    """Primal and dual value of coefficients, which must be feasible up to rounding."""
    assert (a * y >= 0.0).all()
    assert loss == "squared-hinge" or (a * y <= cost).all()
    assert abs(a.sum()) <= 1e-12 * np.abs(a).sum() * max(1, len(a))
    xi = np.maximum(0.0, 1.0 - y * (K @ a + b))
    squared = loss == "squared-hinge"
    half_norm = 0.5 * a @ K @ a
    primal = half_norm + cost @ (0.5 * xi**2 if squared else xi)
    return primal, a @ y - half_norm - (0.5 * np.sum(a**2 / cost) if squared else 0.0)


def all_pairs_primal(X, labels, cost, n_classes):
    """The all-pairs M-SVM in (w_g, b_g, xi_ig), as printed; returns W, b and the objective.

    min 1/2 sum_g ||w_g||^2 + sum_i cost_i sum_{g != y_i} xi_ig
    s.t. <w_{y_i} - w_g, x_i> + b_{y_i} - b_g >= 1 - xi_ig,  xi >= 0,  sum_g b_g = 0
    """
    n, d = X.shape
    pairs = [(i, g) for i in range(n) for g in range(n_classes) if g != labels[i]]
    n_weights, n_pairs = n_classes * (d + 1), len(pairs)
    G = np.zeros((n_pairs, n_weights + n_pairs))
    for k, (i, g) in enumerate(pairs):
        row = np.append(X[i], 1.0)
        G[k, labels[i] * (d + 1) : (labels[i] + 1) * (d + 1)] = -row
        G[k, g * (d + 1) : (g + 1) * (d + 1)] = row
        G[k, n_weights + k] = -1.0
    P = np.zeros(n_weights + n_pairs)
    P[:n_weights] = np.tile(np.append(np.ones(d), 0.0), n_classes)
    c = np.append(np.zeros(n_weights), [cost[i] for i, _ in pairs])
    A = np.zeros((1, len(P)))
    A[0, d : n_weights : d + 1] = 1.0
    lower = np.append(np.full(n_weights, -np.inf), np.zeros(n_pairs))
    scale = max(1.0, cost.max())
    x = solve_qp(np.diag(P / scale), c / scale, A=A, b=np.zeros(1), lower=lower, G=G, h=-np.ones(n_pairs))
    W = x[:n_weights].reshape(n_classes, d + 1)
    return (
        W[:, :-1],
        W[:, -1],
        all_pairs_objective(X @ W[:, :-1].T, W[:, :-1] @ W[:, :-1].T, W[:, -1], labels, cost),
    )


def all_pairs_objective(F, norms, b, labels, cost):
    """From outputs without intercepts, (n, n_classes), and the products of the functions."""
    scores = F + b
    xi = np.maximum(0.0, 1.0 - scores[np.arange(len(labels)), labels][:, None] + scores)
    xi[np.arange(len(labels)), labels] = 0.0
    return 0.5 * np.trace(norms) + cost @ xi.sum(axis=1)


def lagrangian_dual(K, y, cost):
    """The Lagrangian SVM on its textbook dual; returns a >= 0 and its dual value, or None where it gives up.

    max e'a - 1/2 a'(HH' + diag(1/cost)) a   s.t.  a >= 0,  HH' = diag(y) (K + 1 1') diag(y)
    """
    Q = np.outer(y, y) * (K + 1.0) + np.diag(1.0 / cost)
    best = None
    units = (1.0, cost.max(), cost.min(), 1.0 / Q.max())
    for unit, eps in itertools.product(units, (1e-11, 1e-9)):  # the solver likes numbers near 1
        try:
            a = unit * solve_qp(unit * Q, -np.ones(len(y)), lower=np.zeros(len(y)), eps=eps)
        except AssertionError:
            continue
        a = np.maximum(a, 0.0)
        value = a.sum() - 0.5 * a @ Q @ a
        best = (a, value) if best is None or value > best[1] else best
    return best


def lagrangian_primal(u, K, y, cost):
    """The primal value of f = sum_i u_i (k(x_i, .) + 1)."""
    f = (K + 1.0) @ u
    return 0.5 * u @ f + 0.5 * cost @ np.maximum(0.0, 1.0 - y * f) ** 2

"""Slow, obvious oracles: textbook quadratic programs handed to a general solver."""

import numpy as np
import piqp


def solve_qp(P, c, A=None, b=None, lower=None, upper=None, G=None, h=None):
    """min 1/2 x'Px + c'x subject to Ax = b, Gx <= h, lower <= x <= upper; returns x."""
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.settings.max_iter = 1000
    n = len(c)
    A = np.zeros((0, n)) if A is None else A
    b = np.zeros(0) if b is None else b
    G = np.zeros((0, n)) if G is None else G
    h = np.zeros(0) if h is None else h
    lower = np.full(n, -np.inf) if lower is None else lower
    upper = np.full(n, np.inf) if upper is None else upper
    solver.setup(P, c, A, b, G, np.full(len(h), -np.inf), h, lower, upper)
    status = solver.solve()
    assert status == piqp.PIQP_SOLVED, status
    return solver.result.x.copy()


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

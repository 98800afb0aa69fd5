"""What a certified problem is, written naively in extended precision: its objective, and a lower bound.

A bound is the dual value of a feasible point, which needs no proof of how it was found: an interior-point
method in extended precision finds it, or, of a linear program, the simplex method in integers. Linear
functions are evaluated exactly, in fractions.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np

from maxmargin import kernels

from .exact_program import largest_sum
from .extended_qp import (
    array,
    cholesky,
    eps,
    exp,
    eye,
    has_many_digits,
    log,
    log1p,
    lu_solver,
    minimise,
    number,
    zeros,
)

REACH = 100  # multipliers that are feasible but for rounding bound the objective of points this far


def fractions(X):
    return [[Fraction(float(value)) for value in row] for row in np.atleast_2d(X)]


def linear_outputs(X, w, b):
    """``X w + b``, exactly; rounded once."""
    w, b = fractions(w)[0] if not isinstance(w, list) else w, Fraction(float(b))
    return np.array([number(sum((p * q for p, q in zip(row, w)), b)) for row in fractions(X)])


def combined(Z, coef):
    """``sum_j coef_j z_j`` as fractions."""
    Z, coef = fractions(Z), fractions(coef)[0]
    return [sum((c * z for c, z in zip(coef, column)), Fraction(0)) for column in zip(*Z)]


def shifted(X):
    """Rows minus the first of them, which a free intercept allows: what is left has few digits to lose."""
    X = array(X)
    return X - X[0]


def kernel_values(kernel, X, Z):
    """``k(x, z)`` of dense rows."""
    if isinstance(kernel, kernels.Sum | kernels.Product):
        first, second = kernel_values(kernel.left, X, Z), kernel_values(kernel.right, X, Z)
        return first + second if isinstance(kernel, kernels.Sum) else first * second
    if isinstance(kernel, kernels.Scaled):
        return number(kernel.factor) * kernel_values(kernel.kernel, X, Z)
    X, Z = array(X), array(Z)
    if isinstance(kernel, kernels.Exponential):
        return exp(-number(kernel.gamma) * np.sqrt(((X[:, None] - Z[None]) ** 2).sum(axis=2)))
    if isinstance(kernel, kernels.RBF | kernels.Laplacian):
        difference = np.abs(X[:, None] - Z[None])
        power = 2 if isinstance(kernel, kernels.RBF) else 1
        return exp(-number(kernel.gamma) * (difference**power).sum(axis=2))
    products = X @ Z.T
    if isinstance(kernel, kernels.Linear):
        return products
    inner = number(kernel.gamma) * products + number(kernel.coef0)
    if isinstance(kernel, kernels.Polynomial):
        return inner ** int(kernel.degree)
    assert isinstance(kernel, kernels.Sigmoid)
    small = exp(-2 * np.abs(inner))
    return np.where(inner >= 0, 1, -1) * (1 - small) / (1 + small)


def root(K):
    """Features of a kernel matrix, with a trace of jitter; None if it is indefinite."""
    return cholesky(K + 4 * len(K) * eps() * np.diag(K).max() * eye(len(K)))


def rotated(Phi):
    """Phi turned so that its mean lies along the first coordinate, and the size of each coordinate.

    Norms do not change, and rows far from the origin have one large coordinate instead of several.
    """
    mean = Phi.mean(axis=0)
    length = np.sqrt(mean @ mean)
    if length > 0:
        u = mean / length
        u[0] += 1 if u[0] >= 0 else -1
        Phi = Phi - np.outer(Phi @ u, 2 * u / (u @ u))
    return Phi, column_sizes(Phi)


def column_sizes(Phi):
    """The largest entry of each column; a column that is 0 has the size of the largest."""
    size = np.abs(Phi).max(axis=0)
    most = size.max() if size.max() > 0 else number(1)
    return np.where(size > 10 * eps() * most, size, most)


def losses(name, m, e=0):
    """Of margins that are better by e, so that no loss is larger if e > 0."""
    if name == "squared":
        return np.maximum(number(0), np.abs(1 - m) - e) ** 2 / 2
    m = m + e
    h = np.maximum(number(0), 1 - m)
    if name == "hinge":
        return h
    if name == "squared-hinge":
        return h * h / 2
    return np.maximum(number(0), -m) + log1p(exp(-np.abs(m)))


# ---- lower bounds ----


def margin_bound(Phi, y, cost, loss, intercept, K=None):
    """Of ``1/2 ||w||^2 + p/2 b^2 + sum_i cost_i loss(y_i (<w, phi_i> + b))``; hinge or squared hinge.

    ``K`` replaces the products of Phi, where these are approximate.
    """
    n, d = Phi.shape
    y, cost = array(y), array(cost)
    (turned, size), most, squared = rotated(Phi), cost.max(), loss == "squared-hinge"
    P, c = zeros(d + 1 + n, d + 1 + n), zeros(d + 1 + n)
    P[:d, :d] = np.diag(1 / (most * size * size))
    P[d, d] = {"free": number(0), "penalised": 1 / most, "none": number(1)}[intercept]
    if squared:
        P[d + 1 :, d + 1 :] = np.diag(cost / most)
    else:
        c[d + 1 :] = cost / most
    G, h = zeros(2 * n, d + 1 + n), zeros(2 * n)
    G[:n, :d], G[:n, d], h[:n] = (
        -y[:, None] * turned / size,
        0 * y if intercept == "none" else -y,
        zeros(n) - 1,
    )
    G[:n, d + 1 :] = G[n:, d + 1 :] = -eye(n)
    best = number(0)  # at a = 0
    for _, z in minimise(P, c, G, h):
        a = most * z[:n]
        a = a if squared else np.minimum(a, cost)
        if intercept == "free":
            up, down = a[y > 0].sum(), a[y < 0].sum()
            a = np.where(y > 0, a * min(1, down / up), a * min(1, up / down))
        w = (a * y) @ Phi
        norm = w @ w if K is None else (a * y) @ K @ (a * y)
        norm = norm + ((a @ y) ** 2 if intercept == "penalised" else 0)
        bend = norm + (a / cost) @ a if squared else norm
        best = max(best, a.sum() - bend / 2)
        if squared and bend > 0:  # the best multiple of a
            best = max(best, a.sum() ** 2 / bend / 2)
    return best


def ridge_bound(X, y, cost, free):
    """Of ``1/2 ||w||^2 + 1/2 sum_i cost_i (y_i - <w, x_i> - b)^2``."""
    X, y, cost = array(X), array(y), array(cost)
    centre, level = (cost @ X / cost.sum(), cost @ y / cost.sum()) if free else (number(0), number(0))
    A, r = X - centre, y - level
    size = max(np.abs(A).max(), number(1e-300))
    solve = lu_solver((A.T * cost) @ A / size**2 + eye(A.shape[1]) / size**2)
    w = zeros(A.shape[1])
    for _ in range(3):
        w = w + solve((A.T @ (cost * (r - A @ w)) - w) / size) / size
    v = r - A @ w
    v = v - cost @ v / cost.sum() if free else v
    g = A.T @ (cost * v)
    return cost @ (v * y) - cost @ v**2 / 2 - g @ g / 2


def lasso_bound(X, y, cost, free):
    """Of ``||w||_1 + 1/2 sum_i cost_i (y_i - <w, x_i> - b)^2``."""
    X, y, cost = array(X), array(y), array(cost)
    centre, level = (cost @ X / cost.sum(), cost @ y / cost.sum()) if free else (number(0), number(0))
    A, r = X - centre, y - level
    d, size = A.shape[1], column_sizes(A)
    B = np.hstack([A / size, -A / size])
    P, c = (B.T * cost) @ B, np.concatenate([1 / size, 1 / size]) - B.T @ (cost * r)
    unit = max(P.max(), (1 / size).max())
    best = number(0)
    for x, _ in minimise(P / unit, c / unit, -eye(2 * d), zeros(2 * d)):
        v = r - B @ x
        v = v - cost @ v / cost.sum() if free else v
        largest, linear, square = np.abs(A.T @ (cost * v)).max(), cost @ (v * y), cost @ v**2
        t = linear / square if square > 0 else number(0)
        t = max(-1 / largest, min(t, 1 / largest)) if largest > 0 else t
        best = max(best, t * linear - t * t * square / 2)
    return best


def plain_squares_minimum(X, y, weight, free):
    """The least ``1/2 sum_i weight_i (y_i - <w, x_i> - b)^2``, by modified Gram-Schmidt."""
    X, y, weight = array(X), array(y), array(weight)
    centre, level = (weight @ X / weight.sum(), weight @ y / weight.sum()) if free else (number(0), number(0))
    A, r = np.sqrt(weight)[:, None] * (X - centre), np.sqrt(weight) * (y - level)
    for j in range(A.shape[1]):
        length = np.sqrt(A[:, j] @ A[:, j])
        if length > number(1e-15) * np.abs(np.sqrt(weight)[:, None] * X).max():
            q = A[:, j] / length
            r = r - q * (q @ r)
            A[:, j + 1 :] -= np.outer(q, q @ A[:, j + 1 :])
    return r @ r / 2


def pair_constraints(labels, n_classes):
    return [(i, g) for i in range(len(labels)) for g in range(n_classes) if g != labels[i]]


def sum_penalty(n_classes, d):
    """``||sum_g w_g||^2``, which is 0 at the optimum: it keeps the system of a step regular."""
    return np.tile(eye(d), (n_classes, n_classes))


def imbalance_charge(B, points, place):
    """What intercepts many times those at ``place`` of any point gain from columns that do not sum to 0."""
    largest = max(np.abs(x[place]).max() for x, _ in points)
    return np.abs(B.sum(axis=0)).sum() * REACH * (1 + largest)


def all_pairs_bound(Phi, labels, cost, n_classes, K=None):
    """Of ``1/2 sum_g ||w_g||^2 + sum_i cost_i sum_{g != y_i} max(0, 1 - (F_y - F_g)(x_i))``."""
    pairs, (n, d), cost = pair_constraints(labels, n_classes), Phi.shape, array(cost)
    (turned, size), most = rotated(Phi), cost.max()
    own = np.array([i for i, _ in pairs])
    n_w, m = n_classes * d, len(pairs)
    signs = zeros(m, n_classes)
    for k, (i, g) in enumerate(pairs):
        signs[k, labels[i]], signs[k, g] = 1, -1
    rows = np.hstack([signs[:, [g]] * turned[own] / size for g in range(n_classes)])
    G = np.vstack([
        np.hstack([-rows, -signs, -eye(m)]),
        np.hstack([zeros(m, n_w + n_classes), -eye(m)]),
    ])  # fmt: skip
    penalty = np.concatenate([np.tile(1 / (most * size * size), n_classes), zeros(n_classes), zeros(m)])
    P, c = np.diag(array(penalty)), np.concatenate([zeros(n_w + n_classes), cost[own] / most])
    P[n_w : n_w + n_classes, n_w : n_w + n_classes] += 1  # (sum_g b_g)^2, which nothing depends on
    P[:n_w, :n_w] += sum_penalty(n_classes, d)
    best = number(0)
    points = list(minimise(P, c, G, np.concatenate([zeros(m) - 1, zeros(m)])))
    for _, z in points:
        a = np.minimum(most * z[:m], cost[own])
        B = zeros(n, n_classes)
        np.add.at(B, own, a[:, None] * signs)
        charge = imbalance_charge(B, points, slice(n_w, n_w + n_classes))
        W = B.T @ Phi
        norm = (W * W).sum() if K is None else np.einsum("ig,ij,jg->", B, K, B)
        best = max(best, a.sum() - norm / 2 - charge)
    return best


def top_k_bound(Phi, labels, mass, alpha, k, exclude, n_classes, K=None):
    """Of ``alpha/2 ||W||^2 + sum_i mass_i xi_i``, xi_i >= 0 and the mean of any k violations of sample i."""
    (n, d), mass, alpha = Phi.shape, array(mass), number(alpha)
    turned, size = rotated(Phi)
    lines = []  # (sample, by how much each score counts, the constant)
    for i, y in enumerate(labels):
        wrong = [g for g in range(n_classes) if not (exclude and g == y)]
        for chosen in combinations(wrong, k):
            weight = zeros(n_classes)
            for g in chosen:
                weight[g] += number(1) / k
                weight[y] -= number(1) / k
            lines.append((i, weight, number(sum(g != y for g in chosen)) / k))
    own, signs = np.array([i for i, _, _ in lines]), np.array([weight for _, weight, _ in lines])
    constant, m, n_w = np.array([c for _, _, c in lines]), len(lines), n_classes * d
    rows = np.hstack([signs[:, [g]] * turned[own] / size for g in range(n_classes)])
    G = np.vstack([
        np.hstack([rows, -eye(n)[own]]),
        np.hstack([zeros(n, n_w), -eye(n)]),
    ])  # fmt: skip
    P, c = zeros(n_w + n, n_w + n), np.concatenate([zeros(n_w), mass])
    P[:n_w, :n_w] = alpha * np.diag(np.tile(1 / size**2, n_classes)) + sum_penalty(n_classes, d)
    unit = mass.max()
    best = number(0)
    for _, z in minimise(P / unit, c / unit, G, np.concatenate([-constant, zeros(n)])):
        share = unit * z[:m] / mass[own]
        total = zeros(n)
        np.add.at(total, own, share)
        share = share / np.maximum(1, total)[own]
        B = zeros(n, n_classes)
        np.add.at(B, own, -(share * mass[own] / alpha)[:, None] * signs)
        W = B.T @ Phi
        norm = (W * W).sum() if K is None else np.einsum("ig,ij,jg->", B, K, B)
        best = max(best, (mass[own] * share) @ constant - alpha * norm / 2)
    return best


def hinge_program_bound(Phi, labels, cost, n_classes=None, intercept=True):
    """Of ``sum |W| + sum_i cost_i max(0, 1 - margin)``, of targets or, with ``n_classes``, of pairs."""
    (n, d), cost = Phi.shape, array(cost)
    outputs = n_classes or 1
    pairs = [(i, None) for i in range(n)] if n_classes is None else pair_constraints(labels, n_classes)
    signs = zeros(len(pairs), outputs)
    for k, (i, g) in enumerate(pairs):
        if g is None:
            signs[k, 0] = labels[i]
        else:
            signs[k, labels[i]], signs[k, g] = 1, -1
    own, m = np.array([i for i, _ in pairs]), len(pairs)
    if has_many_digits():
        prices = [signs[:, t] * Phi[own, j] for t in range(outputs) for j in range(d)]
        balances = list(signs.T) if intercept else []
        rows = [sign * row for row in [*prices, *balances] for sign in (1, -1)]
        limits = [1] * (2 * len(prices)) + [0] * (2 * len(balances))
        total = number(largest_sum(rows, limits, cost[own]))
        return total / (1 + price_rounding(Phi, total))
    size = column_sizes(Phi)
    rows = np.hstack([signs[:, [t]] * Phi[own] / size for t in range(outputs)])
    n_w = outputs * d
    G = np.vstack([
        np.hstack([-rows, rows, -signs if intercept else 0 * signs, -eye(m)]),
        np.hstack([-eye(2 * n_w), zeros(2 * n_w, outputs + m)]),
        np.hstack([zeros(m, 2 * n_w + outputs), -eye(m)]),
    ])  # fmt: skip
    price = np.tile(1 / size, 2 * outputs)
    c = np.concatenate([price, zeros(outputs), cost[own]])
    unit = c.max()
    P = zeros(len(c), len(c))
    P[2 * n_w : 2 * n_w + outputs, 2 * n_w : 2 * n_w + outputs] = number(1 if outputs > 1 else 0)
    h = np.concatenate([zeros(m) - 1, zeros(2 * n_w + m)])
    best = number(0)
    for _, z in minimise(P, c / unit, G, h):
        a = np.minimum(unit * z[:m], cost[own])
        A = zeros(n, outputs)
        np.add.at(A, own, a[:, None] * signs)
        if intercept and outputs == 1:
            up, down = A[A > 0].sum(), -A[A < 0].sum()
            factor = np.where(signs[:, 0] > 0, min(1, down / up), min(1, up / down))
            a, A = a * factor, A * factor[own, None]
        reach = outputs * (1 + np.abs(Phi).max() * cost[own].sum())  # of outputs that are better than 0
        charge = np.abs(A.sum(axis=0)).sum() * reach if intercept else number(0)
        price = np.abs(Phi.T @ A).max() + price_rounding(Phi, a.sum())
        best = max(best, (a.sum() - charge) / max(number(1), price))
    return best


def price_rounding(Phi, total):
    """What rounding of features can do to a price at multipliers of that sum."""
    return 8 * eps() * np.abs(Phi).max() * total


def log_bound(X, y, cost, intercept):
    """Of ``1/2 ||w||^2 + p/2 b^2 + sum_i cost_i log(1 + exp(-y_i (<w, x_i> + b)))``."""
    Phi = X if intercept == "none" else np.column_stack([X, zeros(len(X)) + 1])
    return smooth_minimum(Phi, y, cost, "log", 1.0, free=intercept == "free")


@np.errstate(over="ignore")
def smooth_minimum(Phi, y, cost, loss, alpha, n_steps=200, free=False):
    """The least ``alpha/2 ||v||^2 + sum_i cost_i loss(y_i <v, phi_i>)``, log or squared.

    With ``free`` the last feature is 1, and its coefficient is not penalised.
    """
    y, cost, v = array(y), array(cost), zeros(Phi.shape[1])
    ridge = zeros(Phi.shape[1]) + number(alpha)
    if free:
        ridge[-1] = number(0)

    def value(v):
        return (ridge * v) @ v / 2 + cost @ losses(loss, y * (Phi @ v))

    def scaled(p):
        if not free:
            return p
        up, down = (cost * p)[y > 0].sum(), (cost * p)[y < 0].sum()
        return np.where(y > 0, p * min(1, down / up), p * min(1, up / down))

    def conjugate(p):
        if loss == "log":
            less = np.minimum(p, 1 - eps())
            return p * log(np.maximum(p, number(10) ** -4900)) + (1 - p) * log1p(-less)
        return -p + p * p / 2

    best = -number(np.inf)
    for _ in range(n_steps):
        m = y * (Phi @ v)
        if loss == "log":
            p = 1 / (1 + exp(m))
            curvature = p * (1 - p)
        else:
            p, curvature = 1 - m, zeros(len(m)) + 1
        feasible = scaled(p)
        g = (Phi.T @ (cost * y * feasible))[ridge > 0]
        best = max(best, -(cost @ conjugate(feasible)) - g @ g / (2 * number(alpha)))
        gradient = ridge * v - Phi.T @ (cost * y * p)
        if gradient @ gradient <= eps() * number(alpha) * value(v):
            break
        H = (Phi.T * (cost * curvature)) @ Phi + np.diag(ridge)
        step, t = -lu_solver(H)(gradient), number(1)
        while value(v + t * step) > value(v) and t > 1e-12:
            t /= 2
        v = v + t * step
    return best

"""Slow, obvious oracles: textbook quadratic and linear programs handed to a general solver."""

import itertools
from fractions import Fraction

import numpy as np
import piqp
from scipy.optimize import linprog, minimize


def solve_qp(P, c, A=None, b=None, lower=None, upper=None, G=None, h=None, eps=1e-11):
    """min 1/2 x'Px + c'x subject to Ax = b, Gx <= h, lower <= x <= upper; returns x."""
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = eps
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


def pivot_law(K, weight, n_pivots):
    """The law of pivots drawn one after the other with P(i) ~ weight_i R_ii: {sequence: probability}."""
    if n_pivots == 0:
        return {(): 1.0}
    mass = weight * np.maximum(np.diag(K), 0.0)
    law = {}
    for i in np.flatnonzero(mass > 1e-12 * mass.sum()):
        rest = K - np.outer(K[:, i], K[i]) / K[i, i]
        rest[i] = rest[:, i] = 0.0
        for later, probability in pivot_law(rest, weight, n_pivots - 1).items():
            law[(int(i), *later)] = mass[i] / mass.sum() * probability
    return law


def nystroem_matrix(K, landmarks):
    """``K_nm K_mm^+ K_mn``."""
    return K[:, landmarks] @ np.linalg.pinv(K[np.ix_(landmarks, landmarks)], hermitian=True) @ K[landmarks]


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


def hinge_program(Phi, labels, cost, penalised=True, intercept=True, n_classes=None):
    """The L1 SVM as printed in textbooks, in (w+, w-, b, xi); returns its minimum, W, b.

    min p sum |W| + sum cost_i xi_ik   s.t.  margin_ik(W, b) >= 1 - xi_ik,  xi >= 0

    Labels are targets -1 and +1 with one margin y f(x) each or, with ``n_classes``, class numbers with
    margins f_y(x) - f_g(x) for each g != y.
    """
    n, d = Phi.shape
    outputs = n_classes or 1
    lines, losses = [], []
    for i in range(n):
        for k in range(outputs):
            sign = np.zeros(outputs)
            if n_classes is None:
                sign[0] = labels[i]
            elif k == labels[i]:
                continue
            else:
                sign[labels[i]], sign[k] = 1.0, -1.0
            slopes = np.outer(sign, Phi[i]).ravel()
            lines.append(np.concatenate([slopes, -slopes, sign if intercept else 0.0 * sign]))
            losses.append(cost[i])
    A, m = np.array(lines), len(lines)
    penalty = np.full(2 * outputs * d, 1.0 if penalised else 0.0)
    bounds = [(0, None)] * len(penalty) + [(None, None)] * outputs + [(0, None)] * m
    objective = np.concatenate([penalty, np.zeros(outputs), losses])
    found = linprog(
        objective, A_ub=-np.hstack([A, np.eye(m)]), b_ub=-np.ones(m), bounds=bounds, method="highs"
    )
    assert found.status == 0, found.message
    plus, minus, b = np.split(found.x[: len(penalty) + outputs], [outputs * d, 2 * outputs * d])
    return found.fun, (plus - minus).reshape(outputs, d), b


def hinge_program_bounds(W, b, A, Phi, labels, cost, penalised=True, intercept=True, n_classes=None):
    """Primal value of (W, b), and the dual value of A: what multipliers add up to at each sample and output.

    A is checked to be feasible up to rounding: |Phi' A| <= p, columns that sum to 0, multipliers in a box.
    """
    F = Phi @ W.T + b
    if n_classes is None:
        missing, pi = np.maximum(0.0, 1.0 - labels * F[:, 0])[:, None], (labels * A[:, 0])[:, None]
    else:
        own = labels[:, None] == np.arange(n_classes)
        missing = np.where(own, 0.0, np.maximum(0.0, 1.0 - (F[own][:, None] - F)))
        pi = np.where(own, 0.0, -A)
        np.testing.assert_allclose(A[own], pi.sum(axis=1), rtol=1e-12)
    assert (pi >= 0.0).all()
    assert (pi <= cost[:, None] * (1 + 1e-12)).all()
    if intercept:
        assert np.abs(A.sum(axis=0)).max() <= 1e-11 * pi.sum()
    price = np.abs(Phi.T @ A).max()
    primal = (np.abs(W).sum() if penalised else 0.0) + cost @ missing.sum(axis=1)
    if penalised:
        return primal, pi.sum() / max(1.0, price)
    assert price <= 1e-9 * pi.sum() * np.abs(Phi).max()
    return primal, pi.sum()


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

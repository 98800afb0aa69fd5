"""The L1 SVM as a textbook linear program."""

import numpy as np
from scipy.optimize import linprog


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

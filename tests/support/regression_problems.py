"""Kernel regression and novelty written naively: losses, bounds of a point, a general solver's optimum."""

import itertools

import numpy as np

from .quadratic_program import solve_qp

LOSSES = ["epsilon-insensitive", "squared-epsilon-insensitive", "pinball", "huber"]


def loss_values(r, model, number=float):
    """The loss of each residual, as in the model's docstring; ``number`` makes numbers like r."""
    half, q, delta = number(0.5), number(model.quantile), number(model.delta)
    if model.loss == "squared":
        return half * r**2
    over = np.maximum(number(0), np.abs(r) - number(getattr(model, "epsilon", 0.0)))
    if model.loss == "epsilon-insensitive":
        return over
    if model.loss == "squared-epsilon-insensitive":
        return half * over**2
    if model.loss == "pinball":
        return np.maximum(q * r, (q - number(1)) * r)
    return np.where(np.abs(r) <= delta, half * r**2, delta * (np.abs(r) - half * delta))


def loss_range(r, e, model, number):
    """The least loss of residuals that differ by at most e from these; for e < 0, the largest."""
    if e >= 0:
        return loss_values(np.where(r < 0, -1, 1) * np.maximum(number(0), np.abs(r) - e), model, number)
    return np.maximum(loss_values(r - e, model, number), loss_values(r + e, model, number))


def median(y, weight):
    """The weighted median, from which targets are measured."""
    order = np.argsort(y, kind="stable")
    share = np.cumsum(weight[order])
    return y[order[np.searchsorted(share, 0.5 * share[-1])]]


def at_zeros(model, y, weight):
    """What zero coefficients predict: the median, or 0 where the intercept is not free."""
    free = getattr(model, "fit_intercept", True) and not getattr(model, "penalize_intercept", False)
    return median(y, weight) if free else 0.0


def dual_form(model, cost):
    """Bounds, the ridge's diagonal and the kink of the dual."""
    squared = model.loss in ("squared", "squared-epsilon-insensitive", "huber")
    free = np.full(len(cost), -np.inf), np.full(len(cost), np.inf)
    if model.loss == "squared":
        return *free, 1.0 / cost, 0.0
    low, high = {
        "epsilon-insensitive": (-cost, cost),
        "squared-epsilon-insensitive": free,
        "pinball": (cost * (model.quantile - 1.0), cost * model.quantile),
        "huber": (-cost * model.delta, cost * model.delta),
    }[model.loss]
    kink = model.epsilon if "epsilon" in model.loss else 0.0
    return low, high, 1.0 / cost if squared else np.zeros(len(cost)), kink


def coefficients(model, n):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_[0]
    return a


def bounds(model, K, y, cost):
    """Primal and dual value of a fitted model on its training rows, from nothing but its coefficients."""
    a, b = coefficients(model, len(y)), model.intercept_[0]
    low, high, ridge, kink = dual_form(model, cost)
    size = np.abs(a).sum()
    assert (a >= low * (1 + 1e-12)).all()
    assert (a <= high * (1 + 1e-12)).all()
    assert abs(a.sum()) <= 1e-12 * size * len(y)
    centre = np.median(y)  # y and b may be large and near each other: both differences are exact
    norm, centred = a @ K @ a, y - centre
    r, reach = centred - K @ a, np.spacing(abs(b))  # the fit's b, which is rounded to the one it stores
    bs = b - centre + np.clip(np.concatenate([r - kink, r + kink]) - (b - centre), -reach, reach)
    primal = 0.5 * norm + min(cost @ loss_values(r - nearby, model) for nearby in (*bs, b - centre))
    return primal, centred @ a - kink * size - 0.5 * norm - 0.5 * ridge @ a**2


def optimum(model, K, y, cost, free=True):
    """The largest dual value that a general solver finds, with a as a difference of two positive parts.

    Without a ``free`` intercept the coefficients need not sum to 0.
    """
    low, high, ridge, kink = dual_form(model, cost)
    n, y = len(y), y - np.median(y) if free else y
    M = K + np.diag(ridge)
    P = np.block([[M, -M], [-M, M]])
    c, most = np.concatenate([kink - y, kink + y]), np.concatenate([high, -low])
    equal = np.concatenate([np.ones(n), -np.ones(n)])[None, :] if free else None
    total = np.zeros(1) if free else None
    best, size = 0.0, np.abs(y).mean() + kink or 1.0
    reach = {size / np.abs(M).max(), cost.max(), size * cost.max(), 1.0}  # where coefficients may be
    for unit, eps in itertools.product(reach, (1e-11, 1e-9)):  # the solver likes numbers near 1
        try:
            x = unit * solve_qp(
                P * unit / size, c / size, equal, total, np.zeros(2 * n), most / unit, eps=eps
            )
        except AssertionError:
            continue
        a = np.clip(x[:n] - x[n:], low, high)
        up, down = a[a > 0.0].sum(), -a[a < 0.0].sum()
        if free:
            a = np.where(a > 0.0, a * min(1.0, down / max(up, 1e-300)), a * min(1.0, up / max(down, 1e-300)))
        best = max(best, a @ y - kink * np.abs(a).sum() - 0.5 * a @ M @ a)
    return best


def one_class_bounds(model, K, weight):
    """Primal and dual value of a fitted one-class SVM."""
    a, rho = coefficients(model, len(weight)), model.offset_[0]
    cost = weight / (model.nu * weight.sum())
    assert (a >= 0.0).all()
    assert (a <= cost * (1 + 1e-12)).all()
    assert abs(a.sum() - 1.0) <= 1e-12 * len(a)
    norm = a @ K @ a
    return 0.5 * norm + cost @ np.maximum(0.0, rho - K @ a) - rho, -0.5 * norm


def one_class_optimum(nu, K, weight):
    """The largest dual value that a general solver finds."""
    n, most = len(weight), weight / (nu * weight.sum())
    scale, best = np.abs(K).max(), -np.inf
    for eps in (1e-11, 1e-9):
        try:
            a = solve_qp(
                K / scale,
                np.zeros(n),
                np.ones((1, n)),
                np.ones(1),
                np.zeros(n),
                np.minimum(most, 1.0),
                eps=eps,
            )
        except AssertionError:
            continue
        a = np.clip(a, 0.0, most)
        a = a / a.sum() if a.sum() > 1.0 else a + (1.0 - a.sum()) * (most - a) / max((most - a).sum(), 1e-300)
        best = max(best, -0.5 * a @ K @ a)
    return best

"""Budgeted problems in several columns, and their objective and dual from the definition."""

import numpy as np

from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.losses import LOSSES, SmoothedHinge
from maxmargin.methods.budget.problem import BudgetProblem
from maxmargin.solving.result import Stop

from .budget_optimum import costs

STOP = Stop(1e-3, max_iter=10_000)
SMOOTH = ["squared-hinge", "log", "squared"]
SOLVED = [*SMOOTH, "hinge"]


def rbf(X, Z, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def noisy(seed=0, n=80, d=3, n_columns=1, *, zeros=False, weighted=False, dtype=np.float64):
    """Rows, targets and weights; with zeros, some rows take part in some of the columns only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    Y = np.where(X[:, :1] + 0.7 * rng.normal(size=(n, n_columns)) > 0.2, 1.0, -1.0)
    if zeros:
        Y[rng.random(Y.shape) < 0.3] = 0.0
    return X, Y, rng.uniform(0.3, 3.0, n) if weighted else np.ones(n)


def problem_of(X, Y, weight=None, loss="squared-hinge", alpha=1e-2, kernel=None, n_threads=1):
    weight = np.ones(len(Y)) if weight is None else weight
    data = KernelData(RBF(gamma=0.3) if kernel is None else kernel, X, np.arange(X.shape[0]), n_threads)
    return BudgetProblem(data, Y, weight, LOSSES[loss], alpha)


def objective(K, S, a, Y, weight, loss, alpha):
    """As SPEC has it: ``sum_t (1/n_t) sum_i w_i loss(y_it f_t(x_i)) + alpha/2 a_t' K_SS a_t``."""
    losses = (costs(Y, weight) * loss.value(Y * (K[:, S] @ a))).sum()
    return losses + 0.5 * alpha * np.einsum("it,ij,jt->", a, K[np.ix_(S, S)], a)


def dual_value(K, S, a, Y, weight, loss, alpha):
    """The dual of the reduced problem, a bound at any theta of its domain: here at the slopes.

    The hinge's slopes jump: for it, the best of the bounds at the slopes of smoothed hinges.
    """
    c, m = costs(Y, weight), Y * (K[:, S] @ a)
    bounds = []
    for near in [SmoothedHinge(0.5 * 0.3**k) for k in range(15)] if loss.name == "hinge" else [loss]:
        u = near.slope(m)
        r = K[:, S].T @ (c * Y * u)
        norm = np.einsum("it,it->", r, np.linalg.solve(K[np.ix_(S, S)], r))
        bounds.append(-(c * np.where(c > 0, loss.conjugate(u), 0.0)).sum() - norm / (2.0 * alpha))
    return max(bounds)

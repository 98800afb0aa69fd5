"""The solver of the budgeted method against direct solutions, brute force, and itself taken up again."""

import numpy as np
import pytest
from reference import svm_primal
from scipy.optimize import minimize

from maxmargin.kernel_data import KernelData
from maxmargin.kernels import RBF
from maxmargin.losses import LOSSES, SmoothedHinge
from maxmargin.solvers.budget_problem import BudgetProblem
from maxmargin.solvers.feature_panel import FeaturePanel
from maxmargin.solvers.greedy import Greedy, greedy
from maxmargin.solvers.result import Stop
from maxmargin.solvers.row_pool import RowPool

SMOOTH = ["squared-hinge", "log", "squared"]
SOLVED = [*SMOOTH, "hinge"]
PRECISE = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 50}


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


def costs(Y, weight):
    c = np.where(Y != 0.0, weight[:, None], 0.0)
    return c / c.sum(axis=0)


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


def best(K_nS, K_SS, Y, weight, loss, alpha):
    """The least objective, column by column: by a QP for the hinges, by L-BFGS and BFGS for the others."""
    total = 0.0
    for y, c in zip(Y.T, costs(Y, weight).T):
        Phi = np.linalg.solve(np.linalg.cholesky(K_SS), K_nS.T).T[c > 0]
        if "hinge" in loss:
            total += alpha * svm_primal(Phi, y[c > 0], c[c > 0] / alpha, loss.replace("-", "_"), "none")[2]
        else:
            total += minimum(Phi, y[c > 0], c[c > 0], LOSSES[loss], alpha)
    return total


def minimum(Phi, y, c, loss, alpha):
    def value(v):
        m = y * (Phi @ v)
        gradient = Phi.T @ (c * y * loss.slope(m)) + alpha * v
        return c @ loss.value(m) + 0.5 * alpha * v @ v, gradient

    found = minimize(value, np.zeros(Phi.shape[1]), jac=True, method="L-BFGS-B", options=PRECISE)
    assert np.linalg.norm(value(found.x)[1]) ** 2 / (2 * alpha) <= 1e-8 * found.fun  # its own duality gap
    return found.fun


@pytest.fixture
def pool():
    with RowPool(1) as pool:
        yield pool


# ---- features ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_panel_is_a_function_of_its_blocks_of_points(pool, dtype):
    """Points that were refused leave no trace: computed again without them, every bit is the same."""
    X, _, _ = noisy(n=60, dtype=dtype)
    kernel = KernelData(RBF(gamma=0.3), X, np.arange(60))
    panel, again = FeaturePanel(kernel, 30, pool), FeaturePanel(kernel, 30, pool)
    for picks in ([3, 7, 3, 9, 11, 7, 20], [9, 30, 31, 32, 32, 33, 40], [3, 7], [50, 51, 3]):
        added = panel.append(kernel.points(np.array(picks)))
        assert added.tolist() == [
            p not in picks[:i] and p not in taken(panel, X, added) for i, p in enumerate(picks)
        ]
        if added.any():
            again.append(kernel.points(np.array(picks)[added]))
    np.testing.assert_array_equal(panel.phi, again.phi)
    np.testing.assert_array_equal(panel.factor, again.factor)
    K = rbf(X.astype(float), np.asarray(panel.points, dtype=float))
    np.testing.assert_allclose(panel.phi @ panel.factor.T, K, atol=1e-3 if dtype == np.float32 else 1e-10)


def taken(panel, X, added):
    """Rows of X that were points before the last block."""
    before = panel.points[: panel.size - added.sum()]
    return [int(np.flatnonzero((X == p).all(axis=1))[0]) for p in before]


# ---- certificates ----


@pytest.mark.parametrize("loss", SOLVED)
def test_every_certificate_is_of_the_coefficients_at_hand(loss):
    """Primal and dual computed again, from the State that a callback sees and from nothing else."""
    X, Y, weight = noisy(1, n_columns=2, zeros=True, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    K = rbf(X, X)
    n_seen = 0

    def compare(check, state):
        nonlocal n_seen
        if state.ended:
            return
        S = state.support
        L = np.linalg.cholesky(K[np.ix_(S, S)]) if len(S) else np.zeros((0, 0))
        a = np.linalg.solve(L.T, state.V)
        assert check.primal == pytest.approx(
            objective(K, S, a, Y, weight, problem.loss, problem.alpha), rel=1e-8
        )
        assert check.n_support == len(S)
        assert check.gap >= -1e-12
        n_seen += 1

    result, _ = greedy(problem, Greedy(12), stop=Stop(1e-4), seed=0, callback=compare)
    assert n_seen >= 12
    assert result.gap <= 1e-4
    S, a = result.support, result.coef
    primal = objective(K, S, a, Y, weight, problem.loss, problem.alpha)
    assert result.objective == pytest.approx(primal, rel=1e-8)
    dual = result.history[-1].dual
    assert dual_value(K, S, a, Y, weight, problem.loss, problem.alpha) == pytest.approx(dual, rel=1e-7)
    assert dual <= best(K[:, S], K[np.ix_(S, S)], Y, weight, loss, problem.alpha) * (1 + 1e-9)

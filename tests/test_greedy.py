"""The solver of the budgeted method against direct solutions, brute force, and itself taken up again."""

import numpy as np
import pytest

from maxmargin.kernel_data import KernelData
from maxmargin.kernels import RBF
from maxmargin.losses import LOSSES
from maxmargin.solvers.budget_problem import BudgetProblem
from maxmargin.solvers.feature_panel import FeaturePanel
from maxmargin.solvers.row_pool import RowPool


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
        assert added.tolist() == [p not in picks[:i] and p not in taken(panel, X, added) for i, p in enumerate(picks)]
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

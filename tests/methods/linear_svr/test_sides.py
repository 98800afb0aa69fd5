"""The two sides of a residual: losses and dual values of the problem that they replace, and rows twice."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from support.regression_problems import LOSSES

from maxmargin.data import Rows
from maxmargin.methods.kernel_svr import RegressionLoss, Targets
from maxmargin.methods.linear_svr import sides_of
from maxmargin.methods.linear_svr.problem import TwiceRows


def regression(seed, loss, intercept):
    """A problem of rows, and the same as two sides."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    X, y, weight = rng.normal(size=(n, 3)), 3.0 * rng.normal(size=n) + 5.0, rng.uniform(0.2, 3.0, n)
    targets = Targets.of(y, weight, centred=intercept == "free")
    whole = RegressionLoss(loss, 0.3, 0.2, 0.7).problem(None, targets, 1.5, weight)
    return whole, sides_of(Rows(X, rng.permutation(n)), y, whole, targets, intercept)


@pytest.mark.parametrize("intercept", ["free", "penalised", "none"])
@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10**6))
def test_both_sides_have_the_losses_and_the_dual_value_of_their_row(loss, intercept, seed):
    whole, sides = regression(seed, loss, intercept)
    assume(whole.upper.any())  # or there are no losses near the optimum
    rng = np.random.default_rng(seed)
    w, b, n = rng.normal(size=3), float(rng.normal()) if intercept != "none" else 0.0, len(whole.y)
    X = sides.rows.X[sides.rows.once.index]
    r = whole.y - X @ w - b
    penalty = 0.5 * (w @ w + (b * b if intercept == "penalised" else 0.0))
    losses = whole.terms(slice(None), np.zeros(n), r).sum()
    margins = sides.y * (sides.scores(w) + b)
    assert sides.primal(w, b, margins) == pytest.approx(penalty + losses, rel=1e-12)
    assert sides.tiny == pytest.approx(whole.tiny, rel=1e-12)
    shares = rng.uniform(0.0, 1.0, 2 * n)
    shares[np.where(rng.random(n) < 0.5, 0, 1) + 2 * np.arange(n)] = 0.0  # one side of each
    shares = sides.balanced(shares)
    a = (sides.cost * shares * sides.y).reshape(-1, 2).sum(axis=1)
    spread = X.T @ a @ (X.T @ a) + (a.sum() ** 2 if intercept == "penalised" else 0.0)
    value = a @ whole.y - whole.terms(slice(None), a, np.zeros(n)).sum() - 0.5 * spread
    assert sides.dual(shares) == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert sides.dual(shares) <= penalty + losses + 1e-9


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_rows_twice_are_their_copies(layout):
    rng = np.random.default_rng(0)
    X, index = rng.normal(size=(9, 4)), rng.permutation(9)[:7]
    X[np.abs(X) < 0.4] = 0.0
    twice, copies = TwiceRows.of(Rows(layout(X), index)), X[np.repeat(index, 2)]
    w, u = rng.normal(size=4), rng.normal(size=14)
    for rows in (twice, twice.compacted()):
        assert len(rows) == 14
        np.testing.assert_allclose(rows.dot(w), copies @ w, rtol=1e-14)
        np.testing.assert_allclose(rows.sum(u), u @ copies, rtol=1e-13)
        np.testing.assert_allclose(rows.sqnorms(), (copies**2).sum(axis=1), rtol=1e-14)
        some = rows.take(np.array([0, 3, 4, 5]))
        np.testing.assert_allclose(some.dot(w), copies[[0, 3, 4, 5]] @ w, rtol=1e-14)
        np.testing.assert_allclose(some.sum(u[:4]), u[:4] @ copies[[0, 3, 4, 5]], rtol=1e-13)
    assert twice.compacted().X.shape[0] == 7  # features are stored once
    if layout is np.asarray:
        np.testing.assert_allclose(twice.moved(w).dot(w), (copies - w) @ w, rtol=1e-13)


def test_the_stored_intercept_is_that_of_the_targets_as_given():
    targets = Targets.of(np.array([1e9, 1e9 + 1.0, 1e9 + 4.0]), np.ones(3))
    for b in (0.1, -1 / 3, 1e-9):
        stored = targets.given(b)
        assert targets.given(targets.scaled(stored)) == stored

"""The published Lagrangian iteration: its steps, its speed and its range of mu."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from support.lagrangian_problems import noisy, standardised
from support.reference import lagrangian_dual

from maxmargin import LagrangianSVC
from maxmargin.data.rows import Rows
from maxmargin.methods.lagrangian.iteration import lagrangian as iterate
from maxmargin.methods.lagrangian.iteration import row_mu
from maxmargin.methods.lagrangian.problem import LagrangianProblem
from maxmargin.methods.lagrangian.systems import FeatureSystem, KernelSystem
from maxmargin.solving.result import Status, Stop


@pytest.mark.parametrize("given", [False, True])
def test_iteration_equals_the_published_one(given):
    """Each a is Q^{-1} (e + max(0, Qa - e - mu a)) of the one before, with Q as a matrix."""
    X, y, cost = noisy(1)
    Q = np.outer(y, y) * (X @ X.T + 1.0) + np.diag(1.0 / cost)
    mu, a, seen = 1.9 / (cost.max() if given else cost), np.linalg.solve(Q, np.ones(len(y))), []
    problem = LagrangianProblem(FeatureSystem(Rows(X, np.arange(len(y))), cost), y)

    def keep(check, state):
        seen.append((check.n_iter, state.a.copy()))

    stop = Stop(tol=1e-300, max_iter=24)
    iterate(problem, stop=stop, mu=row_mu(mu, cost) if given else None, callback=keep)
    assert [n for n, _ in seen] == [0, 8, 16, 24]
    for k in range(1, 25):
        if k % 8 == 0:
            np.testing.assert_allclose(seen[k // 8][1], a, rtol=1e-8, atol=1e-10)
        a = np.linalg.solve(Q, 1.0 + np.maximum(0.0, Q @ a - 1.0 - mu * a))


def test_iteration_contracts_at_the_theoretical_rate():
    """||S Q (a' - a*)|| <= max_k |1 - 1.9 / q_k| ||S Q (a - a*)||, S = diag(sqrt(c)), q_k those of S Q S."""
    X, y, cost = noisy(2, 40, 3, C=0.2)
    Q = np.outer(y, y) * (X @ X.T + 1.0) + np.diag(1.0 / cost)
    problem = LagrangianProblem(KernelSystem(X @ X.T + 1.0, cost), y)
    optimum, _ = lagrangian_dual(X @ X.T, y, cost)
    images = []

    def keep(check, state):
        images.append(np.linalg.norm(np.sqrt(cost) * (Q @ (state.a - optimum))))

    iterate(problem, stop=Stop(tol=1e-300, max_iter=80), callback=keep)
    scaled = np.sqrt(np.outer(cost, cost)) * Q
    rate = np.abs(1.0 - 1.9 / np.linalg.eigvalsh(scaled)).max()
    for before, after in itertools.pairwise(images[1:]):
        assert after <= rate**8 * before + 1e-6
    assert images[-1] < 1e-3 * images[1]


@pytest.mark.parametrize("factor", [0.05, 0.5, 0.95, 0.999])
def test_mu_inside_its_range_converges(factor):
    X, y, cost = noisy(4, C=0.5)
    problem = LagrangianProblem(FeatureSystem(Rows(X, np.arange(len(y))), cost), y)
    result = iterate(problem, stop=Stop(tol=1e-6, max_iter=100_000), mu=factor * 2.0 / cost)
    assert result.status is Status.CONVERGED
    mu = row_mu(factor * 2.0 / cost.max(), cost)
    assert iterate(problem, stop=Stop(tol=1e-6, max_iter=100_000), mu=mu).status is Status.CONVERGED


def test_mu_outside_its_range_is_refused():
    X, y, cost = noisy(4)
    with pytest.raises(ValueError, match=r"mu must lie between 0 and 2 / max C_i = 0\.\d+.*got 5\.0"):
        row_mu(5.0, cost)
    for mu, weight in [
        (2.0, np.ones(60)),
        (1.9, np.r_[np.ones(59), 2.0]),
    ]:  # 1.9 / C is too much with weights
        with pytest.raises(ValueError, match=r"mu must lie between 0 and 2 / max C_i = [12], .*Lower mu"):
            LagrangianSVC(mu=mu, solver="lagrangian").fit(X, y, weight)
    LagrangianSVC(mu=1.9, solver="lagrangian").fit(X, y)
    with pytest.raises(ValueError, match=r"mu must be a finite number > 0; got 0\.0"):
        LagrangianSVC(mu=0.0).fit(X, y)


def plain_iteration(X, y, cost, mu, tol):
    """The iteration of the paper on all rows: steps, in eights, until the textbook gap is at most tol."""
    H = y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    inner = np.linalg.inv(np.eye(H.shape[1]) + (H.T * cost) @ H)

    def solve(z):
        return cost * (z - H @ (inner @ (H.T @ (cost * z))))

    def primal(w):
        missing = np.maximum(0.0, 1.0 - H @ w)
        return 0.5 * (w @ w + cost @ missing**2)

    a, n, best = solve(np.ones(len(y))), 1, -np.inf
    while True:
        image = H @ (H.T @ a) + a / cost
        surplus = np.maximum(0.0, image - 1.0 - mu * a)
        if n % 8 == 0:
            feasible = np.where(surplus > 0.0, 0.0, np.maximum(a, 0.0))
            w = H.T @ feasible
            t = feasible.sum() / (w @ w + feasible @ (feasible / cost))
            best = max(best, 0.5 * t * feasible.sum())
            if min(primal(t * w), primal(H.T @ a)) * (1.0 - tol) <= best:
                return n
        a, n = solve(1.0 + surplus), n + 1


@pytest.mark.parametrize("C", [0.01, 0.1])
def test_merged_rows_take_the_steps_of_repeated_rows(C):
    X, y, _ = noisy(8, 80, 4)
    X, y = np.vstack([X, np.repeat(X[:1], 1000, axis=0)]), np.append(y, np.repeat(y[:1], 1000))
    expected = plain_iteration(X, y, np.full(len(y), C), 1.9 / C, 1e-6)
    for mu in (None, 1.9 / C):
        model = LagrangianSVC(C, mu=mu, solver="lagrangian", tol=1e-6).fit(X, y)
        assert model.n_iter_ == expected
    slow = plain_iteration(X[:81], y[:81], np.append(np.full(80, C), 1000.0 * C), 1.9 / (1000.0 * C), 1e-6)
    assert slow > 5 * expected  # one mu for all rows would be so much slower


def test_equal_rows_do_not_change_the_range_of_mu():
    X, y = load_iris(return_X_y=True)  # one row is there twice
    exact = LagrangianSVC(0.1, tol=1e-9).fit(X, y)
    model = LagrangianSVC(0.1, mu=19.0, solver="lagrangian", tol=1e-9, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-4)
    with pytest.raises(ValueError, match=r"2 / max C_i = 20, .*got 20\.0"):
        LagrangianSVC(0.1, mu=20.0, solver="lagrangian").fit(X, y)
    with pytest.raises(ValueError, match=r"2 / max C_i = 10, .*got 19\.0"):
        LagrangianSVC(0.1, mu=19.0, class_weight={2: 2.0}, solver="lagrangian").fit(X, y)
    weight = np.random.default_rng(0).uniform(0.1, 1.0, size=len(y))  # unequal ones are merged too
    more = LagrangianSVC(0.1, mu=19.0, solver="lagrangian", max_iter=100_000)
    assert (
        more.fit(np.vstack([X, X]), np.append(y, y), np.append(weight, weight[::-1])).status_ == "converged"
    )
    LagrangianSVC(0.1, mu=1e9, solver="newton").fit(X, y)  # where there is no such step


def test_iteration_refuses_large_systems_and_reports_early_stops(monkeypatch):
    X, y = standardised(load_wine)
    monkeypatch.setattr("maxmargin.methods.lagrangian.spaces.MAX_ITERATED_ORDER", 10)
    with pytest.raises(ValueError, match=r"n_features \+ 1\), at most 10; got 14. Use solver='newton'"):
        LagrangianSVC(solver="lagrangian").fit(X, y)
    assert LagrangianSVC(solver="newton").fit(X, y).status_ == "converged"
    monkeypatch.undo()
    with pytest.warns(
        ConvergenceWarning, match=r"LagrangianSVC stopped \(max_iter\) with relative duality gap"
    ):
        LagrangianSVC(1e4, solver="lagrangian", max_iter=50).fit(X, y)

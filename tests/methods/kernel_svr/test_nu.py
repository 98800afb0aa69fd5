"""KernelSVR(nu=): the problem against a QP referee and NuSVR, nu's promise, what it refuses."""

import itertools
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import NuSVR
from support.properties import examples
from support.quadratic_program import solve_qp
from support.regression_problems import coefficients

from maxmargin import KernelSVR
from maxmargin.kernels import RBF
from maxmargin.methods.kernel_svm import nu as nu_search
from maxmargin.numerics import LowerLine, MultiplierSearch
from maxmargin.solving import Status


def noisy_sine(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2.0 * X).sum(axis=1) + 0.3 * rng.normal(size=n)


def optimum(K, y, cost, nu):
    """max a'y - 1/2 a'K a with sum a = 0, |a_i| <= cost_i and |a|_1 <= nu sum cost, by a general solver."""
    n, unit = len(y), cost.max()
    P, ones = np.block([[K, -K], [-K, K]]), np.ones(n)
    x = unit * solve_qp(
        P * unit,
        np.concatenate([-y, y]),
        np.concatenate([ones, -ones])[None, :],
        np.zeros(1),
        np.zeros(2 * n),
        np.concatenate([cost, cost]) / unit,
        np.ones((1, 2 * n)),
        np.array([nu * cost.sum() / unit]),
    )
    a = x[:n] - x[n:]
    return a @ y - 0.5 * a @ K @ a


def value(model, K, y, cost, nu):
    a = coefficients(model, len(y))
    r = np.abs(y - K @ a - model.intercept_)
    loss = cost @ np.maximum(0.0, r - model.epsilon_) + nu * cost.sum() * model.epsilon_
    return 0.5 * a @ K @ a + loss


@examples(25, 200)
@given(data=st.data())
def test_objective_matches_the_referee(data):
    n, unit = data.draw(st.integers(5, 40)), data.draw(st.sampled_from([1e-3, 1.0, 1e4]))
    X, y = noisy_sine(n, data.draw(st.integers(0, 2**32 - 1)))
    weight = np.random.default_rng(n).uniform(0.2, 3.0, n) if data.draw(st.booleans()) else np.ones(n)
    C, nu = data.draw(st.sampled_from([0.1, 1.0, 30.0])), data.draw(st.sampled_from([0.05, 0.3, 0.7, 1.0]))
    kernel = data.draw(st.sampled_from(["linear", "rbf"]))
    K = X @ X.T if kernel == "linear" else RBF(0.5)(X)
    best = optimum(K, y, C * weight, nu)
    model = KernelSVR(C * unit, nu=nu, kernel=kernel, gamma=0.5, tol=1e-6).fit(X, unit * y, weight)
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-6
    own = value(model, K, unit * y, C * unit * weight, nu)
    assert model.objective_ == pytest.approx(own, rel=1e-9)
    assert own / unit**2 == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_same_solution_as_nu_svr(nu):
    X, y = noisy_sine(150)
    peer = NuSVR(C=3.0, nu=nu, gamma=0.5, tol=1e-10).fit(X, y)
    model = KernelSVR(3.0, nu=nu, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=2e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.1, 0.6])
def test_nu_bounds_the_rows_outside_and_the_support_vectors(nu, weighted):
    X, y = noisy_sine(400)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, 400) if weighted else np.ones(400)
    model = KernelSVR(2.0, nu=nu, gamma=0.3, tol=1e-9).fit(X, y, weight)
    share = weight / weight.sum()
    outside = np.abs(y - model.predict(X)) > model.epsilon_ * (1.0 + 1e-6)
    assert share[outside].sum() <= nu + 1e-9
    assert share[model.support_].sum() >= nu - 1e-6


def test_a_large_problem_is_certified():
    X, y = noisy_sine(4000)
    model = KernelSVR(1.0, nu=0.3, gamma=0.5, tol=1e-4).fit(X, y)
    assert model.status_ == "converged"
    own = value(model, RBF(0.5)(X), y, np.ones(4000), 0.3)
    assert model.objective_ == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
def test_a_tube_around_all_targets_is_found(C):
    """With a small nu nothing but half the range of the targets is optimal; there all coefficients are 0."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 2))
    y = np.round(1.2 * rng.standard_normal(150)).clip(-1.0, 1.0) + 3.0
    model = KernelSVR(C, nu=1e-4, tol=1e-4, max_iter=1000).fit(X, y)
    assert model.status_ == "converged"
    assert model.objective_ <= C * 1e-4 * 150 * (1.0 + 1e-9)
    np.testing.assert_allclose(model.predict(X), 3.0, atol=1e-3)


def test_a_fit_that_diverges_does_not_end_the_search(monkeypatch):
    X, y = noisy_sine(60)
    plain, n_fits = KernelSVR(1.0, nu=0.3, tol=1e-6).fit(X, y), itertools.count()

    def solved(*given, run=nu_search.solved):
        found = run(*given)
        return found if next(n_fits) else replace(found, status=Status.DIVERGED)

    monkeypatch.setattr(nu_search, "solved", solved)
    model = KernelSVR(1.0, nu=0.6, tol=1e-6).fit(X, y)
    assert model.status_ == plain.status_ == "converged"


def test_callbacks_see_every_certificate_and_stop_the_search():
    X, y = noisy_sine(300)
    seen = []
    whole = KernelSVR(2.0, nu=0.3, tol=1e-8).set_callbacks(lambda check, state: seen.append(check)).fit(X, y)
    assert tuple(seen) == whole.history_[0]  # those of the fits at one epsilon, too
    assert all(before.n_iter <= after.n_iter for before, after in pairwise(seen))
    assert all(check.dual <= whole.objective_ * (1.0 + 1e-9) for check in seen)
    model = KernelSVR(2.0, nu=0.3).set_callbacks(lambda check, state: True).fit(X, y)
    assert model.status_ == "stopped"


def test_the_search_brackets_a_minimum():
    search = MultiplierSearch((0.0, -4.0), (10.0, 16.0))  # (m - 2)^2
    search.run(
        lambda m: LowerLine(m, (m - 2.0) ** 2, 2.0 * (m - 2.0), 4.0 - m * m),
        lambda search: search.best.value - search.lower < 1e-9,
    )
    assert search.lower <= 0.0 <= search.best.value <= 1e-9
    assert len(search.found) < 40


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"nu": 0.0}, "nu must be a finite number > 0"),
        ({"nu": 1.5}, "nu must be None or a number > 0 and at most 1"),
        ({"nu": 0.5, "loss": "huber"}, "nu finds the epsilon of loss='epsilon-insensitive'"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelSVR(**parameters).fit(*noisy_sine(10))

"""SparseKernelRegressor: its optimum against other solvers, its budget, its inputs, and what it refuses."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solve_triangular
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.properties import examples
from support.quadratic_program import solve_qp
from support.regression_problems import loss_values

from maxmargin import PathCV, SparseKernelRegressor
from maxmargin.kernels import RBF

LOSSES = ["squared", "huber", "pinball"]


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks([SparseKernelRegressor(8, loss=loss, random_state=0) for loss in LOSSES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def primal(model, X, y, weight):
    """The objective of a fitted model, from nothing but its coefficients."""
    Z, a = model.support_vectors_, model.dual_coef_[0]
    r = (y - model.intercept_[0]) - RBF(model.gamma_)(X, Z) @ a  # both may be large
    return (
        np.average(loss_values(r, model), weights=weight)
        + 0.5 * model.alpha_ * a @ RBF(model.gamma_)(Z, Z) @ a
    )


def optimum(model, X, y, weight):
    """The least objective over the chosen support vectors: in closed form, or the dual value of a QP."""
    Z, alpha = model.support_vectors_, model.alpha_
    kernel = RBF(model.gamma_)
    L = np.linalg.cholesky(kernel(Z, Z))
    Phi = solve_triangular(L, kernel(Z, X), lower=True).T
    c, r = weight / weight.sum(), y - model.intercept_[0]
    if model.loss == "squared":
        v = np.linalg.solve((Phi.T * c) @ Phi + alpha * np.eye(len(L)), Phi.T @ (c * r))
        return np.average(0.5 * (r - Phi @ v) ** 2, weights=weight) + 0.5 * alpha * v @ v
    # The dual in theta = c u, in units of the targets: c'(u t - conjugate(u)) - ||Phi' theta||^2 / (2 alpha)
    unit = np.abs(r).mean()
    t, huber = r / unit, model.loss == "huber"
    low, high = (-model.delta / unit, model.delta / unit) if huber else (model.quantile - 1.0, model.quantile)
    scaled = Phi * c[:, None] / np.sqrt(alpha if huber else alpha * unit)
    P = scaled @ scaled.T + (np.diag(c) if huber else 0.0)
    n = len(r)
    u = solve_qp(n * P, -n * c * t, lower=np.full(n, low), upper=np.full(n, high))
    u = np.clip(u, low, high)
    return unit ** (2 if huber else 1) * (c @ (u * t) - 0.5 * u @ P @ u)


@pytest.mark.parametrize("loss", LOSSES)
@examples(25, 200)
@given(data=st.data())
def test_objective_matches_other_solvers(loss, data):
    """Weights, scales and offsets of targets included."""
    n = data.draw(st.integers(10, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, 2))
    unit = 10.0 ** data.draw(st.sampled_from([-6, -2, 0, 3, 6]))
    y = np.sin(2.0 * X).sum(axis=1) + 0.3 * rng.standard_t(3, size=n)
    y = unit * (y + data.draw(st.sampled_from([0.0, 1.0, -1e4])))
    weight = rng.uniform(0.2, 3.0, n) if data.draw(st.booleans()) else np.ones(n)
    alpha = 10.0 ** data.draw(st.integers(-4, 0)) / (unit if loss == "pinball" else 1.0)
    model = SparseKernelRegressor(
        data.draw(st.integers(1, 12)),
        loss=loss,
        gamma=0.5,
        alpha=alpha,
        delta=unit * data.draw(st.sampled_from([1e-3, 0.05, 0.5, 100.0])),
        quantile=data.draw(st.sampled_from([0.05, 0.5, 0.9])),
        tol=1e-7,
        random_state=0,
    ).fit(X, y, weight)
    assert model.status_ in ("budget_full", "no_loss_left")
    assert 0.0 <= model.dual_gap_ <= 1e-7
    assert model.alpha_ == pytest.approx(alpha)
    assert model.n_support_ <= model.budget
    assert model.objective_ == pytest.approx(primal(model, X, y, weight), rel=1e-9)
    assert model.objective_ == pytest.approx(optimum(model, X, y, weight), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 3, 19, 20, 400])
@pytest.mark.parametrize("budget", [1, 7, 40])
def test_the_budget_is_kept(loss, n, budget):
    X, y = make_friedman1(n, 6, noise=1.0, random_state=0)
    for alpha in ("auto", 1e-8, 1.0):
        model = SparseKernelRegressor(budget, loss=loss, alpha=alpha, gamma=1.0, random_state=0).fit(X, y)
        assert model.n_support_ <= min(n, budget)
        assert model.dual_coef_.shape == (1, model.n_support_)
        assert model.status_ in ("budget_full", "no_loss_left")
        assert np.isfinite(model.predict(X)).all()


def test_more_rows_than_the_sample():
    """The last refit is over all rows: the certificate is that of the problem as given."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(75_000, 3))
    y = 1e3 * np.sin(5.0 * X[:, 0]) + 300.0 * X[:, 1] + 100.0 * rng.standard_t(3, size=len(X))
    weight = rng.integers(0, 3, len(X)).astype(float)
    for loss in LOSSES:
        model = SparseKernelRegressor(20, loss=loss, delta=150.0, random_state=0).fit(X, y, weight)
        assert model.n_support_ == 20
        assert model.dual_gap_ <= model.tol
        assert model.objective_ == pytest.approx(primal(model, X, y, weight), rel=1e-8)
        if loss == "squared":
            assert model.objective_ == pytest.approx(optimum(model, X, y, weight), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_choice_of_support_vectors_beats_a_random_one(loss):
    X, y = make_friedman1(2000, 6, noise=1.0, random_state=0)
    model = SparseKernelRegressor(25, loss=loss, alpha=1e-5, gamma=1.0, random_state=0).fit(X, y)
    for seed in range(5):
        other = clone(model)
        other.support_vectors_ = X[np.random.default_rng(seed).choice(len(X), 25, replace=False)]
        other.alpha_, other.gamma_, other.intercept_ = model.alpha_, model.gamma_, model.intercept_
        if loss == "squared":
            assert model.objective_ < 0.9 * optimum(other, X, y, np.ones(len(y)))
    assert model.score(X, y) > 0.85


def test_scaled_targets_have_the_scaled_solution():
    X, y = make_friedman1(300, 6, noise=1.0, random_state=0)
    for loss, scale, offset in itertools.product(LOSSES, (2.0**-20, 2.0**20), (0.0,)):
        first = SparseKernelRegressor(15, loss=loss, random_state=0).fit(X, y)
        other = SparseKernelRegressor(15, loss=loss, delta=scale, random_state=0).fit(X, scale * y + offset)
        np.testing.assert_allclose(other.predict(X), scale * first.predict(X) + offset, rtol=1e-9)
    far = SparseKernelRegressor(15, random_state=0).fit(X, y + 1e9)
    near = SparseKernelRegressor(15, random_state=0).fit(X, y)
    np.testing.assert_allclose(far.predict(X) - 1e9, near.predict(X), atol=1e-4)


def test_equal_targets_need_no_support_vectors():
    X = np.random.default_rng(0).normal(size=(50, 2))
    for loss in LOSSES:
        model = SparseKernelRegressor(5, loss=loss).fit(X, np.full(50, 0.1))
        assert (model.n_support_, model.status_, model.objective_) == (0, "no_loss_left", 0.0)
        assert (model.predict(X) == 0.1).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_that_allow_no_support_vector(loss):
    X, y = make_friedman1(50, 6, random_state=0)
    model = SparseKernelRegressor(5, loss=loss, kernel=lambda A, B: np.zeros((len(A), len(B)))).fit(X, y)
    assert (model.n_support_, model.status_, model.dual_gap_) == (0, "no_loss_left", 0.0)
    assert model.objective_ == pytest.approx(np.mean(loss_values(y - model.intercept_[0], model)))


def test_quantiles_and_outliers():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 1))
    y = np.sin(6.0 * X[:, 0]) + 0.2 * rng.normal(size=3000)
    for q in (0.1, 0.9):
        model = SparseKernelRegressor(20, loss="pinball", quantile=q, random_state=0).fit(X, y)
        assert np.mean(y <= model.predict(X)) == pytest.approx(q, abs=0.02)
    y[rng.choice(3000, 150, replace=False)] += 50.0
    truth = np.sin(6.0 * X[:, 0])
    errors = {
        loss: np.abs(
            SparseKernelRegressor(20, loss=loss, delta=0.2, random_state=0).fit(X, y).predict(X) - truth
        )
        for loss in ("squared", "huber")
    }
    assert errors["huber"].mean() < 0.1 < errors["squared"].mean()


def test_intervals_cover():
    X, y = make_friedman1(1500, 6, noise=1.0, random_state=0)
    model = (
        SparseKernelRegressor(40, random_state=0).fit(X[:500], y[:500]).calibrate(X[500:1000], y[500:1000])
    )
    low, high = model.predict_interval(X[1000:], coverage=0.8).T
    assert 0.72 < np.mean((low <= y[1000:]) & (y[1000:] <= high)) < 0.88
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    with pytest.raises(ValueError, match="call calibrate"):
        model.fit(X, y).predict_interval(X)


def test_a_search_over_alphas_has_the_scores_of_grid_search():
    X, y = make_friedman1(120, 5, noise=1.0, random_state=0)
    model, cv = SparseKernelRegressor(10, random_state=0), KFold(3)
    ours = PathCV(model, alphas=[1e-5, 1e-2], gammas=[0.5, 2.0], cv=cv).fit(X, y)
    theirs = GridSearchCV(model, {"alpha": [1e-2, 1e-5], "gamma": [0.5, 2.0]}, cv=cv).fit(X, y)
    assert ours.start_ == "cold"
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_the_search_for_alpha_is_reported_in_units_of_the_targets():
    X, y = make_friedman1(300, 6, noise=1.0, random_state=0)
    for loss in LOSSES:
        one = SparseKernelRegressor(15, loss=loss, random_state=0).fit(X, y)
        other = SparseKernelRegressor(15, loss=loss, delta=1024.0, random_state=0).fit(X, 1024.0 * y)
        per_alpha, unit = (1024.0, 1024.0) if loss == "pinball" else (1.0, 1024.0**2)
        assert other.alpha_ == pytest.approx(one.alpha_ / per_alpha)
        assert one.alpha_ in one.alpha_search_["alpha"]
        np.testing.assert_allclose(other.alpha_search_["loss"], unit * one.alpha_search_["loss"])


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"budget": 0}, "budget must be an integer >= 1"),
        ({"loss": "epsilon-insensitive"}, "loss must be one of"),
        ({"quantile": 1.0}, "quantile must be a number between 0 and 1"),
        ({"delta": 0.0}, "delta must be a finite number > 0"),
        ({"alpha": "best"}, "alpha must be one of"),
        ({"alpha": -1.0}, "alpha must be a finite number > 0"),
        ({"n_candidates": 0}, "n_candidates must be an integer >= 1"),
        ({"cache_mb": 0.0}, "cache_mb must be a finite number > 0"),
    ],
    ids=str,
)
def test_refused_parameters(changes, match):
    with pytest.raises(ValueError, match=match):
        SparseKernelRegressor(**changes).fit(np.eye(4), np.arange(4.0))


def test_a_fit_cut_by_the_clock_keeps_its_budget():
    X, y = make_friedman1(3000, 10, random_state=0)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SparseKernelRegressor(100, max_seconds=0.05, random_state=0).fit(X, y)
    assert model.n_support_ <= 100
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_no_fit_is_worse_than_the_constant(loss):
    """Within the tolerance of a smoothed loss the constant may be better: then it is the model."""
    y = np.arange(30.0)
    model = SparseKernelRegressor(5, loss=loss, gamma=1.0, random_state=0).fit(np.ones((30, 1)), y)
    assert model.status_ == "no_loss_left"
    assert model.objective_ <= np.mean(loss_values(y - model.intercept_[0], model)) * (1.0 + 1e-12)
    assert model.dual_gap_ <= model.tol


def test_a_huber_loss_with_a_small_delta_is_the_median_s():
    """The parabola is a thousandth of the noise wide: support vectors are found all the same."""
    X, y = make_friedman1(600, 5, noise=1.0, random_state=0)
    huber = SparseKernelRegressor(30, loss="huber", delta=1e-3, random_state=0).fit(X, y)
    median = SparseKernelRegressor(30, loss="pinball", random_state=0).fit(X, y)
    assert huber.status_ == median.status_ == "budget_full"
    assert huber.dual_gap_ <= huber.tol
    assert huber.score(X, y) == pytest.approx(median.score(X, y), abs=0.03)

"""LinearSVR: the problem it solves against a QP referee, HiGHS and its peers, its inputs, what it refuses."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from support.properties import examples
from support.regression_problems import LOSSES, loss_values, optimum

from maxmargin import KernelSVR, LinearSVR

SOLVERS = {
    "epsilon-insensitive": ["newton", "dual-cd"],
    "squared-epsilon-insensitive": ["newton", "dual-cd", "truncated-newton"],
    "pinball": ["newton", "dual-cd"],
    "huber": ["newton", "truncated-newton"],
}
EVERY = [(loss, solver) for loss, solvers in SOLVERS.items() for solver in solvers]
LOSSES_THERE = {
    "epsilon-insensitive": "epsilon_insensitive",
    "squared-epsilon-insensitive": "squared_epsilon_insensitive",
}
INTERCEPTS = {
    "free": {},
    "penalised": {"penalize_intercept": True},
    "none": {"fit_intercept": False},
}


def noisy_plane(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.3 * rng.standard_t(3, size=n)


def objective(model, X, y, weight=1.0):
    """The primal value, from nothing but the coefficients."""
    w, b = model.coef_, model.intercept_[0]
    penalty = 0.5 * (w @ w + (b * b if model.penalize_intercept and model.fit_intercept else 0.0))
    return penalty + model.C * np.sum(weight * loss_values(y - X @ w - b, model))


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
@examples(15, 150)
@given(data=st.data())
def test_objective_matches_the_referee(loss, intercept, data):
    """Weights, scales of features and targets, and offsets of both included."""
    n, d = data.draw(st.integers(2, 30)), data.draw(st.integers(1, 5))
    X, y = noisy_plane(n, data.draw(st.integers(0, 2**32 - 1)), d)
    free, unit = intercept == "free", 10.0 ** data.draw(st.sampled_from([-6, 0, 6]))
    # beside a penalised intercept, features of 1e-6 are lost in rounding
    size = 10.0 ** data.draw(st.sampled_from([-1 if intercept == "penalised" else -6, 0, 6]))
    # the referee's kernel matrix has the offset only where the intercept is not free
    centred, moved = size * X, size * data.draw(st.sampled_from([0.0, 1.0, -1e3 if free else -10.0]))
    X = centred + moved
    y = unit * (y + data.draw(st.sampled_from([0.0, 1.0, -1e4])))
    weight = np.random.default_rng(n).uniform(0.2, 3.0, n) if data.draw(st.booleans()) else np.ones(n)
    C = 10.0 ** data.draw(st.integers(-3, 2)) / size**2
    C *= unit if loss in ("epsilon-insensitive", "pinball") else 1.0
    model = LinearSVR(
        C,
        loss=loss,
        epsilon=unit * data.draw(st.sampled_from([0.0, 0.01, 0.3, 1e6])),
        delta=unit * data.draw(st.sampled_from([0.01, 0.5, 1e6])),
        quantile=data.draw(st.sampled_from([0.05, 0.5, 0.9])),
        tol=1e-8,
        **INTERCEPTS[intercept],
    ).fit(X, y, weight)
    assert model.status_ == "converged"
    found = objective(model, X, y, weight)
    scale = C * np.sum(weight * loss_values(y - (np.median(y) if free else 0.0), model))  # at w = 0
    assert model.objective_ == pytest.approx(found, rel=1e-7, abs=1e-12 * scale)
    K = centred @ centred.T if free else X @ X.T + (intercept == "penalised")
    best = optimum(model, K, y, C * weight, free)
    assume(best > 0.0 or scale == 0.0 or found <= 1e-10 * scale)  # or the solver has found nothing
    assert best * (1.0 - 1e-9) - 1e-10 * scale <= found <= best * (1.0 + 1e-6) + 1e-10 * scale


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("loss", "solver"), EVERY)
def test_solvers_agree_on_dense_and_sparse_rows(loss, solver, intercept):
    X, y = noisy_plane(200, d=6)
    X[np.abs(X) < 0.5] = 0.0
    rules = {"loss": loss, "quantile": 0.3, "delta": 0.2, "tol": 1e-7, "random_state": 0, "max_iter": 30_000}
    first = LinearSVR(solver="newton", **rules, **INTERCEPTS[intercept]).fit(X, y + 1.0)
    for rows in (X, sparse.csr_array(X), X.astype(np.float32)):
        model = LinearSVR(solver=solver, **rules, **INTERCEPTS[intercept])
        if solver == "dual-cd":  # many epochs take it to few digits
            model.set_params(tol=1e-5)
        model.fit(rows, y + 1.0)
        assert model.status_ == "converged"
        assert model.solver_ == solver
        exact = model.tol + (1e-6 if rows.dtype == np.float64 else 1e-5)
        assert model.objective_ == pytest.approx(first.objective_, rel=exact)
        np.testing.assert_allclose(model.predict(rows), first.predict(X), atol=2e-2)


@pytest.mark.parametrize("loss", LOSSES)
def test_same_model_as_a_linear_kernel(loss):
    X, y = noisy_plane(150)
    same = {"C": 0.7, "loss": loss, "quantile": 0.8, "delta": 0.3, "tol": 1e-10}
    kernel, model = KernelSVR(kernel="linear", **same).fit(X, y), LinearSVR(**same).fit(X, y)
    np.testing.assert_allclose(model.coef_, kernel.coef_[0], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, kernel.intercept_, atol=1e-5)
    assert model.objective_ == pytest.approx(kernel.objective_, rel=1e-9)
    assert model.coef_.shape == (3,)
    assert model.intercept_.shape == (1,)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_same_solution_as_scikit_learn(fit_intercept):
    X, y = noisy_plane(120)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    same = {"epsilon": 0.2, "fit_intercept": fit_intercept}
    for loss, factor in (("epsilon-insensitive", 1.0), ("squared-epsilon-insensitive", 0.5)):
        peer = svm.LinearSVR(
            C=0.3 * factor, loss=LOSSES_THERE[loss], tol=1e-7, max_iter=10**6, dual=True, **same
        ).fit(X, y, weight)
        model = LinearSVR(C=0.3, loss=loss, penalize_intercept=True, tol=1e-10, **same).fit(X, y, weight)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-4)


def test_the_pinball_loss_is_quantile_regression_where_C_is_large():
    """Against the linear program of the losses alone, by HiGHS."""
    X, y = noisy_plane(80)
    n, d = X.shape
    for q in (0.1, 0.5, 0.8):
        cost = np.concatenate([np.zeros(2 * d + 2), np.full(n, q), np.full(n, 1.0 - q)])
        A = np.hstack([X, -X, np.ones((n, 1)), -np.ones((n, 1)), np.eye(n), -np.eye(n)])
        best = linprog(cost, A_eq=A, b_eq=y, bounds=(0, None), method="highs").fun
        model = LinearSVR(C=1e6, loss="pinball", quantile=q, tol=1e-9).fit(X, y)
        assert model.status_ == "converged"
        assert loss_values(y - model.predict(X), model).sum() == pytest.approx(best, rel=1e-6)
        below = (y < model.predict(X) - 1e-9).mean()
        assert below <= q <= below + (d + 1) / n


@pytest.mark.parametrize(("loss", "solver"), EVERY)
def test_rows_and_targets_far_from_the_origin(loss, solver):
    """A time stamp among the features, and targets around 1e9: a free intercept makes them harmless."""
    X, y = noisy_plane(150)
    rules = {"loss": loss, "solver": solver, "max_iter": 20_000, "tol": 1e-5, "random_state": 0}
    plain = LinearSVR(**rules).fit(X, y)
    far = X + np.array([0.0, 1.7e9, 0.0])
    for rows in (far, sparse.csr_array(far)):
        model = LinearSVR(**rules).fit(rows, np.ldexp(np.round(np.ldexp(y, 20)), -20) + 1e9)
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-4)
        np.testing.assert_allclose(model.predict(rows) - 1e9, plain.predict(X), atol=0.02)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("loss", "solver"), EVERY)
def test_wide_rows(loss, solver, intercept):
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 4000), density=0.02, rng=rng, format="csr")
    y = X @ rng.normal(size=4000) + 0.1 * rng.normal(size=60)
    rules = {"C": 3.0, "loss": loss, "delta": 0.1, "epsilon": 0.05, "tol": 1e-6, "random_state": 0}
    model = LinearSVR(solver=solver, max_iter=20_000, **rules, **INTERCEPTS[intercept]).fit(X, y)
    assert model.status_ == "converged"
    K = (X @ X.T).toarray() + (intercept == "penalised")
    best = optimum(model, K, y, np.full(60, 3.0), intercept == "free")
    assert objective(model, X, y) == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("loss", ["epsilon-insensitive", "pinball"])
def test_wide_rows_take_cheap_epochs_where_C_is_small(loss):
    """Newton's method factorises a system of the order of the rows at each step: 100 times as slow."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((700, 4000), density=0.005, rng=rng, format="csr")
    y = X @ rng.normal(size=4000) + 0.3 * rng.normal(size=700)
    found = LinearSVR(loss=loss, random_state=0).fit(X, y)
    assert (found.solver_, found.status_) == ("dual-cd", "converged")
    newton = LinearSVR(loss=loss, solver="newton").fit(X, y)
    assert found.objective_ == pytest.approx(newton.objective_, rel=2e-4)
    for rules in ({"C": 100.0}, {"tol": 1e-6}):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            found = LinearSVR(loss=loss, max_iter=1, **rules).fit(X, y)
        assert found.solver_ == "newton"


@pytest.mark.parametrize("seed", [197, 628])
def test_large_features_and_costs(seed):
    """A Newton direction of the first rounds is 1e10 times too long."""
    rng = np.random.default_rng(seed)
    n, d, size = int(rng.integers(10, 80)), int(rng.integers(2, 8)), 10.0 ** rng.integers(1, 5)
    X = size * rng.normal(size=(n, d))
    y = X[:, 0] / size + rng.normal(size=n)
    model = LinearSVR(C=10.0 ** rng.integers(2, 6), epsilon=1.0, max_iter=300).fit(X, y)
    assert model.status_ == "converged"


def test_weights_of_0_and_outliers():
    X, y = noisy_plane(100)
    y[:3] = [1e8, -1e9, 1e8]
    weight = np.r_[0.0, 0.0, 0.0, np.ones(97)]
    for loss in LOSSES:
        kept = LinearSVR(loss=loss, tol=1e-6).fit(X, y, weight)
        alone = LinearSVR(loss=loss, tol=1e-6).fit(X[3:], y[3:])
        np.testing.assert_array_equal(kept.coef_, alone.coef_)
        with_them = LinearSVR(loss=loss, tol=1e-6).fit(X, y)
        assert with_them.status_ == "converged"
        assert with_them.objective_ == pytest.approx(objective(with_them, X, y), rel=1e-9)


def test_scaled_targets_have_the_scaled_solution():
    """y times t, epsilon times t, and C times t for a loss that grows linearly."""
    X, y = noisy_plane(200)
    plain = LinearSVR(2.0, tol=1e-9).fit(X, y)
    for t, offset in ((1e-6, 0.0), (1e7, -5.0), (4.0, 0.0)):
        model = LinearSVR(2.0 * t, epsilon=0.1 * t, tol=1e-9).fit(X, t * (y + offset))
        np.testing.assert_allclose(model.predict(X) / t - offset, plain.predict(X), atol=1e-5)
        assert model.objective_ == pytest.approx(t * t * plain.objective_, rel=1e-7)


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_a_huber_loss_without_an_end_is_least_squares(unit):
    X, y = noisy_plane(60)
    plain = LinearSVR(2.0, loss="squared-epsilon-insensitive", epsilon=0.0).fit(X, y)
    model = LinearSVR(2.0, loss="huber", delta=1e308).fit(X, unit * y)
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.predict(X) / unit, plain.predict(X), rtol=1e-9)


def test_constant_targets_columns_and_one_row():
    X, y = noisy_plane(30)
    for loss, parameters in itertools.product(LOSSES, [{}, {"delta": 0.1}, {"delta": 1e-3, "C": 1e4}]):
        model = LinearSVR(loss=loss, **parameters).fit(X, np.full(30, 7.5))
        assert model.status_ == "converged"
        assert model.objective_ == model.dual_gap_ == 0.0
        np.testing.assert_allclose(model.predict(X), 7.5, rtol=1e-15)
    for loss in LOSSES:
        assert LinearSVR(loss=loss).fit(X[:1], y[:1]).predict(X) == pytest.approx(y[0])
        constant = LinearSVR(loss=loss, tol=1e-8).fit(np.column_stack([X, np.full(30, 5.0), np.zeros(30)]), y)
        assert constant.status_ == "converged"
        plain = LinearSVR(loss=loss, tol=1e-8).fit(X, y)
        assert constant.objective_ == pytest.approx(plain.objective_, rel=1e-7)


def test_everything_within_the_tube():
    X, y = noisy_plane(40)
    for solver in ("newton", "dual-cd"):
        model = LinearSVR(epsilon=100.0, solver=solver, random_state=0).fit(X, y)
        assert model.status_ == "converged"
        assert model.objective_ == model.dual_gap_ == 0.0
        assert model.n_support_ == 0
        assert not model.coef_.any()


def test_intervals_cover_new_rows():
    X, y = noisy_plane(900)
    model = LinearSVR().fit(X[:300], y[:300]).calibrate(X[300:600], y[300:600])
    low, high = model.predict_interval(X[600:], coverage=0.8).T
    assert ((low <= y[600:]) & (y[600:] <= high)).mean() == pytest.approx(0.8, abs=0.07)
    assert not hasattr(model.fit(X, y), "calibration_scores_")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0.0}, "C must be a finite number > 0"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"epsilon": -1.0}, "epsilon must be a finite number >= 0"),
        ({"quantile": 1.0}, "quantile must be a number between 0 and 1"),
        ({"delta": 0.0}, "delta must be a finite number > 0"),
        ({"solver": "sgd"}, "solver must be one of"),
        ({"solver": "truncated-newton"}, "needs a loss with a curvature"),
        ({"solver": "dual-cd", "loss": "huber"}, "has no Huber loss"),
        ({"fit_intercept": 1}, "fit_intercept must be True or False"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        LinearSVR(**parameters).fit(*noisy_plane(10))


def test_wrong_targets_are_named():
    X, y = noisy_plane(10)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        LinearSVR().fit(X, None)
    with pytest.raises(ValueError, match=r"targets must be at most 1e\+140"):
        LinearSVR().fit(X, 1e150 * y)
    for missing in (np.nan, None):
        with pytest.raises(ValueError, match="NaN"):
            LinearSVR().fit(X, np.where(y > 0, missing, y))
    for kind in (str, object):
        with pytest.raises(ValueError, match="y must be numbers; got 'low'"):
            LinearSVR().fit(X, np.where(y > 0, "low", "high").astype(kind)[np.argsort(-y)])
    with pytest.raises(ValueError, match="y must be numbers; got 'low'"):
        LinearSVR().fit(X, y).calibrate(X, ["low"] * 10)
    with pytest.raises(ValueError, match="C times the weights"):
        LinearSVR(C=1e200).fit(X, y)

"""The log loss of LinearSVC: an independent optimum, logistic regression, probabilities, files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from support.properties import examples

from maxmargin import LinearSVC
from maxmargin.data.rows import Rows
from maxmargin.io import load, save
from maxmargin.losses import Log
from maxmargin.methods.linear.log_newton import log_newton, root
from maxmargin.methods.linear.problem import MarginProblem
from maxmargin.methods.linear.truncated_newton import truncated_newton
from maxmargin.solving import Status, Stop

INTERCEPTS = {"free": (True, False), "penalised": (True, True), "none": (False, False)}


def objective(w, b, X, y, cost, intercept):
    penalty = 0.5 * (w @ w + (b * b if intercept == "penalised" else 0.0))
    return penalty + cost @ np.logaddexp(0.0, -y * (X @ w + b))


def optimum(X, y, cost, intercept):
    """By a general minimiser, from the gradient as one would write it down."""
    X1 = np.column_stack([X, np.full(len(y), 0.0 if intercept == "none" else 1.0)])
    penalised = np.append(np.ones(X.shape[1]), float(intercept == "penalised"))

    def function(v):
        m = y * (X1 @ v)
        u = 1.0 / (1.0 + np.exp(np.clip(m, -700, 700)))
        value = 0.5 * penalised @ v**2 + cost @ np.logaddexp(0.0, -m)
        return value, penalised * v - X1.T @ (cost * u * y)

    start = np.zeros(X1.shape[1])
    return minimize(function, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}).fun


def rows(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.4, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, rng.uniform(0.2, 3.0, size=n)


@examples(40, 150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 60),
    C=st.floats(-5, 5),
    intercept=st.sampled_from(sorted(INTERCEPTS)),
    solver=st.sampled_from([log_newton, truncated_newton]),
)
def test_the_bounds_hold_an_independent_optimum(seed, n, d, C, intercept, solver):
    X, y, weight = rows(seed, n, d)
    cost = weight * 10.0**C
    best = optimum(X, y, cost, intercept)
    problem = MarginProblem(Rows(X, np.arange(n)), y, cost, Log(), intercept)
    result = solver(problem, stop=Stop(tol=1e-8, max_iter=500))
    assert result.status is Status.CONVERGED
    value = objective(result.coef, result.intercept, X, y, cost, intercept)
    assert value == pytest.approx(result.objective, rel=1e-11)
    assert value <= best * (1.0 + 2e-8)
    assert result.history[-1].dual <= best * (1.0 + 1e-11)


@pytest.mark.parametrize("intercept", ["free", "none"])
def test_it_equals_logistic_regression(intercept):
    X, y = load_breast_cancer(return_X_y=True)
    X, weight = StandardScaler().fit_transform(X), np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    fit, penalise = INTERCEPTS[intercept]
    ours = LinearSVC(0.7, loss="log", fit_intercept=fit, penalize_intercept=penalise, tol=1e-12)
    ours.fit(X, y, weight)
    peer = LogisticRegression(C=0.7, fit_intercept=fit, solver="newton-cholesky", tol=1e-10)
    peer.fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    assert ours.dual_gap_ <= 1e-12


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("solver", ["newton", "truncated-newton"])
def test_layouts_and_solvers_have_one_optimum(layout, solver):
    X, y = load_iris(return_X_y=True)
    first = LinearSVC(loss="log", tol=1e-10).fit(X, y)
    other = LinearSVC(loss="log_loss", tol=1e-10, solver=solver).fit(layout(X), y)
    assert other.objective_ == pytest.approx(first.objective_, rel=1e-6)
    np.testing.assert_allclose(other.coef_, first.coef_, atol=1e-3)


def test_rows_far_from_the_origin_change_nothing_but_the_intercept():
    X, y, _ = rows(0, 200)
    near, far = (LinearSVC(loss="log", tol=1e-10).fit(X + shift, y) for shift in (0.0, 1e5))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)


@pytest.mark.parametrize("C", [1e-4, 1e4, 1e9])
def test_separable_rows_converge_for_any_cost(C):
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(C, loss="log", tol=1e-6).fit(X, y == 0)
    assert model.status_ == "converged"


def test_probabilities_agree_with_predictions_and_survive_a_file(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(loss="log").fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    save(model, tmp_path / "log.mm")
    np.testing.assert_array_equal(load(tmp_path / "log.mm").predict_proba(X), P)
    coupled = LinearSVC(loss="log", code="one-vs-one", decoder="coupling").fit(X, y)
    np.testing.assert_allclose(coupled.predict_proba(X).sum(axis=1), 1.0)


def test_what_has_no_probabilities_says_so():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(LinearSVC(), "predict_proba")
    assert not hasattr(LinearSVC(loss="log", code="one-vs-one").fit(X, y), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        LinearSVC().predict_proba  # noqa: B018
    assert "loss='log' and one-vs-rest" in str(caught.value.__cause__)
    with pytest.raises(ValueError, match="Use solver='auto', 'newton' or 'truncated-newton'"):
        LinearSVC(loss="log", solver="dual-cd").fit(X, y)


@given(at=st.floats(-1e3, 1e3), start=st.floats(-1e3, 1e3), steep=st.floats(-3, 2))
def test_roots_of_saturating_functions_are_found_from_anywhere(at, start, steep):
    scale = 10.0**steep

    def function(t):
        z = np.clip(scale * (t - at), -300, 300)
        return np.tanh(z), scale / np.cosh(z) ** 2

    assert abs(function(root(function, start, 1e-9))[0]) <= 1e-9

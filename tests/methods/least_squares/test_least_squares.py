"""Least squares, ridge and lasso against referees, scikit-learn, brute force and their own certificates."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from support.properties import examples
from support.reference import (
    lasso_primal,
    ridge_in_extended_precision,
    ridge_left_out_exactly,
    shortest_least_squares,
)

from maxmargin import LeastSquaresClassifier
from maxmargin.data.rows import Rows
from maxmargin.methods.least_squares.columns import SquaresOnRows
from maxmargin.methods.least_squares.data import SquaresData
from maxmargin.methods.least_squares.problem import SquaresProblem
from maxmargin.methods.least_squares.system import KrylovSystem, SpectralSystem
from maxmargin.solving.result import State, Status, Stop

PENALTIES = {"none": None, "ridge": "ridge", "lasso": "lasso"}


def noisy(seed, n=40, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, rng.uniform(0.2, 3.0, size=n)


def solved(penalty, X, y, weight, C=1.0, free=True, tol=1e-9, callback=None):
    data = SquaresData(Rows(X, np.arange(X.shape[0])), weight, free)
    return SquaresOnRows(data, penalty).at(C).solve(y, None, Stop(tol=tol, max_iter=1000), callback)


def objective(penalty, X, y, weight, C, w, b):
    cost = weight if penalty == "none" else C * weight
    norm = {"none": 0.0, "ridge": 0.5 * w @ w, "lasso": np.abs(w).sum()}[penalty]
    return norm + 0.5 * cost @ (y - X @ w - b) ** 2


def referee(penalty, X, y, weight, C, free):
    if penalty == "none":
        return shortest_least_squares(X, y, weight, free)
    solve = ridge_in_extended_precision if penalty == "ridge" else lasso_primal
    return solve(X, y, C * weight, free)


@pytest.mark.parametrize("penalty", PENALTIES)
@examples(60, 200)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 20),
    d=st.integers(1, 12),
    C=st.floats(-3, 3),
    free=st.booleans(),
)
def test_the_optimum_is_the_referees(penalty, seed, n, d, C, free):
    X, y, weight = noisy(seed, n, d)
    C = 10.0**C
    result = solved(penalty, X, y, weight, C, free)
    _, _, best = referee(penalty, X, y, weight, C, free)
    zero = 1e-14 * weight.sum() * (1.0 if penalty == "none" else C)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(best, rel=1e-6, abs=zero)
    assert result.history[-1].dual <= best * (1 + 1e-8) + zero
    own = objective(penalty, X, y, weight, C, result.coef, result.intercept)
    assert result.objective == pytest.approx(own, rel=1e-9, abs=zero)
    assert all(check.gap >= -1e-10 for check in result.history)
    assert all(later.gap <= earlier.gap + 1e-12 for earlier, later in itertools.pairwise(result.history[1:]))


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
def test_of_several_solutions_the_shortest(shape, free):
    X, y, weight = noisy(1, *shape)
    X = np.hstack([X, X[:, :2], X @ np.ones((shape[1], 1)), np.full((shape[0], 1), 3.0)])
    result = solved("none", X, y, weight, free=free)
    w, b, _ = shortest_least_squares(X, y, weight, free)
    np.testing.assert_allclose(result.coef, w, atol=1e-9)
    assert result.intercept == pytest.approx(b, abs=1e-9)


def test_the_rank_is_found_at_any_scale():
    X, y, _ = noisy(2, 60, 4)
    X = np.hstack([X, X[:, :1] + X[:, 1:2], np.full((60, 1), 7.0)])
    scale = 10.0 ** np.array([-8.0, 8.0, 0.0, 3.0, 0.0, 2.0])
    plain = LeastSquaresClassifier(penalty=None).fit(X, y)
    uneven = LeastSquaresClassifier(penalty=None).fit(X[:, :4] * scale[:4], y)
    assert plain.rank_ == 4
    assert uneven.rank_ == 4
    assert uneven.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert LeastSquaresClassifier(penalty=None, fit_intercept=False).fit(X, y).rank_ == 5


def test_the_rank_is_not_that_of_the_rounding_of_means():
    for seed in range(300):
        X, y, weight = noisy(seed, 2, 2)
        problems = SquaresOnRows(SquaresData(Rows(X, np.arange(2)), weight), "none").at(1.0)
        assert problems.rank == 1
        assert problems.solve(y, None, Stop(tol=1e-9), None).status is Status.CONVERGED


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scales_and_offsets_cost_no_certificate(penalty, offset):
    X, y, weight = noisy(3, 50, 6)
    X = X * 10.0 ** np.array([-6.0, 6.0, 0.0, 2.0, -2.0, 4.0]) + offset * np.array([0, 1e6, 1, 0, 0, 1e4])
    result = solved(penalty, X, y, weight, 10.0, tol=1e-6)
    assert result.status is Status.CONVERGED
    if offset == 0.0:
        best = referee(penalty, X, y, weight, 10.0, True)[2] if penalty != "lasso" else result.objective
        assert result.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("C", [1e-8, 1e8, 1e12])
@pytest.mark.parametrize("shape", [(40, 8), (8, 40)])
def test_ridge_is_certified_for_any_cost(C, shape):
    X, y, weight = noisy(4, *shape)
    X[:, 1] = X[:, 0]
    result = solved("ridge", X, y, weight, C)
    assert result.status is Status.CONVERGED
    w, _, best = ridge_in_extended_precision(X, y, C * weight, True)
    assert result.objective == pytest.approx(best, rel=1e-6)
    # strong convexity turns the gap to a distance
    assert np.linalg.norm(result.coef - w) <= 1e-9 + np.sqrt(2e-9 * best)


def test_scikit_learns_parameters_convert():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.std(axis=0)
    t, n = 2.0 * y - 1.0, len(y)
    pairs = [
        (LinearRegression(), None, 1.0),
        (Ridge(alpha=0.3), "ridge", 1 / 0.3),
        (Lasso(alpha=0.02, tol=1e-12, max_iter=100_000), "lasso", 1 / (n * 0.02)),
    ]
    for peer, penalty, C in pairs:
        ours, theirs = LeastSquaresClassifier(C, penalty=penalty, tol=1e-12).fit(X, y), peer.fit(X, t)
        np.testing.assert_allclose(ours.coef_[0], theirs.coef_, atol=1e-5)
        assert ours.intercept_[0] == pytest.approx(theirs.intercept_, abs=1e-4)
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    ours = LeastSquaresClassifier(1 / 0.7).fit(X, y, weight)
    theirs = RidgeClassifier(alpha=0.7).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_zeros_are_exact_and_the_optimality_conditions_hold():
    X, y, weight = noisy(5, 100, 40)
    result = solved("lasso", X, y, weight, 0.2, tol=1e-12)
    r = y - X @ result.coef - result.intercept
    slope = X.T @ (0.2 * weight * r)
    support = result.coef != 0.0
    assert 0 < support.sum() < 40
    np.testing.assert_allclose(slope[support], np.sign(result.coef[support]), atol=1e-5)
    assert (np.abs(slope[~support]) <= 1 + 1e-5).all()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_lasso_on_more_features_than_its_working_sets(container, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(120, 1500)) * (rng.random((120, 1500)) < 0.3)).astype(dtype)
    y = np.where(X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=120) > 0, 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, size=120)
    result = solved("lasso", container(X), y, weight, 1.0, tol=1e-8)
    theirs = Lasso(alpha=1 / weight.sum(), tol=1e-10, max_iter=50_000).fit(X.astype(float), y, weight)
    assert result.status is Status.CONVERGED
    goal = objective("lasso", X.astype(float), y, weight, 1.0, theirs.coef_, theirs.intercept_)
    assert result.objective == pytest.approx(goal, rel=1e-6)
    assert result.objective <= goal * (1 + 1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_collinear_features(penalty):
    X, y, weight = noisy(6, 40, 4)
    X = np.hstack([X, X, X + 1e-9 * np.random.default_rng(0).normal(size=X.shape)])
    result = solved(penalty, X, y, weight, tol=1e-6)
    assert result.status is Status.CONVERGED
    if penalty == "ridge":
        assert result.objective == pytest.approx(referee("ridge", X, y, weight, 1.0, True)[2], rel=1e-9)


@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("class_weight", [None, {0: 0.5, 1: 3.0}])
def test_leave_one_out_is_that_of_refits(shape, free, code, class_weight):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=shape), np.arange(shape[0]) % 3
    X[1], y[1] = X[0], y[0]  # given twice
    weight = rng.choice([0.0, 0.4, 1.0, 2.0, 2.5], size=shape[0])
    weight[:6] = [1.0, 1.0, 2.0, 0.0, 1.0, 3.0]
    model = LeastSquaresClassifier(0.7, fit_intercept=free, code=code, class_weight=class_weight, tol=1e-12)
    whole = clone(model).fit(X, y, weight)
    expected = np.empty((shape[0], 3))
    for i in range(shape[0]):
        left = weight.copy()
        left[i] -= min(1.0, left[i])
        expected[i] = clone(model).fit(X, y, left).decision_function(X[i : i + 1])[0]
    np.testing.assert_allclose(whole.loo_scores_, expected, atol=1e-9)
    wrong = expected.argmax(axis=1) != y
    assert whole.loo_error_ == pytest.approx(weight @ wrong / weight.sum())


def test_leave_one_out_treats_weights_as_repetitions():
    X, y, _ = noisy(8)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = LeastSquaresClassifier().fit(X, y, weight)
    repeated = LeastSquaresClassifier().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.loo_scores_[rows], repeated.loo_scores_, rtol=1e-12)
    assert weighted.loo_error_ == pytest.approx(repeated.loo_error_)


@pytest.mark.filterwarnings("ignore:.*stalled")  # a square matrix at C times scales of 1e20
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shape", [(8, 12), (8, 8), (8, 7), (12, 3)])
def test_leave_one_out_is_exact_where_ridge_interpolates(shape, free):
    rng = np.random.default_rng(13)
    X, weight = rng.normal(size=shape), rng.uniform(0.2, 1.0, size=shape[0])
    y = np.where(np.arange(shape[0]) % 3 == 0, 1.0, -1.0)
    for C, scale in [(1.0, 1e4), (1e6, 1.0), (1e12, 1e-4), (1e12, 1.0), (1e12, 1e4)]:
        model = LeastSquaresClassifier(C, fit_intercept=free).fit(scale * X, y, weight)
        expected = ridge_left_out_exactly(scale * X, y, C * weight, free)
        np.testing.assert_allclose(model.loo_scores_, expected, rtol=1e-6, atol=1e-6)
        assert model.loo_error_ == pytest.approx(weight @ (expected * y <= 0) / weight.sum())


@pytest.mark.parametrize("shape", [(8, 12), (12, 5)])
def test_leave_one_out_is_withheld_where_it_would_be_rounding(shape):
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=shape), np.where(np.arange(shape[0]) % 2, 1.0, -1.0)
    X[:, 0] = np.eye(shape[0])[3]  # a feature of one row only
    X[1] = X[0]  # of both classes
    scores = []
    for C in (1e3, 1e12, 1e14):
        model = LeastSquaresClassifier(C, tol=0.9).fit(X, y)
        known = np.isfinite(model.loo_scores_)
        expected = ridge_left_out_exactly(X, y, np.full(shape[0], C), True)
        np.testing.assert_allclose(model.loo_scores_[known], expected[known], rtol=3e-3, atol=3e-3)
        assert np.isnan(model.loo_error_) == (not known.all())
        scores.append(known)
    assert scores[0].all()
    assert not scores[2].all()


@pytest.mark.parametrize("penalty", PENALTIES.values())
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [1e4, 1e7, 1e8])
def test_offsets_cost_no_certificate(penalty, container, offset):
    for seed in range(15):
        X, y, _ = noisy(seed)
        X = X + offset * np.array([1.0, 1.0, -1.0, 0.0, 3.0])
        model = LeastSquaresClassifier(penalty=penalty).fit(container(X), y)
        centred = LeastSquaresClassifier(penalty=penalty).fit(X - offset * np.array([1, 1, -1, 0, 3]), y)
        assert model.status_ == "converged"
        assert all(check.gap >= -1e-12 for check in model.history_[0])
        assert model.dual_gap_ <= 1e-9
        assert model.objective_ == pytest.approx(centred.objective_, rel=1e-9)
        np.testing.assert_allclose(model.coef_, centred.coef_, atol=1e-8)
        np.testing.assert_array_equal(
            model.predict(container(X)), np.where(X @ model.coef_[0] + model.intercept_ > 0, 1, -1)
        )


def test_rounding_of_sparse_features_with_a_few_zeros_is_in_the_certificate():
    """Such features are not moved."""
    for seed in range(15):
        X, y, weight = noisy(seed, 400)
        X[:, 1] += 1e5
        X[np.random.default_rng(seed).integers(0, 400, size=40), 1] = 0.0
        result = solved("ridge", sparse.csr_array(X), y, weight, 1.0, tol=1e-7)
        assert result.status is Status.CONVERGED
        assert result.gap >= 0.0


@pytest.mark.parametrize("C", [1e-12, 1e-7, 1e-4])
def test_a_small_cost_has_a_small_solution_not_none(C):
    X, y, _ = noisy(15)
    ridge = LeastSquaresClassifier(C).fit(X, y)
    w, _, _ = ridge_in_extended_precision(X, y, np.full(len(y), C), True)
    np.testing.assert_allclose(ridge.coef_[0], w, rtol=1e-9)
    assert np.isfinite(ridge.dual_gap_)
    assert LeastSquaresClassifier(C, penalty=None).fit(X, y).coef_.all()


def test_the_lasso_is_zero_up_to_its_smallest_cost_only():
    X, y, _ = noisy(16)
    data = SquaresData(Rows(X, np.arange(len(y))), np.ones(len(y)))
    first = SquaresOnRows(data, "lasso").smallest_cost(y)
    for factor, n_features in [(0.999, 0), (1.001, 1)]:
        model = LeastSquaresClassifier(factor * first, penalty="lasso").fit(X, y)
        assert np.count_nonzero(model.coef_) == n_features
        assert model.status_ == "converged"


@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
def test_the_path_is_certified_continuous_and_that_of_single_fits(penalty):
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresClassifier(penalty=penalty, tol=1e-9)
    path = model.path(X, y)
    assert path.coefs.shape == (50, 3, 4)
    assert path.dual_gaps.max() <= 1e-9
    assert (np.diff(path.Cs) > 0).all()
    if penalty == "lasso":
        assert path.n_nonzero[0] == 0 < path.n_nonzero[1]
    for k in (0, 20, 49):
        single = clone(model).set_params(C=path.Cs[k]).fit(X, y)
        np.testing.assert_allclose(path.coefs[k], single.coef_, atol=1e-5)
        assert path.objectives[k].sum() == pytest.approx(single.objective_, rel=1e-8)
    fine = model.path(X, y, np.geomspace(1.0, 1.001, 5))
    assert np.abs(np.diff(fine.coefs, axis=0)).max() <= 1e-3
    np.testing.assert_allclose(
        model.path(X, y, [0.5]).coefs[0], model.set_params(C=0.5).fit(X, y).coef_, atol=1e-6
    )


def test_paths_refuse_what_has_none():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"penalty=None has no C"):
        LeastSquaresClassifier(penalty=None).path(X, y)
    for Cs in ([1.0, -1.0], ["a"], [], 1.0, [[1.0]], [np.nan]):
        with pytest.raises(ValueError, match=r"Cs must be a list of at least one finite number > 0; got"):
            LeastSquaresClassifier().path(X, y, Cs)
    with pytest.warns(ConvergenceWarning, match="largest relative duality gap"):
        LeastSquaresClassifier(penalty="lasso", tol=1e-300, max_iter=2).path(X, y, [1.0])


def test_a_warm_start_changes_nothing_but_time():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.std(axis=0)
    model = LeastSquaresClassifier(0.05, penalty="lasso", tol=1e-10).fit(X, y)
    cold = clone(model).set_params(C=0.06).fit(X, y)
    warm = model.set_params(C=0.06, warm_start=True).fit(X, y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
    assert warm.fit(X, y).n_iter_ == 0  # from the optimum itself
    assert warm.fit(X[:, :5], y).coef_.shape == (1, 5)


@pytest.mark.parametrize("penalty", ["none", "ridge"])
@pytest.mark.parametrize("shape", [(80, 20), (20, 80)])
def test_conjugate_gradients_where_no_matrix_fits(penalty, shape, monkeypatch):
    X, y, weight = noisy(9, *shape)
    exact = solved(penalty, X, y, weight)
    monkeypatch.setattr("maxmargin.methods.least_squares.system.MAX_CHOLESKY_ORDER", 1)
    monkeypatch.setattr("maxmargin.methods.least_squares.system.MAX_SPECTRAL_ORDER", 1)
    data = SquaresData(Rows(sparse.csr_array(X), np.arange(len(y))), weight)
    problems = SquaresOnRows(data, penalty).at(1.0)
    assert isinstance(problems.system, KrylovSystem)
    result = problems.solve(y, None, Stop(tol=1e-9), None)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.coef, exact.coef, atol=1e-5)


def test_many_columns_share_one_factorisation(monkeypatch):
    built = []
    original = SquaresData.gram_of_features
    monkeypatch.setattr(SquaresData, "gram_of_features", lambda self: built.append(1) or original(self))
    X, y = load_iris(return_X_y=True)
    LeastSquaresClassifier().fit(X, y)
    assert len(built) == 1
    LeastSquaresClassifier(code="one-vs-one").fit(X, y)
    assert len(built) == 4


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_resumed_solver_goes_on_bit_for_bit(penalty):
    from maxmargin.methods.least_squares.lasso import lasso
    from maxmargin.methods.least_squares.refinement import least_squares

    X, y, weight = noisy(10, 200, 30)
    data = SquaresData(Rows(X, np.arange(len(y))), weight)
    problems = SquaresOnRows(data, penalty).at(1.0)
    solve, shared = (lasso, problems.products) if penalty == "lasso" else (least_squares, problems.system)
    problem, stop = SquaresProblem(problems.data, y, penalty), Stop(tol=1e-300, max_iter=3)
    saved: list[State] = []
    whole = solve(
        problem, shared, stop=stop, callback=lambda check, state: saved.append(state.copy()) and False
    )
    resumed = solve(problem, shared, stop=stop, state=saved[1].copy())
    np.testing.assert_array_equal(resumed.coef, whole.coef)
    assert resumed.history[-1].dual == whole.history[-1].dual


def test_the_bound_without_a_penalty_does_not_trust_the_solver():
    """Coefficients that are not the optimum are told from it, whatever made them."""
    X, y, weight = noisy(11)
    data = SquaresData(Rows(X, np.arange(len(y))), weight)
    problems = SquaresOnRows(data, "none").at(1.0)
    assert isinstance(problems.system, SpectralSystem)
    best = problems.solve(y, None, Stop(tol=1e-12), None)
    problem = SquaresProblem(data, y, "none")
    w = best.coef + 0.01
    r, _ = data.residual(y, w)
    gain = problems.system.gain(w, data.combine(r), data.root * r, 10.0)
    assert problem.bounded_by(w, r, gain).dual == pytest.approx(best.objective, rel=1e-10)
    assert gain > 1e-6


@pytest.mark.parametrize("penalty", ["Ridge", 1, "l2", ["ridge"]])
def test_unknown_penalties_are_refused(penalty):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"penalty must be 'ridge', 'lasso' or None; got"):
        LeastSquaresClassifier(penalty=penalty).fit(X, y)

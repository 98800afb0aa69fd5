"""Least squares, ridge and lasso against referees and their own certificates."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Lasso
from support.properties import examples
from support.reference_squares import ridge_in_extended_precision, shortest_least_squares
from support.squares_problems import PENALTIES, noisy, objective, referee, solved

from maxmargin import LeastSquaresClassifier
from maxmargin.data.rows import Rows
from maxmargin.methods.least_squares.columns import SquaresOnRows
from maxmargin.methods.least_squares.data import SquaresData
from maxmargin.methods.least_squares.problem import SquaresProblem
from maxmargin.methods.least_squares.system import KrylovSystem, SpectralSystem
from maxmargin.solving.result import State, Status, Stop


@pytest.mark.parametrize("penalty", PENALTIES)
@examples(60, 200)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 20),
    d=st.integers(1, 12),
    C=st.floats(-3, 3),
    free=st.booleans(),
)
def test_optimum_equals_the_referee(penalty, seed, n, d, C, free):
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
def test_shortest_solution_is_chosen(shape, free):
    X, y, weight = noisy(1, *shape)
    X = np.hstack([X, X[:, :2], X @ np.ones((shape[1], 1)), np.full((shape[0], 1), 3.0)])
    result = solved("none", X, y, weight, free=free)
    w, b, _ = shortest_least_squares(X, y, weight, free)
    np.testing.assert_allclose(result.coef, w, atol=1e-9)
    assert result.intercept == pytest.approx(b, abs=1e-9)


def test_rank_is_found_at_any_scale():
    X, y, _ = noisy(2, 60, 4)
    X = np.hstack([X, X[:, :1] + X[:, 1:2], np.full((60, 1), 7.0)])
    scale = 10.0 ** np.array([-8.0, 8.0, 0.0, 3.0, 0.0, 2.0])
    plain = LeastSquaresClassifier(penalty=None).fit(X, y)
    uneven = LeastSquaresClassifier(penalty=None).fit(X[:, :4] * scale[:4], y)
    assert plain.rank_ == 4
    assert uneven.rank_ == 4
    assert uneven.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert LeastSquaresClassifier(penalty=None, fit_intercept=False).fit(X, y).rank_ == 5


def test_rank_ignores_rounding_of_the_means():
    for seed in range(300):
        X, y, weight = noisy(seed, 2, 2)
        problems = SquaresOnRows(SquaresData(Rows(X, np.arange(2)), weight), "none").at(1.0)
        assert problems.rank == 1
        assert problems.solve(y, None, Stop(tol=1e-9), None).status is Status.CONVERGED


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scales_and_offsets_keep_the_certificate(penalty, offset):
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


def test_lasso_zeros_are_exact_and_optimality_conditions_hold():
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
def test_lasso_on_more_features_than_its_working_sets(container, dtype):
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


@pytest.mark.parametrize("penalty", PENALTIES.values())
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [1e4, 1e7, 1e8])
def test_offsets_of_the_estimator_keep_the_certificate(penalty, container, offset):
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


def test_certificate_covers_rounding_of_nearly_dense_sparse_features():
    """Such features are not moved."""
    for seed in range(15):
        X, y, weight = noisy(seed, 400)
        X[:, 1] += 1e5
        X[np.random.default_rng(seed).integers(0, 400, size=40), 1] = 0.0
        result = solved("ridge", sparse.csr_array(X), y, weight, 1.0, tol=1e-7)
        assert result.status is Status.CONVERGED
        assert result.gap >= 0.0


@pytest.mark.parametrize("C", [1e-12, 1e-7, 1e-4])
def test_small_cost_has_a_small_nonzero_solution(C):
    X, y, _ = noisy(15)
    ridge = LeastSquaresClassifier(C).fit(X, y)
    w, _, _ = ridge_in_extended_precision(X, y, np.full(len(y), C), True)
    np.testing.assert_allclose(ridge.coef_[0], w, rtol=1e-9)
    assert np.isfinite(ridge.dual_gap_)
    assert LeastSquaresClassifier(C, penalty=None).fit(X, y).coef_.all()


def test_lasso_is_zero_only_up_to_its_smallest_cost():
    X, y, _ = noisy(16)
    data = SquaresData(Rows(X, np.arange(len(y))), np.ones(len(y)))
    first = SquaresOnRows(data, "lasso").smallest_cost(y)
    for factor, n_features in [(0.999, 0), (1.001, 1)]:
        model = LeastSquaresClassifier(factor * first, penalty="lasso").fit(X, y)
        assert np.count_nonzero(model.coef_) == n_features
        assert model.status_ == "converged"


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


@pytest.mark.parametrize("penalty", PENALTIES)
def test_resumed_solver_is_bit_identical(penalty):
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


def test_bound_without_a_penalty_does_not_trust_the_solver():
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

"""The published budgeted method against a transcription of it, and its native loop against a twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.budget_problems import rbf
from support.incremental_steps import STOP, assert_same_steps, back_fit_twin, noisy, problem_of

from maxmargin import _native
from maxmargin.kernels import Precomputed
from maxmargin.losses import LOSSES
from maxmargin.methods.budget.incremental import CandidatePool, Expansion, incremental
from maxmargin.methods.budget.selectors import SELECTORS
from maxmargin.solving.result import State, Status


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("back_fit", [None, 5])
@pytest.mark.parametrize("selection", SELECTORS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_step_matches_the_published_algorithms(loss, selection, back_fit, n_columns):
    X, Y, weight = noisy(1, n_columns=n_columns)
    assert_same_steps(problem_of(X, Y, weight, loss, alpha=0.2), rbf(X, X), 12, selection, back_fit)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_columns_that_omit_samples(loss):
    X, Y, weight = noisy(2, n_columns=4, weighted=True, zeros=True)
    problem = problem_of(X, Y, weight, loss, alpha=0.2)
    result, expected = assert_same_steps(problem, rbf(X, X), 14, "loss-probabilistic", 6)
    assert len(set(expected[-1][2])) > 1  # columns have taken different numbers of steps
    np.testing.assert_array_equal(result.t, expected[-1][2])


@pytest.mark.parametrize("n_columns", [1, 3])
def test_equal_columns_take_the_steps_of_one_column(n_columns):
    X, Y, weight = noisy(3)
    one = incremental(problem_of(X, Y, weight), budget=10, back_fit=4, stop=STOP, seed=1)
    Y = np.repeat(Y, n_columns, axis=1)
    several = incremental(problem_of(X, Y, weight), budget=10, back_fit=4, stop=STOP, seed=1)
    np.testing.assert_array_equal(several.support, one.support)
    np.testing.assert_allclose(several.coef, np.repeat(one.coef, n_columns, axis=1), rtol=1e-12)


@settings(max_examples=60)
@given(
    loss=st.sampled_from(sorted(LOSSES)),
    shape=st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(1, 3)),
    t=st.sampled_from([1, 2, 7, 10**6]),
    scale=st.sampled_from([1.0, 0.3, 1.1e-6]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 10**6),
)
def test_back_fitting_equals_its_twin(loss, shape, t, scale, dtype, seed):
    n_drawn, n_support, n_columns = shape
    rng = np.random.default_rng(seed)
    K = rng.random((n_drawn, n_support)).astype(dtype)
    targets = rng.integers(-1, 2, (n_drawn, n_columns)).astype(float)
    a = np.zeros((n_columns, n_support + 3))
    a[:, :n_support] = rng.normal(size=(n_columns, n_support))
    state = State(a=a / scale, scale=np.full(n_columns, scale), t=np.full(n_columns, t))
    problem = problem_of(np.ones((1, 1)), targets, np.ones(n_drawn), loss, alpha=2.0)
    _native.back_fit(K, targets, problem, state, _native.NEVER)
    expected, steps = back_fit_twin(K, targets, loss, 2.0, a, np.full(n_columns, t))
    np.testing.assert_array_equal(state.t, steps)
    np.testing.assert_allclose(state.scale[:, None] * state.a, expected, rtol=1e-9, atol=1e-9)
    assert (state.scale >= 1e-6).all()


@given(t=st.sampled_from([1, 2, 1000]), scale=st.sampled_from([1.0, 1.0005e-6]), seed=st.integers(0, 1000))
def test_adding_a_support_vector_equals_its_twin(t, scale, seed):
    rng = np.random.default_rng(seed)
    a, u, y = rng.normal(size=(2, 5)), rng.normal(size=2), np.array([1.0, 0.0])
    a[:, 3] = 0.0
    state = State(a=a / scale, scale=np.full(2, scale), t=np.full(2, t))
    _native.add_support(3, y, u, problem_of(np.ones((1, 1)), y[None], np.ones(1), alpha=0.5), state)
    expected = a.copy()
    expected[0] *= 1 - 1 / t
    expected[0, 3] = u[0] / (0.5 * t)
    np.testing.assert_allclose(state.scale[:, None] * state.a, expected, rtol=1e-12)
    assert list(state.t) == [t + 1, t]


def test_arrays_of_the_wrong_shape_are_refused():
    problem = problem_of(np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
    state = State(a=np.zeros((1, 2)), scale=np.ones(1), t=np.ones(1, dtype=np.int64))
    with pytest.raises(ValueError, match="do not fit"):
        _native.back_fit(np.zeros((2, 3)), np.ones((2, 1)), problem, state, _native.NEVER)
    with pytest.raises(ValueError, match="do not fit"):
        _native.add_support(2, np.ones(1), np.ones(1), problem, state)


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("back_fit", [None, 5])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_fit_starts_from_points_that_are_not_rows(as_rows, back_fit, n_columns):
    X1, Y1, weight = noisy(14, n_columns=n_columns)
    first = incremental(problem_of(X1, Y1, weight), budget=6, back_fit=back_fit, stop=STOP)
    points = X1[first.support]
    X2, Y2, weight = noisy(15, n=60, n_columns=n_columns)
    start = Expansion(as_rows(points), first.coef, first.t)
    K = rbf(X2, np.concatenate([X2, points]))
    problem = problem_of(as_rows(X2), Y2, weight)
    result, expected = assert_same_steps(problem, K, 13, "loss-probabilistic", back_fit, start=start)
    assert list(result.support[:6]) == [-1] * 6
    np.testing.assert_allclose(result.coef, expected[-1][1], rtol=1e-8)
    assert result.history[-1].kernel_values == problem.kernel.n_values


def test_full_budget_of_given_points_leaves_back_fitting_only():
    X, Y, weight = noisy(16)
    points, coef = np.random.default_rng(1).normal(size=(5, 4)), np.linspace(-1.0, 1.0, 5)[:, None]
    start = Expansion(points, coef, 50)
    problem = problem_of(X, Y, weight)
    result = incremental(problem, budget=5, back_fit=30, stop=STOP, seed=3, start=start)
    assert (result.status, result.n_iter, result.t[0]) == (Status.BUDGET_FULL, 1, 80)
    drawn = CandidatePool(weight, []).repeated(np.random.default_rng([3, 50]), 30)
    expected, _ = back_fit_twin(rbf(X[drawn], points), Y[drawn], "hinge", 0.05, coef.T.copy(), np.array([50]))
    np.testing.assert_allclose(result.coef, expected.T, rtol=1e-9)
    unchanged = incremental(problem, budget=5, stop=STOP, start=start)
    np.testing.assert_array_equal(unchanged.coef, coef)


def test_points_of_a_precomputed_kernel_are_its_columns():
    X, Y, weight = noisy(18)
    columns = np.array([70, 3, 11])
    start = Expansion(columns, np.ones((3, 1)), 30)
    whole = problem_of(rbf(X, X), Y, weight, kernel=Precomputed())
    vectors = problem_of(X, Y, weight)
    by_number = incremental(whole, budget=9, back_fit=3, stop=STOP, start=start)
    by_value = incremental(
        vectors, budget=9, back_fit=3, stop=STOP, start=Expansion(X[columns], np.ones((3, 1)), 30)
    )
    np.testing.assert_allclose(by_number.coef, by_value.coef, rtol=1e-9)

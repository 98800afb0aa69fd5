"""The published budgeted method: its budget, its cost, how it ends, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budget_problems import rbf
from support.incremental_steps import STOP, noisy, problem_of

from maxmargin.kernels import RBF, Linear
from maxmargin.losses import LOSSES
from maxmargin.methods.budget.ending import MAX_EMPTY_DRAWS
from maxmargin.methods.budget.incremental import Expansion, incremental
from maxmargin.methods.budget.path import stated_budgets
from maxmargin.methods.budget.selectors import SELECTORS
from maxmargin.solving.result import Status, Stop


@settings(max_examples=40)
@given(
    n=st.integers(1, 40),
    budget=st.integers(1, 50),
    m=st.integers(1, 70),
    back_fit=st.sampled_from([None, 1, 7]),
    selection=st.sampled_from(sorted(SELECTORS)),
    loss=st.sampled_from(sorted(LOSSES)),
    n_columns=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_budget_is_never_exceeded(n, budget, m, back_fit, selection, loss, n_columns, seed):
    X, Y, weight = noisy(seed, n, n_columns=n_columns, weighted=seed % 2 == 0, zeros=seed % 3 == 0)
    problem = problem_of(X, Y, weight, loss)
    result = incremental(
        problem,
        budget=budget,
        selection=selection,
        back_fit=back_fit,
        n_candidates=m,
        stop=Stop(max_iter=60),
        seed=seed,
    )
    size = len(result.support)
    assert size <= min(budget, n)
    assert len(set(result.support)) == size
    assert result.coef.shape == (size, n_columns)
    assert np.isfinite(result.coef).all()
    assert (result.status is Status.BUDGET_FULL) == (size == budget)
    assert problem.kernel.n_values == result.history[-1].kernel_values
    assert set(result.path) - {size} <= set(stated_budgets(budget))
    assert all(point.coef.shape == (b, n_columns) for b, point in result.path.items())
    np.testing.assert_array_equal(result.path[size].coef, result.coef)


@pytest.mark.parametrize("T", [None, 9])
def test_kernel_values_are_counted(T):
    X, Y, weight = noisy(4, n=200)
    problem, B, m = problem_of(X, Y, weight, "log"), 40, 20
    result = incremental(problem, budget=B, back_fit=T, n_candidates=m, stop=STOP)
    assert result.status is Status.BUDGET_FULL
    assert result.n_iter == B  # the log loss is never 0
    expected = m * B * (B - 1) // 2 + (T or 0) * B * (B + 1) // 2
    assert result.history[-1].kernel_values == problem.kernel.n_values == expected
    assert [check.n_support for check in result.history] == [0, *stated_budgets(B)]
    assert all(check.dual == -np.inf for check in result.history)


def test_path_equals_fits_with_smaller_budgets():
    X, Y, weight = noisy(4, n=200)
    problem = problem_of(X, Y, weight, "log")
    result = incremental(problem, budget=40, back_fit=9, stop=STOP)
    assert list(result.path) == stated_budgets(40)
    for b in (1, 7, 16, 25):
        smaller = incremental(problem, budget=b, back_fit=9, stop=STOP)
        np.testing.assert_array_equal(smaller.support, result.support[:b])
        np.testing.assert_array_equal(smaller.coef, result.path[b].coef)


def test_primal_is_the_mean_loss_over_the_draw():
    X, Y, weight = noisy(5, n=30, n_columns=2, zeros=True)
    problem = problem_of(X, Y, weight, "squared", alpha=0.5)
    result = incremental(problem, budget=2, n_candidates=30, stop=STOP)
    assert result.history[0].primal == result.history[1].primal == 2 * 0.5  # before any step, f = 0
    left = np.setdiff1d(np.arange(30), result.support[:1])
    f = rbf(X[left], X[result.support[:1]]) @ result.path[1].coef
    mean = [0.5 * np.mean((Y[left, c] - f[:, c])[Y[left, c] != 0] ** 2) for c in range(2)]
    assert result.history[2].primal == pytest.approx(sum(mean))


@pytest.mark.parametrize("back_fit", [None, 3])
def test_budget_above_the_number_of_rows_ends_when_rows_run_out(back_fit):
    X, Y, weight = noisy(6, n=20)
    result = incremental(problem_of(X, Y, weight, "log"), budget=50, back_fit=back_fit, stop=STOP)
    assert result.status is Status.NO_LOSS_LEFT
    assert sorted(result.support) == list(range(20))


def test_several_draws_without_a_loss_end_the_fit():
    X = np.random.default_rng(0).normal(size=(200, 2))
    problem = problem_of(X, np.ones((200, 1)), np.ones(200), "hinge", 1e-3, RBF(gamma=1e-6))
    result = incremental(problem, budget=20, stop=STOP)  # f = 1000/t everywhere, after the first step
    assert result.status is Status.NO_LOSS_LEFT
    assert len(result.support) == 1
    assert result.n_iter == 1 + MAX_EMPTY_DRAWS
    assert result.coef[0, 0] == pytest.approx(1000.0 / (1 + MAX_EMPTY_DRAWS))
    nobody = problem_of(X, np.zeros((200, 1)), np.ones(200))
    result = incremental(nobody, budget=5, back_fit=3, stop=STOP)
    assert (result.status, len(result.support), result.n_iter) == (Status.NO_LOSS_LEFT, 0, MAX_EMPTY_DRAWS)


def test_max_iter_bounds_the_steps_of_growth():
    X, Y, weight = noisy(7)
    result = incremental(problem_of(X, Y, weight), budget=50, back_fit=5, stop=Stop(max_iter=7))
    assert result.status is Status.MAX_ITER
    assert result.n_iter == 7
    assert result.t[0] == 1 + 7 * 6


@pytest.mark.parametrize("alpha", [1e8, 1e-12])
@pytest.mark.parametrize("back_fit", [None, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_huge_and_tiny_alpha_stay_finite(loss, back_fit, alpha):
    X, Y, weight = noisy(8, n=100)
    problem = problem_of(X, Y, weight, loss, alpha)
    result = incremental(problem, budget=60, back_fit=back_fit, stop=STOP)
    assert np.isfinite(result.coef).all()
    assert all(np.isfinite(point.coef).all() for point in result.path.values())
    if alpha > 1.0 or loss in ("perceptron", "hinge", "log"):
        assert result.status in (Status.BUDGET_FULL, Status.NO_LOSS_LEFT)


def test_overflow_diverges_with_the_last_finite_coefficients():
    X, Y, weight = noisy(8, n=100)
    problem = problem_of(X, Y, weight, "squared", 1e-12)
    result = incremental(problem, budget=60, back_fit=5, stop=STOP)
    assert result.status is Status.DIVERGED
    assert 0 < len(result.support) < 60
    assert np.isfinite(result.coef).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be an integer >= 1; got 0"),
        ({"budget": 5, "n_candidates": 0}, "n_candidates must be an integer >= 1"),
        ({"budget": 5, "back_fit": -1}, "back_fit must be an integer >= 1"),
        ({"budget": 5, "selection": "best"}, "selection must be a selector or one of"),
        ({"budget": 2, "start": Expansion(np.ones((3, 4)), np.ones((3, 1)), 5)}, "more than the budget of 2"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, Y, weight = noisy(19)
    with pytest.raises(ValueError, match=message):
        incremental(problem_of(X, Y, weight, kernel=Linear()), stop=STOP, **options)

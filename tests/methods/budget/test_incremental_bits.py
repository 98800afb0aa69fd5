"""The published budgeted method gives the same bits resumed, with threads and with other inputs."""

import numpy as np
import pytest
from scipy import sparse
from support.budget_problems import rbf
from support.incremental_steps import STOP, noisy, problem_of

from maxmargin.kernels import RBF, FromFunction, Precomputed
from maxmargin.methods.budget.incremental import Expansion, incremental
from maxmargin.solving.result import Stop


@pytest.mark.parametrize("back_fit", [None, 6])
@pytest.mark.parametrize("selection", ["loss-probabilistic", "random"])
def test_resumed_solver_is_bit_identical(selection, back_fit):
    X, Y, weight = noisy(9, n=150, n_columns=2, weighted=True)
    problem, saved = problem_of(X, Y, weight), []
    options = {"budget": 30, "selection": selection, "back_fit": back_fit, "n_candidates": 10, "stop": STOP}
    whole = incremental(
        problem, **options, callback=lambda check, state: saved.append(state.copy()) and False
    )
    for k in (1, len(saved) // 2, len(saved) - 1):
        resumed = incremental(problem, **options, state=saved[k].copy())
        assert_same_bits(resumed, whole)
        assert resumed.n_iter == whole.n_iter
        assert resumed.history[0].n_iter == whole.history[k].n_iter
        assert [check.primal for check in resumed.history] == [check.primal for check in whole.history[k:]]
        assert resumed.history[-1].kernel_values == whole.history[-1].kernel_values


def test_solver_stopped_by_max_iter_resumes_bit_identically():
    X, Y, weight = noisy(9, n=150)
    problem, saved = problem_of(X, Y, weight), []
    whole = incremental(problem, budget=30, back_fit=4, stop=STOP)
    incremental(
        problem,
        budget=30,
        back_fit=4,
        stop=Stop(max_iter=21),
        callback=lambda check, state: saved.append(state.copy()) and False,
    )
    assert_same_bits(incremental(problem, budget=30, back_fit=4, stop=STOP, state=saved[-1]), whole)


def assert_same_bits(result, other):
    assert result.status is other.status
    np.testing.assert_array_equal(result.support, other.support)
    np.testing.assert_array_equal(result.coef, other.coef)
    assert list(result.path) == list(other.path)
    for b, point in result.path.items():
        np.testing.assert_array_equal(point.coef, other.path[b].coef)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_bit(dtype):
    X, Y, weight = noisy(10, n=4000, d=8, n_columns=2, dtype=dtype)
    results = [
        incremental(
            problem_of(X, Y, weight, n_threads=n_threads),
            budget=24,
            back_fit=1000,
            n_candidates=500,
            stop=STOP,
        )
        for n_threads in (1, 2, 4)
    ]
    for other in results[1:]:
        assert_same_bits(other, results[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_agree(dtype):
    X, Y, weight = noisy(11, d=12, dtype=dtype)
    X[np.abs(X) < 0.8] = 0.0
    dense, thin = (
        incremental(problem_of(rows, Y, weight, "log"), budget=15, back_fit=8, stop=STOP)
        for rows in (X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(thin.support, dense.support)
    tolerance = 1e-3 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(thin.coef, dense.coef, rtol=tolerance, atol=tolerance)


def test_blocks_of_back_fitting_change_only_memory(monkeypatch):
    X, Y, weight = noisy(12)
    whole = incremental(problem_of(X, Y, weight), budget=10, back_fit=50, stop=STOP)
    monkeypatch.setattr("maxmargin.methods.budget.incremental.KERNEL_VALUES_PER_BLOCK", 64)
    blocks = incremental(problem_of(X, Y, weight), budget=10, back_fit=50, stop=STOP)
    np.testing.assert_allclose(blocks.coef, whole.coef, rtol=1e-10)


def test_all_kinds_of_kernel_give_the_same_fit():
    X, Y, weight = noisy(13)
    results = [
        incremental(problem_of(data, Y, weight, kernel=kernel), budget=12, back_fit=4, stop=STOP)
        for data, kernel in ((X, RBF(gamma=0.3)), (rbf(X, X), Precomputed()), (X, FromFunction(rbf)))
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.support, results[0].support)
        np.testing.assert_allclose(other.coef, results[0].coef, rtol=1e-9)


def test_resumed_stream_is_bit_identical():
    X, Y, weight = noisy(17)
    saved = []
    start = Expansion(X[:4] + 0.1, np.ones((4, 1)), 20)
    options = {"budget": 14, "back_fit": 5, "stop": STOP, "start": start}
    whole = incremental(
        problem_of(X, Y, weight), **options, callback=lambda c, s: saved.append(s.copy()) and False
    )
    assert_same_bits(incremental(problem_of(X, Y, weight), **options, state=saved[5]), whole)

"""The working-set solver resumed, started from other coefficients, stopped early, and with threads."""

import numpy as np
import pytest
from support.reference import kernel_svm_bounds, kernel_svm_dual
from support.svm_problems import HALF, LOSSES, UNLIMITED, assert_solved, naive, noisy, problem_of

from maxmargin.kernels import RBF, Precomputed
from maxmargin.methods.kernel_svm import working_set
from maxmargin.methods.kernel_svm.solve import working_sets
from maxmargin.methods.kernel_svm.working_set import start
from maxmargin.solving.result import Status, Stop


@pytest.mark.parametrize(("cache_bytes", "d"), [(30_000, 3), (UNLIMITED, 3), (UNLIMITED, 60)])
@pytest.mark.parametrize("loss", LOSSES)
def test_resumed_solver_is_bit_identical(small_steps, monkeypatch, loss, cache_bytes, d):
    monkeypatch.setattr(working_set, "SETTLED_MARGIN", 0.05)  # so that samples are set aside too early
    monkeypatch.setattr(working_set, "MAX_LOOKS_PER_CERTIFICATE", 0)  # a certificate after every look at them
    X, y, weight = noisy(9, n=200, noise=0.3)
    X = X @ np.linalg.qr(np.random.default_rng(0).normal(size=(d, 3)))[0].T  # the same distances
    problem = problem_of(X, y, 3.0 * weight, loss)
    stop, states = Stop(tol=1e-5, max_iter=20_000), []
    whole = working_sets(
        problem,
        stop=stop,
        cache_bytes=cache_bytes,
        callback=lambda check, state: states.append((check, state.copy())),
    )
    assert whole.status is Status.CONVERGED
    assert small_steps["_grow"] >= 2
    assert small_steps["_shrink"] >= 1
    assert len(states) >= 3
    for check, state in states:
        rest = working_sets(problem, stop=stop, cache_bytes=cache_bytes, state=state)
        assert rest.history[0].primal == check.primal
        np.testing.assert_array_equal(rest.coef, whole.coef)
        assert rest.intercept == whole.intercept
        assert rest.n_iter == whole.n_iter


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "dtype", "tol"), [(300, np.float64, 1e-6), (1300, np.float32, 1e-3)])
@pytest.mark.parametrize("held", [True, False])
def test_small_problem_shortcut_reaches_the_same_solution(monkeypatch, loss, n, dtype, tol, held):
    """Few samples, all rows in memory: computed by the core, or asked for where the matrix is given."""
    X, y, weight = noisy(n, n=n, noise=0.3)
    X = X.astype(dtype)
    kernel, rows = (Precomputed(), naive(HALF, X).astype(dtype)) if held else (HALF, X)
    problems = [problem_of(rows, y, 3.0 * weight, loss, kernel, n_threads) for n_threads in (1, 2, 4)]
    monkeypatch.setattr(working_set.WorkingSets, "step", None)
    stop, states = Stop(tol=tol, max_iter=2000), []
    one, two, four = (
        working_sets(
            problem,
            stop=stop,
            cache_bytes=2 * n * n * np.dtype(dtype).itemsize,
            callback=lambda check, state: states.append(state.copy()),
        )
        for problem in problems
    )
    monkeypatch.undo()
    for other in (two, four, working_sets(problems[0], stop=stop, cache_bytes=UNLIMITED, state=states[0])):
        np.testing.assert_array_equal(other.coef, one.coef)
        assert other.intercept == one.intercept
    assert 0.0 <= one.history[-1].hit_rate < 1.0
    assert np.count_nonzero(one.coef) * n <= one.history[-1].kernel_values <= n * n
    monkeypatch.setattr(working_set, "MAX_SMALL_SAMPLES", 0)
    other = working_sets(problems[0], stop=stop, cache_bytes=UNLIMITED)
    assert other.status is one.status is Status.CONVERGED
    assert one.history[-1].dual <= other.objective * (1 + 1e-12)
    assert other.history[-1].dual <= one.objective * (1 + 1e-12)
    if n <= working_set.MAX_POLISHED_SAMPLES:
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_no_bit(small_steps, loss):
    X, y, weight = noisy(9, n=300)
    coefs = [
        working_sets(
            problem_of(X, y, 3.0 * weight, loss, n_threads=n_threads),
            stop=Stop(tol=1e-5, max_iter=20_000),
            cache_bytes=30_000,
        ).coef
        for n_threads in (1, 2, 4)
    ]
    np.testing.assert_array_equal(coefs[1], coefs[0])
    np.testing.assert_array_equal(coefs[2], coefs[0])


@pytest.mark.parametrize("loss", LOSSES)
def test_start_from_other_coefficients(small_steps, loss):
    """From those of another C, and from nonsense: the same optimum, sooner where they are good."""
    X, y, weight = noisy(4, n=200)
    stop = Stop(tol=1e-5, max_iter=20_000)
    near = working_sets(problem_of(X, y, 1.0 * weight, loss), stop=stop, cache_bytes=UNLIMITED)
    problem = problem_of(X, y, 1.1 * weight, loss)
    cold = working_sets(problem, stop=stop, cache_bytes=UNLIMITED)
    for a in (near.coef, cold.coef, np.random.default_rng(0).normal(size=200) * 100.0, -near.coef):
        result = working_sets(
            problem, stop=stop, cache_bytes=UNLIMITED, state=start(problem, stop.tol, True, a)
        )
        assert_solved(problem, result, 1e-5)
        assert result.objective == pytest.approx(cold.objective, rel=2e-5)
        if a is near.coef:
            assert result.n_iter < cold.n_iter
        if a is cold.coef:
            assert result.n_iter <= 2


@pytest.mark.parametrize("max_iter", [1, 2, 5, 9, 14])
def test_certificate_holds_after_any_number_of_iterations(small_steps, max_iter):
    X, y, weight = noisy(2, n=250)
    for loss in LOSSES:
        problem = problem_of(X, y, 2.0 * weight, loss)
        result = working_sets(problem, stop=Stop(tol=1e-12, max_iter=max_iter), cache_bytes=UNLIMITED)
        assert result.status is Status.MAX_ITER
        K = naive(RBF(0.5), X)
        primal, dual = kernel_svm_bounds(result.coef, result.intercept, K, y, problem.cost, loss)
        assert result.objective == pytest.approx(primal, rel=1e-11)
        assert result.history[-1].dual == pytest.approx(dual, rel=1e-9)
        _, best = kernel_svm_dual(K, y, problem.cost, loss)
        assert dual <= best * (1 + 1e-7) <= primal * (1 + 1e-6)

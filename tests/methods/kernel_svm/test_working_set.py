"""The working-set solver against a QP referee, on all its ways through the samples."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.reference import kernel_svm_bounds, kernel_svm_dual
from support.svm_problems import LOSSES, UNLIMITED, assert_solved, naive, noisy, problem_of, rounding

from maxmargin.kernels import RBF, Linear, Polynomial, Sigmoid
from maxmargin.methods.kernel_svm import working_set
from maxmargin.methods.kernel_svm.polish import polish
from maxmargin.methods.kernel_svm.solve import working_sets
from maxmargin.solving.deadline import Deadline
from maxmargin.solving.result import Status, Stop


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 5),
    log_C=st.floats(-6, 6),
    log_scale=st.floats(-8, 8),
    kernel=st.sampled_from(["rbf", "linear", "polynomial"]),
    loss=st.sampled_from(LOSSES),
    form=st.sampled_from(["plain", "duplicates", "one of a class", "far weights"]),
    shrinking=st.booleans(),
    cache_bytes=st.sampled_from([1, 2000, UNLIMITED]),
)
@example(1, 2, 4, 6.0, 0.0, "polynomial", "hinge", "plain", False, 1)
@example(3, 20, 1, 6.0, 0.0, "linear", "hinge", "duplicates", False, 1)
@example(143209, 28, 3, 5.0, 0.0, "linear", "hinge", "far weights", False, 1)
def test_solution_matches_the_referee(
    seed, n, d, log_C, log_scale, kernel, loss, form, shrinking, cache_bytes
):
    X, y, weight = noisy(seed, n, d)
    rng = np.random.default_rng(seed)
    if form == "duplicates":
        again = rng.integers(0, n, size=n)
        X, weight = X[again], np.round(weight) + 1.0
    if form == "one of a class":
        y[1:] = -y[0]
    if form == "far weights":
        weight = 10.0 ** rng.uniform(-3, 3, size=n)
    scale, C = 10.0**log_scale, 10.0**log_C
    if kernel == "rbf":
        kernel = RBF(0.7 / scale**2)
    elif kernel == "linear":  # rows s x and costs c / s^2 divide w by s and the objective by s^2
        kernel, C = Linear(), C / scale**2
    else:
        kernel = Polynomial(degree=2, gamma=1.0 / scale**2, coef0=1.0)
    problem = problem_of(X * scale, y, C * weight, loss, kernel)
    result = working_sets(
        problem, stop=Stop(tol=1e-7, max_iter=3000), cache_bytes=cache_bytes, shrinking=shrinking
    )
    primal = assert_solved(problem, result, 1e-7)
    K, factor = naive(kernel, problem.kernel.X), 1.0
    if isinstance(kernel, Linear):
        K, factor = K / scale**2, scale**2
    referee = kernel_svm_dual(K, y, problem.cost * factor, loss)
    if referee is None:  # its tolerance is beyond rounding
        assert C * factor >= 1e3 or form == "far weights"
    else:
        slack = rounding(problem, result.coef) * problem.cost.sum() / primal
        assert primal * factor == pytest.approx(referee[1], rel=1e-6 + slack)


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("cache_bytes", [1, 2_000, 20_000, UNLIMITED])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 5.0])
def test_cache_and_shrinking_do_not_change_the_optimum(small_steps, C, loss, cache_bytes, shrinking):
    X, y, weight = noisy(3, n=150)
    problem = problem_of(X, y, C * weight, loss)
    stop = Stop(tol=1e-4, max_iter=30_000)
    result = working_sets(problem, stop=stop, cache_bytes=cache_bytes, shrinking=shrinking)
    primal = assert_solved(problem, result, 1e-4)
    exact = polish(problem, result.coef, lambda: False)[0]
    g = y - naive(RBF(0.5), X) @ exact - problem.ridge * exact
    _, dual = kernel_svm_bounds(
        exact, problem.intercept(slice(None), exact, g), naive(RBF(0.5), X), y, problem.cost, loss
    )
    assert primal == pytest.approx(dual, rel=1e-4)
    assert primal >= dual * (1 - 1e-12)
    if shrinking:
        assert small_steps["_grow"] >= 2
        if cache_bytes == UNLIMITED and C > 0.5 and loss == "hinge":
            assert small_steps["_shrink"] >= 1
    else:
        assert small_steps["_grow"] == small_steps["_shrink"] == 0


def test_samples_shrunk_too_early_return(small_steps, monkeypatch):
    monkeypatch.setattr(working_set, "SETTLED_MARGIN", -0.5)  # settled is who violates, too
    X, y, weight = noisy(5, n=200)
    problem = problem_of(X, y, 5.0 * weight)
    result = working_sets(problem, stop=Stop(tol=1e-5, max_iter=5000), cache_bytes=UNLIMITED)
    assert small_steps["_choose"] >= 2
    if result.status is Status.CONVERGED:
        assert_solved(problem, result, 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("polished", [0, 1000])
def test_small_steps_and_the_polish_agree_on_many_problems(small_steps, monkeypatch, loss, polished):
    """A polish sets the gradients of all samples, those set aside included."""
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", polished)
    for seed in range(8):
        X, y, weight = noisy(seed, n=90, noise=0.3 * (seed % 3))
        problem = problem_of(X, y, 10.0 ** (seed - 3) * weight, loss)
        for tol in (1e-2, 1e-5):
            result = working_sets(problem, stop=Stop(tol=tol, max_iter=20_000), cache_bytes=UNLIMITED)
            assert_solved(problem, result, tol)


@pytest.mark.parametrize("n", [60, 1200, 7000])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_samples_at_a_bound(n, loss):
    """With a tiny C and as many of either class everybody is settled, and nobody is left to work on."""
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    problem = problem_of(X, y, np.full(n, 1e-6), loss)
    result = working_sets(problem, stop=Stop(tol=1e-6, max_iter=500), cache_bytes=UNLIMITED)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(n * 1e-6 * (1.0 if loss == "hinge" else 0.5), rel=1e-2)
    if loss == "hinge":
        assert (np.abs(result.coef) == 1e-6).all()


@pytest.mark.parametrize("cache_bytes", [1, 2000, UNLIMITED])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 5e-3])
def test_active_set_can_become_empty(monkeypatch, C, cache_bytes):
    """Close together and cheap: everybody ends at a bound, beyond the slack, and is set aside."""
    for name, value in {
        "N_INITIAL_ROWS": 8,
        "MIN_BLOCK_SIZE": 4,
        "MAX_BLOCK_SIZE": 12,
        "MAX_POLISHED_SAMPLES": 0,
        "MAX_SMALL_SAMPLES": 4,
    }.items():
        monkeypatch.setattr(working_set, name, value, raising=False)
    n_active = []
    for n in (8, 32, 40):
        X, y = 0.1 * noisy(n, n)[0], np.where(np.arange(n) % 2, 1.0, -1.0)
        problem = problem_of(X, y, np.full(n, C))
        result = working_sets(
            problem,
            stop=Stop(tol=1e-6, max_iter=500),
            cache_bytes=cache_bytes,
            callback=lambda check, state: n_active.append(len(state.active)),
        )
        assert_solved(problem, result, 1e-6)
    assert min(n_active) == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cache_bytes", [1, 2000, UNLIMITED])
@pytest.mark.parametrize(("d", "C"), [(1, 1e6), (2, 1e5), (4, 1e5)])
def test_problems_hard_for_smo_are_polished(loss, cache_bytes, d, C):
    X, y, weight = noisy(0, 50, d)
    problem = problem_of(X, y, C * weight, loss, Linear())
    result = working_sets(problem, stop=Stop(tol=1e-6, max_iter=300), cache_bytes=cache_bytes)
    assert_solved(problem, result, 1e-6)


@pytest.mark.parametrize("n", [3, 9])
@pytest.mark.parametrize("loss", LOSSES)
def test_intercept_minimises_the_gap(n, loss):
    """Against a fine search, for coefficients of any quality and where no sample is free."""
    for seed in range(25):
        X, y, cost = noisy(seed, n=n)
        rng = np.random.default_rng(seed)
        problem = problem_of(X, y, cost, loss)
        a = working_set.balanced(problem, rng.choice([0.0, 0.5, 1.0], size=n) * cost * y)
        g = y - naive(RBF(0.5), X) @ a - problem.ridge * a
        b = problem.intercept(slice(None), a, g)
        gap = problem.gap(slice(None), a, g, b)
        others = np.concatenate([np.linspace(-4.0, 4.0, 801), problem.residuals(slice(None), a, g)])
        best = min(problem.gap(slice(None), a, g, other) for other in others)
        assert gap <= best + 1e-12
        assert gap >= best - 1e-2


def test_intercept_is_the_midpoint_of_optimal_intercepts():
    """Two samples at their bounds: every b between their residuals loses the same."""
    problem = problem_of(np.zeros((2, 1)), np.array([1.0, -1.0]), np.array([0.1, 0.1]))
    a = np.array([0.1, -0.1])
    assert problem.intercept(slice(None), a, np.array([0.9, -0.5])) == pytest.approx(0.2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("polished", [0, 1000])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_indefinite_kernel_ends_finite(monkeypatch, loss, polished, C):
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", polished)
    X, y, weight = noisy(1, n=120)
    problem = problem_of(X, y, C * weight, loss, Sigmoid(gamma=1.0, coef0=-1.0))
    result = working_sets(
        problem, stop=Stop(tol=1e-3, max_iter=300, deadline=Deadline(2.0)), cache_bytes=UNLIMITED
    )
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.intercept)
    assert np.isfinite(result.objective)
    assert result.gap == np.inf  # no bound holds
    assert result.status is not Status.CONVERGED

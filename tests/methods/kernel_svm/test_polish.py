"""The exact method for small problems, in NumPy and in the core."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reference import kernel_svm_bounds
from support.svm_problems import LOSSES, UNLIMITED, assert_solved, naive, noisy, problem_of, rounding

from maxmargin import _native
from maxmargin.kernels import RBF, Linear, Precomputed
from maxmargin.methods.kernel_svm import working_set
from maxmargin.methods.kernel_svm.polish import polish
from maxmargin.methods.kernel_svm.solve import working_sets
from maxmargin.solving.result import Stop


def singular(case):
    X, y, weight = noisy(0, n=80, d=3)
    if case == "few features":
        return X, y, weight, Linear()
    if case == "duplicates":
        return X[np.arange(80) % 11], y, weight, RBF(1.0)
    if case == "constant kernel":
        return np.ones((80, 80)), y, weight, Precomputed()
    if case == "no kernel at all":
        return np.zeros((80, 80)), y, weight, Precomputed()
    if case == "one of a class":
        return X, np.where(np.arange(80) == 7, 1.0, -1.0), weight, RBF(1.0)
    if case == "two samples":
        return X[:2], y[:2], weight[:2], RBF(1.0)
    return X, y, weight, RBF(1e-5)  # nearly singular


@pytest.mark.parametrize(
    "case",
    [
        "few features",
        "duplicates",
        "constant kernel",
        "no kernel at all",
        "one of a class",
        "two samples",
        "smooth",
    ],
)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 100.0])
def test_small_problems_are_solved_to_machine_precision(case, loss, C):
    X, y, weight, kernel = singular(case)
    problem = problem_of(X, y, C * weight, loss, kernel)
    result = working_sets(problem, stop=Stop(tol=1e-3), cache_bytes=UNLIMITED)
    assert_solved(problem, result, 1e-13)
    assert result.gap <= 1e-13 + rounding(problem, result.coef) * problem.cost.sum() / result.objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_polish_needs_neither_a_good_start_nor_a_scale(loss, scale):
    X, y, weight = noisy(0, n=40)
    problem = problem_of(scale * X, y, weight / scale**2, loss, Linear())
    a = polish(problem, np.zeros(40), lambda: False)[0]
    g = y - naive(Linear(), scale * X) @ a - problem.ridge * a
    gap = problem.gap(slice(None), a, g, problem.intercept(slice(None), a, g))
    assert gap <= 1e-14 * problem.cost.sum()


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 50), log_C=st.floats(-4, 4), loss=st.sampled_from(LOSSES))
def test_polish_never_increases_the_gap(seed, n, log_C, loss):
    X, y, weight = noisy(seed, n)
    problem = problem_of(X, y, 10.0**log_C * weight, loss)
    rng = np.random.default_rng(seed)
    a = working_set.balanced(problem, rng.uniform(0, 1, size=n) * np.minimum(problem.cost, 10.0) * y)
    K = naive(RBF(0.5), X)

    def gap(a):
        g = y - K @ a - problem.ridge * a
        return problem.gap(slice(None), a, g, problem.intercept(slice(None), a, g))

    for late in (lambda: True, lambda: False):
        better = polish(problem, a, late)[0]
        kernel_svm_bounds(better, 0.0, K, y, problem.cost, loss)  # feasible
        assert gap(better) <= gap(a) * (1 + 1e-12)
    assert gap(better) <= 1e-9 * problem.cost.sum()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 50),
    log_C=st.floats(-4, 4),
    loss=st.sampled_from(LOSSES),
    single=st.booleans(),
)
def test_native_polish_equals_the_reference(seed, n, log_C, loss, single):
    X, y, weight = noisy(seed, n)
    problem = problem_of(X.astype(np.float32) if single else X, y, 10.0**log_C * weight, loss)
    rng = np.random.default_rng(seed)
    a = working_set.balanced(problem, rng.uniform(0, 1, size=n) * np.minimum(problem.cost, 10.0) * y)
    everyone, known = np.arange(n), (rng.random(n) < 0.5).astype(np.uint8)
    rows, asked = problem.kernel.between(everyone, everyone), []
    kept = rows.copy()
    rows[known == 0] = np.nan

    def fetch(which):
        asked.extend(which.tolist())
        rows[which] = kept[which]
        known[which] = 1
        return which

    expected, gradient = polish(problem, a, lambda: False)
    found, g = a.copy(), y.copy()
    fixed = (problem.lower, problem.upper, y, problem.cost, problem.squared)
    solved = _native.svm_polish(rows, known, found, g, *fixed, 60.0, fetch, _native.NEVER)
    assert len(set(asked)) == len(asked)
    if not solved:  # it has met a flat face, and has touched nothing
        np.testing.assert_array_equal(found, a)
        np.testing.assert_array_equal(g, y)
        return
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(g, gradient, atol=1e-9 * scale)
    np.testing.assert_allclose(g, y - kept.astype(float) @ found - problem.ridge * found, atol=1e-11 * scale)
    gaps = [
        problem.gap(slice(None), c, r, problem.intercept(slice(None), c, r))
        for c, r in ((found, g), (expected, gradient))
    ]
    assert gaps[0] <= gaps[1] + 1e-12 * problem.cost.sum()
    assert ((problem.lower <= found) & (found <= problem.upper)).all()


def test_native_polish_leaves_flat_faces_alone():
    problem = problem_of(np.ones((6, 2)), np.array([1.0, -1.0] * 3), np.ones(6))
    a, g = 0.25 * problem.y, problem.y.copy()
    known, rows = np.ones(6, dtype=np.uint8), np.ones((6, 6))
    fixed = (problem.lower, problem.upper, problem.y, problem.cost, False)
    assert not _native.svm_polish(rows, known, a, g, *fixed, 60.0, lambda which: which, _native.NEVER)
    np.testing.assert_array_equal(a, 0.25 * problem.y)


@pytest.mark.parametrize("n", [700, 1000])
def test_polish_of_a_shrunk_problem(n):
    """Between two blocks and the limit of the polish, samples have been set aside when it begins."""
    X, y, weight = noisy(n, n=n, noise=0.2)
    problem = problem_of(X, y, 10.0 * weight)
    result = working_sets(problem, stop=Stop(tol=1e-3), cache_bytes=UNLIMITED)
    assert_solved(problem, result, 1e-10)

"""The solver of the L1 SVM against HiGHS on the textbook program: whole, generated, joint, with kernels."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_wine
from support.exact_program import largest_sum
from support.hinge_programs import SETTINGS, check_against_referee, problems
from support.linear_programs import made, raw, standardised

from maxmargin import LinearProgramSVC
from maxmargin.kernels import RBF, Polynomial
from maxmargin.kernels.data import KernelData
from maxmargin.methods.linear_program import generation
from maxmargin.methods.linear_program.features import KernelColumns
from maxmargin.methods.linear_program.generation import generate
from maxmargin.methods.linear_program.master import HingeMaster
from maxmargin.methods.linear_program.program import HingeProgram, TwoClasses, WrongClasses
from maxmargin.solving.result import Stop


@SETTINGS
@given(problem=problems(), penalised=st.booleans(), intercept=st.booleans())
def test_whole_program_equals_the_referee(problem, penalised, intercept):
    X, y, cost = problem
    result = generate(HingeProgram(raw(X), TwoClasses(y), cost, penalised, intercept), stop=Stop(tol=1e-9))
    check_against_referee(result, X, y, cost, penalised=penalised, intercept=intercept)


@SETTINGS
@given(problem=problems(), penalised=st.booleans(), intercept=st.booleans())
def test_generated_program_equals_the_referee(generated, problem, penalised, intercept):
    X, y, cost = problem
    result = generate(HingeProgram(raw(X), TwoClasses(y), cost, penalised, intercept), stop=Stop(tol=1e-9))
    check_against_referee(result, X, y, cost, penalised=penalised, intercept=intercept)


@SETTINGS
@given(problem=problems(joint=True), penalised=st.booleans(), intercept=st.booleans(), whole=st.booleans())
def test_joint_program_equals_the_referee(monkeypatch, problem, penalised, intercept, whole):
    X, labels, cost = problem
    monkeypatch.setattr(generation, "MAX_WHOLE_PROGRAM_ENTRIES", 200_000 if whole else 0)
    monkeypatch.setattr(generation, "FIRST_COEFFICIENTS", 3)
    monkeypatch.setattr(generation, "MIN_START_SAMPLE", 3)
    program = HingeProgram(raw(X), WrongClasses(labels, 3), cost, penalised, intercept)
    result = generate(program, stop=Stop(tol=1e-9))
    check_against_referee(result, X, labels, cost, 3, penalised=penalised, intercept=intercept)
    np.testing.assert_allclose(result.intercepts.sum(), 0.0, atol=1e-9 * (1 + abs(result.intercepts).max()))


@SETTINGS
@given(problem=problems(), gamma=st.floats(0.01, 3.0), whole=st.booleans())
def test_kernel_columns_equal_the_referee(monkeypatch, problem, gamma, whole):
    X, y, cost = problem
    monkeypatch.setattr(generation, "MAX_WHOLE_PROGRAM_ENTRIES", 200_000 if whole else 0)
    monkeypatch.setattr(generation, "FIRST_COEFFICIENTS", 3)
    monkeypatch.setattr(generation, "MIN_START_SAMPLE", 3)
    kernel = RBF(gamma=gamma)
    program = HingeProgram(KernelColumns(KernelData(kernel, X, np.arange(len(X)))), TwoClasses(y), cost)
    check_against_referee(generate(program, stop=Stop(tol=1e-9)), kernel(X, X), y, cost)


@pytest.mark.parametrize("shape", [(6000, 60), (200, 1200)], ids=["many rows", "many features"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_generated_and_whole_programs_have_the_same_optimum(monkeypatch, shape, container):
    X, y = made(*shape)
    X = container(np.where(np.abs(X) > 0.3, X, 0.0))
    model = LinearProgramSVC(C=20.0 / len(y), tol=1e-9).fit(X, y)
    monkeypatch.setattr(generation, "MAX_WHOLE_PROGRAM_ENTRIES", 10**9)
    whole = LinearProgramSVC(C=20.0 / len(y), tol=1e-9).fit(X, y)
    assert whole.n_iter_ == 1 < model.n_iter_
    assert model.status_ == whole.status_ == "converged"
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-8)
    assert model.n_nonzero_ == np.count_nonzero(model.coef_) < min(len(y), X.shape[1])  # zeros are exact


@pytest.mark.parametrize("n_failures", [1, 2, 3])
def test_failures_of_highs_are_retried(monkeypatch, n_failures):
    """It gave up on rbf columns with tiny entries ("excessive dual values"): other options solve them."""
    X, y = standardised(load_wine)
    expected = LinearProgramSVC(C=1.0, multi_class="joint").fit(X, y)
    run, calls = HingeMaster._run, itertools.count()
    monkeypatch.setattr(
        HingeMaster, "_run", lambda self, deadline: next(calls) >= n_failures and run(self, deadline)
    )
    model = LinearProgramSVC(C=1.0, multi_class="joint").fit(X, y)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert next(calls) == n_failures + 1


def test_infeasible_restrictions_are_widened(monkeypatch):
    """Too many pairs held at their cost leave no multipliers: more and more of them are let go."""
    monkeypatch.setattr(generation, "MAX_WHOLE_PROGRAM_ENTRIES", 0)
    monkeypatch.setattr(generation, "START_PAIR_SHARE", 0.01)
    X, y = made(8000, 10, noise=3.0)
    model = LinearProgramSVC(C=0.01, tol=1e-9).fit(X, y)
    monkeypatch.setattr(generation, "MAX_WHOLE_PROGRAM_ENTRIES", 10**9)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(
        LinearProgramSVC(C=0.01, tol=1e-9).fit(X, y).objective_, rel=1e-9
    )


@SETTINGS
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 5), near=st.booleans())
def test_balanced_multipliers_are_a_circulation_and_never_larger(seed, n_classes, near):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, size=30)
    pairs = WrongClasses(labels, n_classes)
    pi = np.where(pairs.exists(), rng.exponential(size=(30, n_classes)), 0.0)
    if near:  # a circulation but for rounding is hardly changed
        pi = pairs.balanced(pi)
        pi *= 1.0 + 1e-12 * rng.normal(size=pi.shape)
    balanced = pairs.balanced(pi)
    assert (balanced <= pi).all()
    assert (balanced >= 0.0).all()
    assert np.abs(pairs.spread(balanced).sum(axis=0)).max() <= 1e-12 * pi.sum()
    if near:
        assert balanced.sum() >= pi.sum() * (1 - 1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_programs_in_integers_have_the_optimum_of_highs(seed):
    """The referee of certificates where rounding matters; with limits of 0, which make it degenerate."""
    rng = np.random.default_rng(seed)
    A, costs, balance = rng.normal(size=(6, 9)), rng.random(9), rng.choice([-1, 1], 9)
    rows, limits = np.vstack([A, -A, balance, -balance]), [1.0] * 12 + [0.0] * 2
    found = linprog(-np.ones(9), rows, limits, bounds=[(0.0, cost) for cost in costs])
    assert float(largest_sum(rows, limits, costs)) == pytest.approx(-found.fun, rel=1e-9, abs=1e-12)


def test_programs_in_integers_see_the_last_digits():
    """max x + y with |x - (1 + t) y| <= t / 2 and x, y <= 1, t = 2^-200: below 2, which it is in double."""
    tiny = Fraction(1, 2**200)
    rows = [[1, -1 - tiny], [-1, 1 + tiny]]
    assert largest_sum(rows, [tiny / 2, tiny / 2], [1.0, 1.0]) == Fraction(2) - (tiny / 2) / (1 + tiny)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [Polynomial(degree=3, coef0=1.0), RBF(gamma=0.5)], ids=str)
def test_kernel_columns_that_are_not_parallel_keep_a_small_gap(kernel, intercept, tol):
    """A bound that allows for parallel columns is still one: where there are none, it is nearly attained."""
    X, y = made(60, 3, 2)
    model = LinearProgramSVC(C=1.0, kernel=kernel, fit_intercept=intercept, tol=tol).fit(X, y)
    assert model.status_ == "converged"
    assert 0.0 <= model.dual_gap_ <= tol

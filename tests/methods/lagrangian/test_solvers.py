"""The solvers of the Lagrangian SVM against the textbook program, and resumed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from support.lagrangian_problems import SOLVERS, dot, noisy, rbf, standardised, systems
from support.properties import examples
from support.reference import lagrangian_dual, lagrangian_primal, svm_objective, svm_primal

from maxmargin import LagrangianSVC
from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map.features import find_eigen_features
from maxmargin.methods.lagrangian import iteration as lagrangian
from maxmargin.methods.lagrangian.iteration import lagrangian as iterate
from maxmargin.methods.lagrangian.newton import kernel_newton as solve_by_newton
from maxmargin.methods.lagrangian.newton import start as begun_at
from maxmargin.methods.lagrangian.problem import LagrangianProblem
from maxmargin.methods.lagrangian.systems import KernelSystem
from maxmargin.solving.result import Status, Stop


@pytest.mark.parametrize("which", ["linear", "kernel", "eigen"])
@examples(60, 200)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 40),
    d=st.integers(1, 6),
    exponent=st.floats(-4.0, 4.0),
)
def test_optimum_equals_the_textbook_program(which, seed, n, d, exponent):
    X, y, cost = noisy(seed, n, d, 10.0**exponent)
    kernel = {"linear": "linear", "kernel": RBF(0.3), "eigen": RBF(0.3)}[which]
    model = LagrangianSVC(
        10.0**exponent,
        kernel=kernel,
        n_components=min(n, 7) if which == "eigen" else "auto",
        tol=1e-9,
        random_state=0,
    ).fit(X, y, cost / 10.0**exponent)
    K = X @ X.T if which == "linear" else rbf(X, X)
    if which == "eigen":  # the features of the rows, from the fitted expansion's landmarks
        found = find_eigen_features(
            KernelData(RBF(0.3), X, np.arange(n)), min(n, 7), rng=np.random.default_rng(1), weight=cost
        )
        K = found.features @ found.features.T
    a, best = lagrangian_dual(K, y, cost)
    assert model.space_ == which
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert lagrangian_primal(y * a, K, y, cost) >= model.objective_ * (1 - 1e-8)
    if which == "linear":
        w, b = model.coef_[0], model.intercept_[0]
        ours = svm_objective(w, b, X, y, cost, "squared-hinge", "penalised")
        assert ours == pytest.approx(model.objective_, rel=1e-9)
    elif which == "kernel":
        u = np.zeros(n)
        u[model.support_] = model.dual_coef_[0]
        assert lagrangian_primal(u, K, y, cost) == pytest.approx(model.objective_, rel=1e-9)
        assert model.intercept_[0] == pytest.approx(u.sum(), abs=1e-9 * np.abs(u).sum())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.floats(-3.0, 0.0), scale=st.floats(0.1, 10.0))
def test_iteration_from_random_starts_reaches_the_textbook_optimum(seed, exponent, scale):
    X, y, cost = noisy(seed, 25, 3, 10.0**exponent)
    rng = np.random.default_rng(seed)
    a, best = lagrangian_dual(X @ X.T, y, cost)
    for name, system in systems(X, cost).items():
        problem = LagrangianProblem(system, y)
        begin = scale * cost.max() * rng.normal(size=len(y))
        own = rng.uniform(0.3, 0.95) * 2.0 / cost
        mu = own if rng.integers(2) else np.full(len(y), own.min())  # each row's own, and one for all
        result = iterate(
            problem,
            stop=Stop(tol=1e-10, max_iter=100_000),
            mu=mu,
            state=lagrangian.start(problem, begin, mu),
        )
        assert result.status is Status.CONVERGED, name
        assert result.objective == pytest.approx(best, rel=1e-8), name
        np.testing.assert_allclose(
            y * result.dual_coef, a, atol=1e-4 * a.max()
        )  # the same point, not only the same value


def test_newton_agrees_with_the_iteration_in_few_steps():
    X, y, cost = noisy(3, 300, 6, C=3.0)
    system = KernelSystem(rbf(X, X) + 1.0, cost)
    few = solve_by_newton(system, y, stop=Stop(tol=1e-12))
    many = iterate(LagrangianProblem(system, y), stop=Stop(tol=1e-10, max_iter=100_000))
    assert few.status is many.status is Status.CONVERGED
    assert few.n_iter <= 8 < 30 < many.n_iter
    np.testing.assert_allclose(few.coef, y * np.maximum(0.0, y * many.coef), atol=1e-4 * cost.max())


@pytest.mark.parametrize("start", [0.0, 1.0, -1e6])
def test_newton_is_never_worse_than_zero_coefficients(start):
    """Rows near 1e5 have kernel values of 1e20, beside which 1 / c is nothing; the start may be bad, too."""
    X, y, cost = noisy(5, 12, 2)
    K = (1.0 + (1e5 + X) @ (1e5 + X).T) ** 2
    system = KernelSystem(K + 1.0, cost)
    state = begun_at(system, np.full(12, start))
    result = solve_by_newton(system, y, stop=Stop(), state=state)
    assert result.status in (Status.STALLED, Status.MAX_ITER)
    assert 0.0 <= result.objective <= 0.5 * cost.sum() * (1 + 1e-12)
    assert np.isfinite(result.coef).all()


@pytest.mark.parametrize("C", [1e-10, 1e-6, 1e6, 1e10])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_extreme_costs(C, kernel):
    X, y = standardised(load_wine)
    model = LagrangianSVC(C, kernel=kernel, tol=1e-6).fit(X, y)
    assert model.status_ == "converged"


@pytest.mark.parametrize("C", [1e-6, 1e-12])
def test_small_cost_still_gives_a_classifier(C):
    X, y = make_classification(400, 20, n_informative=5, flip_y=0.1, random_state=0)
    scores = [
        model.fit(X, y).score(X, y)
        for model in (
            LagrangianSVC(C),
            LagrangianSVC(C, solver="lagrangian"),
            LagrangianSVC(C, n_components=20),
            LagrangianSVC(C, kernel=dot),
        )
    ]
    assert scores == pytest.approx([0.7575] * 4, abs=0.003)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_gaps_are_non_negative_and_shrink(solver, kernel):
    X, y = standardised(load_breast_cancer)
    model = LagrangianSVC(0.1, solver=solver, kernel=kernel, tol=1e-8, max_iter=10**5).fit(X, y)
    gaps = [check.gap for check in model.history_[0]]
    assert min(gaps) >= -1e-12
    assert gaps[-1] <= 1e-8 < gaps[0]
    duals = [check.dual for check in model.history_[0]]
    assert duals == sorted(duals)
    if solver == "lagrangian":
        assert all(later < 0.9 * earlier for earlier, later in zip(gaps[1::4], gaps[5::4], strict=False))


def test_resumed_solvers_are_bit_identical():
    X, y, cost = noisy(6, 200, 5)
    system = KernelSystem(rbf(X, X) + 1.0, cost)
    problem = LagrangianProblem(system, y)
    stop = Stop(tol=1e-9, max_iter=10_000)
    ways = [
        lambda **more: iterate(problem, stop=stop, **more),
        lambda **more: solve_by_newton(system, y, stop=stop, **more),
    ]
    for solve, when in zip(ways, (16, 2), strict=True):
        saved = []

        def keep(check, state, saved=saved, when=when):
            if check.n_iter == when:
                saved.append(state.copy())

        whole = solve(callback=keep)
        resumed = solve(state=saved[0])
        assert whole.n_iter > when
        np.testing.assert_array_equal(resumed.coef, whole.coef)
        np.testing.assert_array_equal(resumed.dual_coef, whole.dual_coef)
        assert [check.gap for check in resumed.history] == [
            check.gap for check in whole.history if check.n_iter >= when
        ]


def test_referees_agree():
    X, y, cost = noisy(5)
    _, _, primal = svm_primal(X, y, cost, "squared-hinge", "penalised")
    _, dual = lagrangian_dual(X @ X.T, y, cost)
    assert primal == pytest.approx(dual, rel=1e-8)

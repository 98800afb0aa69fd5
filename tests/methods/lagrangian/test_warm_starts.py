"""Warm starts of LagrangianSVC, and paths over C."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_wine
from support.lagrangian_problems import SOLVERS, noisy, rbf, standardised

from maxmargin import LagrangianSVC
from maxmargin.methods.lagrangian import newton as kernel_newton
from maxmargin.methods.lagrangian.newton import kernel_newton as solve_by_newton
from maxmargin.methods.lagrangian.systems import KernelSystem
from maxmargin.solving.result import Stop


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "space", [{"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "rbf", "n_components": 40}]
)
def test_warm_starts_change_only_time(solver, space):
    X, y = standardised(load_wine)
    warm = LagrangianSVC(solver=solver, warm_start=True, tol=1e-9, random_state=0, **space)
    for C in (0.02, 0.03, 0.03):
        warm.set_params(C=C).fit(X, y)
        cold = LagrangianSVC(C, solver=solver, tol=1e-9, random_state=0, **space).fit(X, y)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-9)
        np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)
    assert warm.n_iter_ <= min(cold.n_iter_, 8)  # the last of them began where it had to end
    warm.fit(X[::2], y[::2])  # other rows: from the beginning
    cold.fit(X[::2], y[::2])
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)


CHANGES = [
    {"code": "one-vs-one"},
    {"C": 0.5},
    {"gamma": 2.0},
    {"kernel": "laplacian"},
    {"kernel": "linear"},
    {"n_components": 9},
    {"n_components": None},
    {"class_weight": {0: 3.0}},
    {"solver": "newton"},
]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "space", [{"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "rbf", "n_components": 12}]
)
def test_warm_starts_after_any_change_reach_the_same_optimum(solver, space):
    X, y = standardised(load_wine)
    given = {"C": 0.05, "solver": solver, "tol": 1e-7, "random_state": 0, "max_iter": 100_000, **space}
    for change in CHANGES:
        warm = LagrangianSVC(warm_start=True, **given).fit(X, y)
        for parameters in ({**given, **change}, given):  # there and back
            warm.set_params(code="one-vs-rest", gamma="scale", n_components="auto")
            warm.set_params(class_weight=None).set_params(**parameters).fit(X, y)
            cold = LagrangianSVC(**parameters).fit(X, y)
            assert warm.status_ == "converged"
            assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-7), change
    for other in (np.array(["c", "b", "a"])[y], np.where(y == 2, 0, y), (y + 1) % 3):
        cold = LagrangianSVC(**given).fit(X, other)
        warm = LagrangianSVC(warm_start=True, **given).fit(X, y).fit(X, other)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_path_over_C_is_continuous(kernel):
    X, y = standardised(load_wine, [0, 1])
    path = [
        LagrangianSVC(C, kernel=kernel, tol=1e-10).fit(X, y).decision_function(X)
        for C in np.geomspace(0.1, 0.11, 6)
    ]
    moves = [np.abs(b - a).max() for a, b in itertools.pairwise(path)]
    assert max(moves) < 0.02
    assert max(moves) < 3 * min(moves)


def test_start_from_half_of_the_rows_changes_only_time(monkeypatch):
    X, y, cost = noisy(7, 900, 4)
    system = KernelSystem(rbf(X, X) + 1.0, cost)
    sampled = solve_by_newton(system, y, stop=Stop(tol=1e-10))
    monkeypatch.setattr(kernel_newton, "MIN_ROWS_FOR_SAMPLED_START", 10**9)
    plain = solve_by_newton(system, y, stop=Stop(tol=1e-10))
    assert sampled.objective == pytest.approx(plain.objective, rel=1e-9)
    np.testing.assert_allclose(sampled.coef, plain.coef, atol=1e-6)

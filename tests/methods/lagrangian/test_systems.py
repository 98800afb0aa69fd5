"""The linear systems of the Lagrangian SVM in all their forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lagrangian_problems import noisy, systems

from maxmargin import LagrangianSVC
from maxmargin.methods.lagrangian.cholesky import Factor
from maxmargin.solving.row_pool import RowPool


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 40), d=st.integers(1, 6), exponent=st.floats(-3, 3))
def test_all_systems_equal_the_dense_one(seed, n, d, exponent):
    X, _, cost = noisy(seed, n, d, 10.0**exponent)
    rng = np.random.default_rng(seed)
    z, u, G = rng.normal(size=n), rng.normal(size=n), X @ X.T + 1.0
    solution = np.linalg.solve(G + np.diag(1.0 / cost), z)
    for name, system in systems(X, cost).items():
        coef = system.combine(u)
        scores = system.scores(coef)
        close = 1e-9 * max(1.0, cost.max()) * cost.max()
        np.testing.assert_allclose(system.solve(z), solution, rtol=1e-6, atol=close, err_msg=name)
        np.testing.assert_allclose(scores, G @ u, rtol=1e-9, atol=1e-9 * np.abs(G).max() * n, err_msg=name)
        assert system.sqnorm(coef, scores) == pytest.approx(u @ G @ u, rel=1e-6, abs=1e-9 * n)


@pytest.mark.parametrize("n", [1, 5, 192, 193, 500])
def test_factor_equals_that_of_numpy(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n))
    A = np.einsum("ik,jk", half, half) + np.eye(n)
    right, solutions = rng.normal(size=n), []
    for n_threads in (1, 2, 3):
        with RowPool(n_threads) as pool:
            factor = Factor(A.copy, pool)
            expected = np.linalg.cholesky(A)
        np.testing.assert_allclose(np.tril(factor.L), expected, atol=1e-10 * n)
        solutions.append(factor.solve(right))
    assert np.array_equal(solutions[0], solutions[1])
    assert np.array_equal(solutions[0], solutions[2])
    np.testing.assert_allclose(A @ solutions[0], right, atol=1e-8)


def test_rounding_is_shifted_and_an_indefinite_matrix_refused():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(300, 5))
    with RowPool(1) as pool:
        assert 0.0 < Factor(lambda: low @ low.T, pool).shift < 1e-9
        with pytest.raises(np.linalg.LinAlgError):
            Factor(lambda: low @ low.T - np.eye(300), pool)


def test_indefinite_kernel_is_refused_except_with_eigen_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60)
    with pytest.raises(ValueError, match=r"eigenvalues below -1 / .*Lower C.*n_components"):
        LagrangianSVC(100.0, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    model = LagrangianSVC(100.0, kernel="sigmoid", gamma=2.0, coef0=-1.0, n_components=10).fit(X, y)
    assert model.status_ == "converged"

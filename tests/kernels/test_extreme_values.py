"""Kernel values far from the origin, of equal rows, with extreme parameters, overflow and NaN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.kernel_cases import LAYOUTS, TOLERANCE, csr, rows
from support.reference_kernels import reference

from maxmargin.kernels import (
    RBF,
    Exponential,
    Laplacian,
    Polynomial,
    Sigmoid,
)

OF_DISTANCE = [RBF, Laplacian, Exponential]


@pytest.mark.parametrize("offset", [1e3, 1e4])
@pytest.mark.parametrize("layout", ["dense", "csr32"])
def test_rbf_far_from_the_origin(offset, layout):
    X = (rows(300, 20) + offset).astype(np.float32)
    K = RBF(gamma=0.02)(LAYOUTS[layout](X))
    expected = reference(RBF(gamma=0.02), X[:40], X)
    np.testing.assert_allclose(K[:40], expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_two_tight_clusters_far_apart(dtype):
    X = rows(200, 8)
    X[100:] += 3e3
    X = X.astype(dtype)
    expected = reference(RBF(gamma=0.1), X, X)
    assert expected[:100, :100].max() > 0.1
    np.testing.assert_allclose(RBF(gamma=0.1)(X), expected, rtol=20 * TOLERANCE[dtype], atol=1e-8)


def roots(X, Z):
    """Distances from many digits: neither the differences nor their squares are rounded to double."""
    X, Z = (np.asarray(rows, dtype=np.longdouble) for rows in (X, Z))
    return np.sqrt(((X[:, None] - Z) ** 2).sum(axis=2))


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 2e-5), (np.float64, 2e-12)])
@pytest.mark.parametrize("layout", ["dense", "csr32"])
@pytest.mark.parametrize("d", [1, 3, 150])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4])
@pytest.mark.parametrize("width", [0.1, 1.0, 30.0, 1e4])
def test_exponential_of_near_duplicates_and_far_rows(width, offset, d, layout, dtype, error):
    X = (rows(84, d) + offset).astype(dtype)
    nudge = 10.0 ** -np.arange(84 // 7).repeat(7)[:, None]  # from another row to a row almost equal
    Z = (X + nudge * rows(84, d, seed=1)).astype(dtype)
    gamma = width / np.sqrt(2 * d)
    K = Exponential(gamma)(LAYOUTS[layout](X), LAYOUTS[layout](Z))
    expected = np.exp(-gamma * roots(X, Z))
    assert expected.diagonal()[-1] > 0.5 or width > 1 or offset > 0
    np.testing.assert_allclose(K, expected, rtol=0, atol=error)
    once = Exponential(gamma)(LAYOUTS[layout](X), LAYOUTS[layout](X))
    assert (once.diagonal() == 1).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [1e-30, 1e-25, 1e25, 1e37])
def test_exponential_where_squares_leave_the_range(size, dtype):
    X = (rows(20, 4) * size).astype(dtype)
    gamma = 0.5 / size
    for layout in LAYOUTS.values():
        K = Exponential(gamma)(layout(X))
        np.testing.assert_allclose(K, np.exp(-gamma * roots(X, X)), rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", [k(gamma=2.0) for k in OF_DISTANCE], ids=lambda k: k.name)
def test_equal_rows_give_exactly_one(kernel, layout, dtype):
    X = np.concatenate([rows(150, 300, dtype, density=0.2) * 7 + 1, rows(150, 300, dtype, density=0.02)])
    K = kernel(LAYOUTS[layout](np.concatenate([X, X])))
    n = len(X)
    assert (np.diagonal(K) == 1).all()
    assert (np.diagonal(K[:n, n:]) == 1).all()
    assert (K <= 1).all()
    assert (K >= 0).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [3, 300])
@pytest.mark.parametrize("gamma", [5e-324, 1e-300, 1e-46, 3e38, 1e39, 1e200, 1.3e308, np.finfo(float).max])
@pytest.mark.parametrize("kernel", OF_DISTANCE, ids=lambda k: k.name)
def test_any_finite_gamma_gives_one_for_equal_rows_and_zero_for_far_ones(kernel, gamma, d, layout, dtype):
    X = rows(20, d, dtype, density=0.05 if layout == "csr32" else 1.0)
    X[:, 0] = np.arange(20)
    X[10] *= np.finfo(dtype).max / 64  # at an infinite distance
    K = kernel(gamma)(LAYOUTS[layout](np.concatenate([X, X])))
    assert not np.isnan(K).any()
    assert (np.diagonal(K) == 1).all()
    assert (np.diagonal(K[:20, 20:]) == 1).all()
    apart = K[:20, :20][~np.eye(20, dtype=bool)]
    if gamma > 1:
        assert (apart == 0).all()
    else:
        assert ((apart >= 0) & (apart <= 1)).all()
        assert K[0, 1] == 1


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("huge", [1e39, 1e200, np.finfo(float).max])
def test_huge_parameters_of_products_give_no_nan(huge, dtype):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, -2.0]], dtype)
    assert not np.isnan(Polynomial(degree=2, gamma=huge, coef0=-huge)(X)).any()
    np.testing.assert_array_equal(Sigmoid(gamma=huge)(X), np.diag([0, 1, 1]))
    np.testing.assert_array_equal(Sigmoid(gamma=1.0, coef0=-huge)(X), np.full((3, 3), -1))


@settings(max_examples=40, deadline=None)
@given(
    X=arrays(np.float32, st.tuples(st.integers(0, 9), st.just(4)), elements=st.floats(-1e6, 1e6, width=32)),
    Z=arrays(np.float32, st.tuples(st.integers(0, 9), st.just(4)), elements=st.floats(-1e6, 1e6, width=32)),
    gamma=st.floats(1e-12, 1e3),
)
def test_rbf_equals_the_reference_on_random_rows(X, Z, gamma):
    K = RBF(gamma=gamma)(X, Z)
    np.testing.assert_allclose(K, reference(RBF(gamma=gamma), X, Z), rtol=0, atol=5e-5)
    assert ((K >= 0) & (K <= 1)).all()
    np.testing.assert_allclose(RBF(gamma=gamma)(csr(X), csr(Z)), K, rtol=0, atol=5e-5)


@pytest.mark.parametrize("layout", ["dense", "csr32"])
def test_overflowing_rows_leave_other_values_intact(layout):
    X = np.array([[1e300, -1e300], [1e300, -1e300], [1.0, 2.0], [3.0, 4.0]])
    K = RBF(gamma=0.5)(LAYOUTS[layout](X))
    np.testing.assert_allclose(K, [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, np.exp(-4)], [0, 0, np.exp(-4), 1]])


def test_nan_stays_nan():
    X = np.array([[np.nan, 0.0], [1.0, 2.0]])
    K = RBF(gamma=0.5)(X)
    np.testing.assert_array_equal(np.isnan(K), [[True, True], [True, False]])

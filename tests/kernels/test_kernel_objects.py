"""Kernel objects: names, operators, diagonals, functions, and parameters that are refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from support.kernel_cases import KERNELS, LAYOUTS, assert_close, ids, rows
from support.reference_kernels import reference

from maxmargin.kernels import (
    RBF,
    FromFunction,
    Linear,
    Polynomial,
    Precomputed,
    Scaled,
    Sigmoid,
    kernel_from_name,
)


def test_sums_products_and_multiples_of_kernels():
    X, Z, A = rows(7, 3), rows(5, 3, seed=1), rows(5, 2)
    k = 2.0 * RBF(gamma=0.3) + Linear() * Polynomial(degree=2, gamma=1.0) * 0.5
    expected = 2 * reference(RBF(gamma=0.3), X, Z) + 0.5 * (X @ Z.T) * (X @ Z.T) ** 2
    assert_close(k(X, Z), expected, np.float64)
    assert_close(k.matmul(X, Z, A), expected @ A, np.float64)
    assert_close(k.diagonal(X), np.diagonal(k(X)), np.float64)
    with pytest.raises(ValueError, match="factor"):
        -1.0 * Linear()


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_diagonal_is_the_diagonal(kernel, layout):
    X = LAYOUTS[layout](rows(8, 5, density=0.5))
    assert_close(kernel.diagonal(X), np.diagonal(kernel(X)), np.float64)


def test_functions_and_matrices():
    words = ["svm", "margin", "max"]
    shared = FromFunction(lambda X, Z: [[len(set(x) & set(z)) for z in Z] for x in X])
    np.testing.assert_array_equal(shared(words), [[3, 1, 1], [1, 6, 2], [1, 2, 3]])
    np.testing.assert_array_equal(shared.diagonal(words), [3, 6, 3])
    np.testing.assert_array_equal(shared.matmul(words, words, np.ones(3)), [5, 9, 6])
    with pytest.raises(ValueError, match="must return a matrix of shape"):
        FromFunction(lambda X, Z: np.zeros(2))(words)
    K = rows(3, 3)
    assert Precomputed()(K) is K
    np.testing.assert_array_equal(Precomputed().diagonal(K), np.diagonal(K))


def test_names_and_errors():
    assert kernel_from_name("poly", degree=4, gamma=1.0, coef0=1) == Polynomial(degree=4, gamma=1.0, coef0=1)
    assert kernel_from_name("linear", gamma=2.0) == Linear()
    assert kernel_from_name(RBF(gamma=1.0), gamma=2.0) == RBF(gamma=1.0)
    assert isinstance(kernel_from_name(rbf_kernel), FromFunction)
    with pytest.raises(ValueError, match=r"one of \['exponential', 'laplacian', .*got 'rfb'"):
        kernel_from_name("rfb")
    with pytest.raises(ValueError, match="same features"):
        Linear()(rows(2, 3), rows(2, 4))
    with pytest.raises(ValueError, match="resolve"):
        RBF(gamma="scale")(rows(2, 3))
    with pytest.raises(ValueError, match="2-d"):
        Linear()(np.zeros(3))


@pytest.mark.parametrize(
    "gamma",
    [
        0.0,
        -1.0,
        np.nan,
        np.inf,
        "medain",
        None,
        [1.0],
        np.array([1.0, 2.0]),
        np.array("scale"),
        True,
        10**400,
    ],
    ids=lambda gamma: repr(gamma)[:20],
)
def test_bad_gamma_is_refused(gamma):
    with pytest.raises(ValueError, match=r"gamma must be a finite number > 0 or one of \['auto', 'median', "):
        RBF(gamma=gamma)


@pytest.mark.parametrize(
    "wrong", [np.array([1.0, 2.0]), True, 10**400, "3", np.nan], ids=lambda v: repr(v)[:20]
)
def test_bad_degree_coef0_and_factor_are_refused(wrong):
    with pytest.raises(ValueError, match="degree must be a finite number"):
        Polynomial(degree=wrong)
    with pytest.raises(ValueError, match="coef0 must be a finite number"):
        Sigmoid(coef0=wrong)
    with pytest.raises(ValueError, match="factor of a kernel must be a finite number > 0"):
        Scaled(wrong, Linear())


@pytest.mark.parametrize("wrong", [True, 10**400, -1.0], ids=lambda v: repr(v)[:20])
def test_bad_factor_in_a_product_is_refused(wrong):
    with pytest.raises(ValueError, match="factor of a kernel must be a finite number > 0"):
        wrong * Linear()


def test_mixed_and_other_dtypes():
    assert Linear()(rows(2, 3, np.float32), rows(2, 3)).dtype == np.float64
    X = np.array([[1, 2], [3, 4]])
    np.testing.assert_array_equal(Linear()(X), X @ X.T)
    np.testing.assert_array_equal(Linear()(sp.csc_matrix(X)), X @ X.T)
    unsorted = sp.csr_array((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    np.testing.assert_array_equal(RBF(gamma=1.0)(unsorted, np.array([[1.0, 2.0]])), [[1.0]])
    assert unsorted.nnz == 3

"""Gradients of kernel expansions against finite differences, and the average of their outer products."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.kernel_cases import KERNELS, rows

from maxmargin import kernels
from maxmargin.kernels import (
    RBF,
    Exponential,
    FromFunction,
    Laplacian,
    Linear,
    OnColumns,
    Polynomial,
    Precomputed,
    Sigmoid,
    average_outer_product,
    gradient,
    gradient_blocks,
)

COMPOSED = [
    RBF(0.3) + Linear(),
    0.7 * Exponential(0.5) * Polynomial(degree=2, gamma=0.3, coef0=1.0),
    Laplacian(0.2) * RBF(0.1) + 2.0 * Sigmoid(0.1, coef0=0.2),
    (Linear() + Exponential(0.4)) * (Laplacian(0.3) + 0.5 * Linear()),
    0.3 * OnColumns(RBF(0.4), [3, 0])
    + 0.7 * OnColumns(Laplacian(0.2), [1, 2])
    + 0.1 * OnColumns(Linear(), [3, 0]),
    OnColumns(OnColumns(Exponential(0.3), [2, 0]) + RBF(0.2), [4, 1, 2])
    * Polynomial(2, gamma=0.3, coef0=1.0),
]
ALL = [*KERNELS, *COMPOSED]
ids = [repr(kernel)[:40] for kernel in ALL]


def case(kernel, n=7, m=11, d=5, columns=3):
    positive = kernel.name == "polynomial" and kernel.degree == 2.5  # a negative base has no such power
    X, Z = (abs(rows(k, d, seed=seed)) if positive else rows(k, d, seed=seed) for k, seed in ((n, 0), (m, 1)))
    return X, Z, rows(m, columns, seed=2)


def all_gradients(kernel, X, Z, A):
    G = np.full((X.shape[0], A.shape[1], X.shape[1]), np.nan)
    for some, t, block in gradient_blocks(kernel, X, Z, A):
        G[some, t] = block
    return G


def differences(kernel, X, Z, A, h=1e-5):
    G = np.empty((len(X), A.shape[1], X.shape[1]))
    for k in range(X.shape[1]):
        step = h * np.eye(X.shape[1])[k]
        G[:, :, k] = (kernel(X + step, Z) @ A - kernel(X - step, Z) @ A) / (2 * h)
    return G


@pytest.mark.parametrize("kernel", ALL, ids=ids)
def test_gradients_equal_central_differences(kernel):
    X, Z, A = case(kernel)
    expected = differences(kernel, X, Z, A)
    np.testing.assert_allclose(
        all_gradients(kernel, X, Z, A), expected, atol=1e-7 * (1 + abs(expected).max())
    )


@pytest.mark.parametrize("kernel", ALL, ids=ids)
def test_blocks_and_sparse_rows_change_nothing(kernel, monkeypatch):
    X, Z, A = case(kernel, n=23, m=9, columns=6)
    X, Z = np.where(abs(X) > 0.4, X, 0.0), np.where(abs(Z) > 0.4, Z, 0.0)
    A[A < -0.5] = 0.0
    whole = all_gradients(kernel, X, Z, A)
    np.testing.assert_allclose(
        all_gradients(kernel, sp.csr_array(X), sp.csr_array(Z), A), whole, atol=1e-12 * (1 + abs(whole).max())
    )
    monkeypatch.setattr(gradient, "MAX_NUMBERS_PER_BLOCK", 40)
    monkeypatch.setattr(gradient, "COLUMNS_PER_SIGN", 2)
    np.testing.assert_allclose(all_gradients(kernel, X, Z, A), whole, atol=1e-12 * (1 + abs(whole).max()))


@pytest.mark.parametrize("kernel", [Exponential(2.0), RBF(0.5), Laplacian(1.0)], ids=lambda k: k.name)
def test_equal_and_nearly_equal_rows(kernel):
    Z = rows(6, 4)
    alone = all_gradients(kernel, Z[:1], Z[:1], np.ones((1, 1)))
    np.testing.assert_array_equal(alone, 0.0)  # a peak, or flat
    near = Z[:1] + 1e-7
    unit = {"exponential": -2.0 * np.full(4, 0.5), "laplacian": -np.ones(4), "rbf": np.full(4, -1e-7)}
    G = all_gradients(kernel, near, Z[:1], np.ones((1, 1)))[0, 0]
    np.testing.assert_allclose(G, unit[kernel.name], rtol=1e-4)


def test_far_rows_have_the_same_gradient():
    X, Z, A = case(RBF(0.3))
    for kernel in (RBF(0.3), Exponential(0.3)):
        there = all_gradients(kernel, X + 1e4, Z + 1e4, A)
        np.testing.assert_allclose(there, all_gradients(kernel, X, Z, A), atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(0.3), COMPOSED[-1]], ids=["rbf", "composed"])
def test_average_outer_product(kernel):
    X, Z, A = case(kernel)
    G, weight = all_gradients(kernel, X, Z, A), np.array([0.0, 1.0, 2.0, 1.0, 1.0, 3.0, 0.5])
    M = average_outer_product(kernel, X, Z, A, weight=weight, full=True)
    np.testing.assert_allclose(M, np.einsum("i,itk,itl->kl", weight, G, G) / weight.sum(), rtol=1e-12)
    np.testing.assert_allclose(average_outer_product(kernel, X, Z, A, weight=weight), np.diag(M), rtol=1e-12)
    np.testing.assert_allclose(
        average_outer_product(kernel, X.astype(np.float32), Z.astype(np.float32), A, full=True),
        average_outer_product(kernel, X, Z, A, full=True),
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    "kernel",
    [Precomputed(), FromFunction(lambda X, Z: X @ Z.T), Linear() + 2.0 * Precomputed()],
    ids=["precomputed", "function", "inside a sum"],
)
def test_kernels_without_a_gradient_are_refused_with_the_remedy(kernel):
    X = rows(4, 4)
    with pytest.raises(ValueError, match=r"no gradient in the columns.*permutation_importance"):
        list(gradient_blocks(kernel, X, X, np.ones((4, 1))))


def test_every_compiled_kernel_of_the_library_has_a_gradient():
    compiled = [
        k for k in vars(kernels).values() if isinstance(k, type) and issubclass(k, kernels.compiled.Compiled)
    ]
    named = {k for k in compiled if "name" in vars(k)}
    assert named == {type(kernel) for kernel in KERNELS}
    for kernel in KERNELS:
        gradient.check_gradient(kernel)


@pytest.mark.parametrize("n_groups", [1, 4])
def test_blocks_are_smaller_where_a_kernel_has_many_parts(monkeypatch, n_groups):
    kernel = RBF(0.3) + OnColumns(RBF(0.1), [0])
    for k in range(1, n_groups):
        kernel += OnColumns(RBF(0.1), [k])
    X, Z, A = rows(30, 4), rows(10, 4, seed=1), np.ones((10, 1))
    whole = all_gradients(kernel, X, Z, A)
    monkeypatch.setattr(gradient, "MAX_NUMBERS_PER_BLOCK", 100)
    sizes = [part.stop - part.start for part, _, _ in gradient_blocks(kernel, X, Z, A)]
    assert max(sizes) == 100 // (10 * (n_groups + 1))
    np.testing.assert_allclose(all_gradients(kernel, X, Z, A), whole, rtol=1e-12)

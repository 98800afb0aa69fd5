"""Kernel matrices against double loops, in any layout, block and number of threads."""

import multiprocessing

import numpy as np
import pytest
import scipy.sparse as sp
from support.interrupts import interrupt_in_compiled_code
from support.kernel_cases import KERNELS, LAYOUTS, TOLERANCE, assert_close, csr, ids, rows
from support.reference_kernels import dense64, reference

from maxmargin import _native
from maxmargin._native import GroupedMatrix
from maxmargin.kernels import (
    RBF,
    Exponential,
    Laplacian,
    Linear,
    Polynomial,
)


@pytest.mark.parametrize("density", [1.0, 0.3, 0.05], ids="density{}".format)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("x_layout", LAYOUTS)
@pytest.mark.parametrize("z_layout", LAYOUTS)
@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_every_kernel_equals_its_reference(kernel, x_layout, z_layout, dtype, density):
    X, Z = rows(19, 13, dtype, 0, density), rows(21, 13, dtype, 1, density)
    K = kernel(LAYOUTS[x_layout](X), LAYOUTS[z_layout](Z))
    assert K.dtype == dtype
    assert_close(K, reference(kernel, X, Z), dtype)


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
@pytest.mark.parametrize("layout", ["dense", "csr32"])
def test_tiles_meet_and_matmul_equals_block_times_matrix(kernel, layout):
    X, Z = (
        LAYOUTS[layout](rows(1500, 6, seed=2, density=0.3)),
        LAYOUTS[layout](rows(2300, 6, seed=3, density=0.3)),
    )
    K, A = kernel(X, Z), rows(2300, 3, seed=4)
    some_x, some_z = np.array([0, 127, 128, 640, 1499]), np.array([0, 511, 512, 1151, 2047, 2048, 2299])
    expected = reference(kernel, dense64(X)[some_x], dense64(Z)[some_z])
    assert_close(K[np.ix_(some_x, some_z)], expected, np.float64, factor=10)
    np.testing.assert_allclose(kernel.matmul(X, Z, A), K @ A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.matmul(X, Z, A[:, 0]), K @ A[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", ["dense", "csr32"])
@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(gamma=0.1), Laplacian(gamma=0.1), Exponential(gamma=0.3)],
    ids=lambda k: k.name,
)
def test_threads_change_no_bit(kernel, layout, dtype):
    X, A = LAYOUTS[layout](rows(1400, 5, dtype, density=0.5)), rows(1400, 4, dtype)
    blocks = [_native.kernel_block(X, X, kernel, n_threads=n) for n in (1, 2, 4)]
    products = [_native.kernel_matmul(X, X[:900], A[:900], kernel, n_threads=n) for n in (1, 2, 4)]
    few = [_native.kernel_matmul(X[:3], X, A, kernel, n_threads=n) for n in (1, 2, 4)]
    for results in (blocks, products, few):
        assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(gamma=0.01), Laplacian(gamma=0.01), Exponential(gamma=0.1)],
    ids=lambda k: k.name,
)
@pytest.mark.parametrize("layout", ["dense", "csr32"])
@pytest.mark.parametrize("d", [20, 150])
def test_kernel_of_rows_with_themselves_is_exactly_symmetric(kernel, layout, d):
    X = LAYOUTS[layout](rows(1100, d, np.float32, density=0.3 if layout == "csr32" else 1.0))
    K = _native.kernel_block(X, X, kernel)
    np.testing.assert_array_equal(K, K.T)
    assert_close(K, _native.kernel_block(X, X.copy(), kernel), np.float32)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("d", [3, 54, 150, 784])
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        RBF(gamma=0.5),
        Polynomial(degree=3, gamma=0.1, coef0=1.0),
        Laplacian(gamma=0.1),
        Exponential(gamma=0.7),
    ],
    ids=lambda k: k.name,
)
@pytest.mark.parametrize("density", [1.0, 0.05], ids=["dense", "sparse"])
def test_values_do_not_depend_on_the_block(kernel, density, d, dtype):
    X, rng = rows(700, d, dtype, density=density) / dtype(np.sqrt(d)), np.random.default_rng(1)
    X = X if density == 1.0 else csr(X)
    stats = _native.row_stats(X)
    whole = _native.kernel_block(X, X, kernel, x_stats=stats, z_stats=stats)
    for n, m in [(1, 1), (1, 2), (2, 1), (1, 600), (600, 1), (3, 17), (12, 16), (13, 500), (257, 399)]:
        some, others = rng.choice(700, n, replace=False), rng.choice(700, m, replace=False)
        part = _native.kernel_block(X, X, kernel, x_rows=some, z_rows=others, x_stats=stats, z_stats=stats)
        np.testing.assert_array_equal(part, whole[np.ix_(some, others)])


def test_csr_matrices_sharing_only_values_are_told_apart():
    S = csr(rows(1100, 300, density=0.02))
    X = sp.csr_array((S.data, S.indices, S.indptr), shape=(1100, 301))
    Z = sp.csr_array((S.data, S.indices + 1, S.indptr), shape=(1100, 301))
    assert np.shares_memory(X.data, Z.data)
    assert_close(_native.kernel_block(X, Z, Linear()), X.toarray() @ Z.toarray().T, np.float64)


@pytest.mark.parametrize("n_columns", [1, 3, 10, 33])
@pytest.mark.parametrize("d", [1, 20, 129])
def test_matmul_of_few_and_many_columns(n_columns, d):
    X, Z, A = rows(101, d, np.float32), rows(1030, d, np.float32, seed=1), rows(1030, n_columns, np.float32)
    wide = _native.kernel_block(X, Z, RBF(gamma=0.5 / d)).astype(np.float64)
    assert_close(_native.kernel_matmul(X, Z, A, RBF(gamma=0.5 / d)), wide @ A, np.float32)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_a_few_rows_have_the_products_of_many(kernel, dtype):
    rng = np.random.default_rng(0)
    X, Z = (rng.normal(size=(n, 7)).astype(dtype) + dtype(3.0) for n in (9, 1500))
    starts, used = (
        np.array([0, 500, 500, 1500]),
        np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 1]], dtype=bool),
    )
    dense = rng.normal(size=(1500, 4)).astype(dtype) * np.repeat(used, np.diff(starts), axis=0)
    for A in (dense[:, :1], dense, GroupedMatrix.cut(dense, starts, used)):
        many = kernel.matmul(X, Z, A)
        scale = 1500 * np.abs(kernel(X, Z)).max()
        for n in (1, 2, 4, 5):
            few = kernel.matmul(X[:n], Z, A)
            assert few.dtype == many.dtype
            np.testing.assert_allclose(few, many[:n], rtol=0.0, atol=TOLERANCE[dtype] * scale)
        assert np.array_equal(kernel.matmul(X[:1], Z, A, n_jobs=1), kernel.matmul(X[:1], Z, A, n_jobs=4))


def _child(queue):
    X = rows(600, 5)
    queue.put(_native.kernel_block(X, X, RBF(gamma=0.1), n_threads=2).tobytes())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_computes_the_same():
    X = rows(600, 5)
    K = _native.kernel_block(X, X, RBF(gamma=0.1), n_threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == K.tobytes()
    child.join(30)
    assert child.exitcode == 0


def test_ctrl_c_ends_a_long_product():
    X, A = rows(4_000_000, 2, np.float32), np.ones((4_000_000, 1), np.float32)
    with pytest.raises(KeyboardInterrupt), interrupt_in_compiled_code():
        _native.kernel_matmul(X, X, A, RBF(gamma=0.1), n_threads=1)

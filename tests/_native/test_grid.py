"""Rows whose entries are whole multiples of one step: products in integers, exact, or not at all."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from support.reference_kernels import reference

from maxmargin import _core, _native
from maxmargin._native.grouped import GroupedMatrix
from maxmargin.kernels import RBF, Exponential, Laplacian, Linear, Polynomial, Sigmoid

LAYOUTS = {"dense": np.ascontiguousarray, "csr": sp.csr_array}
DTYPES = {np.float32: 1e-6, np.float64: 1e-14}


def codes(n, d, seed=0, density=0.5, most=255):
    """Whole numbers within -most .. most, both ends among them."""
    rng = np.random.default_rng(seed)
    u = rng.integers(-most, most, size=(n, d), endpoint=True) * (rng.random((n, d)) < density)
    u[0, 0], u[-1, -1] = most, -most
    return u


def kernels(d):
    gamma = 0.5 / d
    return [
        Linear(),
        RBF(gamma),
        Polynomial(degree=3, gamma=gamma, coef0=1.0),
        Polynomial(degree=2.5, gamma=0.1 * gamma, coef0=2.0),
        Sigmoid(gamma, coef0=-0.1),
        Exponential(gamma),
        Laplacian(gamma),
    ]


def assert_close(K, expected, dtype):
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(K, expected, rtol=0, atol=2 * DTYPES[dtype] * scale)


def block(X, Z, kernel, **options):
    stats = _native.row_stats(X)
    return _native.kernel_block(
        X, Z, kernel, x_stats=stats, z_stats=_native.row_stats(Z, like=stats), **options
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [2, 17, 784])
def test_every_kernel_equals_its_reference(d, layout, dtype):
    u, v, step = codes(41, d), codes(53, d, seed=1), 1 / 255
    X, Z = (LAYOUTS[layout]((w * step).astype(dtype)) for w in (u, v))
    assert _native.row_stats(X).step == pytest.approx(step, rel=1e-6)
    for kernel in kernels(d):
        assert_close(block(X, Z, kernel), reference(kernel, u * step, v * step), dtype)
    both = block(X, np.ascontiguousarray((v * step).astype(dtype)), RBF(0.5 / d))
    np.testing.assert_array_equal(both, block(X, Z, RBF(0.5 / d)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 16, 1 / 255, 2 / 255, 3.7e-5, 1e5])
def test_the_step_is_found(step, dtype):
    X = (codes(60, 30) * step).astype(dtype)
    found = _native.row_stats(X).step
    assert found > 0
    assert step / found == pytest.approx(round(step / found), rel=1e-6)
    coarse = np.concatenate([2 * X[:20], X]) / dtype(255)  # the first rows have a coarser one
    assert _native.row_stats(coarse).step == pytest.approx(step / 255, rel=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_and_indicators(dtype):
    zeros, ones = np.zeros((5, 3), dtype), (codes(200, 123, density=0.11) != 0).astype(dtype)
    assert _native.row_stats(zeros).step == _native.row_stats(ones).step == 1
    np.testing.assert_array_equal(block(zeros, zeros, RBF(1.0)), 1)
    for X in (ones, sp.csr_array(ones)):
        np.testing.assert_array_equal(block(X, X, Linear()), ones @ ones.T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_not_quite_on_a_grid_is_multiplied_as_it_is(layout, dtype):
    eps = float(np.finfo(dtype).eps)
    for wrong in (1 + 64 * eps, 1.00123, 0.123456789, 1e6, 1e30):
        x = (codes(300, 20) / 255).astype(dtype)
        x[299, 5] = dtype(200 / 255) * dtype(wrong)
        X = LAYOUTS[layout](x)
        assert _native.row_stats(X).step == 0
        if wrong < 2:
            assert_close(block(X, X, RBF(0.05)), reference(RBF(0.05), x, x), dtype)
    for wrong in (np.nan, np.inf):
        x[299, 5] = wrong
        assert _native.row_stats(LAYOUTS[layout](x)).step == 0


def test_codes_must_leave_room_for_their_sums():
    largest = int(np.sqrt(2**29 / 50))
    for most in (largest, largest + 1):
        X = np.full((3, 50), float(most))
        X[1], X[2, 0] = -most, most - 1
        assert (_native.row_stats(X).step == 1) == (most == largest)
        distances = block(X, X, _SquaredDistance())
        np.testing.assert_array_equal(distances, ((X[:, None] - X) ** 2).sum(2))


class _SquaredDistance:
    native = ("squared-distance", 0.0, 0.0, 0.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", kernels(20), ids=lambda k: f"{k.name}{getattr(k, 'degree', '')}")
def test_rows_on_the_grid_meet_rows_that_are_not(kernel, dtype):
    u = codes(70, 20)
    X, Z = (u / 255).astype(dtype), np.random.default_rng(1).normal(size=(40, 20)).astype(dtype)
    stats = _native.row_stats(X)
    assert stats.step > 0
    assert _native.row_stats(Z, like=stats).step == 0
    expected = reference(kernel, X, Z)
    assert_close(block(X, Z, kernel), expected, dtype)
    assert_close(block(Z, X, kernel), expected.T, dtype)
    assert_close(_native.kernel_block(X, Z, kernel, x_stats=stats), expected, dtype)
    assert_close(_native.kernel_block(Z, X, kernel, z_stats=stats), expected.T, dtype)
    finer = replace(stats, step=stats.step / 2)
    assert_close(
        _native.kernel_block(X, X, kernel, x_stats=stats, z_stats=finer), reference(kernel, X, X), dtype
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [5, 123, 784])
def test_neither_threads_nor_blocks_change_a_bit(d, layout, dtype):
    X, rng = LAYOUTS[layout]((codes(500, d) / 255).astype(dtype)), np.random.default_rng(1)
    stats = _native.row_stats(X)
    for kernel in kernels(d):
        whole = _native.kernel_block(X, X, kernel, x_stats=stats, z_stats=stats, n_threads=2)
        np.testing.assert_array_equal(whole, whole.T)
        for n, m in [(1, 1), (1, 400), (400, 1), (13, 17), (99, 300)]:
            some, others = rng.choice(500, n, replace=False), rng.choice(500, m, replace=False)
            part = _native.kernel_block(
                X, X, kernel, x_rows=some, z_rows=others, x_stats=stats, z_stats=stats, n_threads=1
            )
            np.testing.assert_array_equal(part, whole[np.ix_(some, others)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [5, 123, 784])
def test_rows_that_are_filled_in_have_the_same_bits(d, layout, dtype):
    X, rng = LAYOUTS[layout]((codes(300, d) / 255).astype(dtype)), np.random.default_rng(1)
    stats = _native.row_stats(X)
    some, others, slots = rng.choice(300, 37), rng.choice(300, 120), rng.permutation(50)[:37]
    for kernel in kernels(d):
        whole = _native.kernel_block(X, X, kernel, x_stats=stats, z_stats=stats)
        rows = np.full((50, 140), -7, dtype)
        _native.RowFiller(X, kernel, stats).fill(some, others, (rows, slots, 11), 2, _native.NEVER)
        np.testing.assert_array_equal(rows[slots, 11:131], whole[np.ix_(some, others)])
        rows[slots, 11:131] = -7
        np.testing.assert_array_equal(rows, -7)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_rows_are_at_exactly_one_and_neighbours_are_not(dtype):
    X = np.repeat((codes(1, 784, density=1.0) / 255).astype(dtype), 3, axis=0)
    X[2, 7] += dtype(1 / 255) if X[2, 7] < 0 else -dtype(1 / 255)
    K = block(X, X, RBF(1e-3))
    assert K[0, 1] == 1
    assert K[0, 2] == pytest.approx(np.exp(-1e-3 / 255**2), abs=float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_large_products_without_statistics_are_looked_at(layout, dtype, monkeypatch):
    u, v = codes(90, 31), codes(40, 31, seed=1)
    X, Z = (LAYOUTS[layout]((w / 255).astype(dtype)) for w in (u, v))
    A = np.random.default_rng(0).normal(size=(40, 3)).astype(dtype)

    def step(X, Z):
        return _native.kernels._arguments(X, Z, RBF(0.1), None, None, (None, None))[0][-1]

    assert step(X, Z) == 0
    monkeypatch.setattr(_native.rows, "MIN_PRODUCTS_FOR_GRID", 0)
    assert step(X, Z) == step(Z, X) == pytest.approx(1 / 255, rel=1e-6)
    assert step(X, Z * dtype(0.77)) == 0
    for kernel in kernels(31):
        expected = reference(kernel, u / 255, v / 255)
        assert_close(kernel(X, Z), expected, dtype)
        assert_close(kernel.matmul(X, Z, A), expected @ A, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [31, 784])
def test_columns_in_groups_take_products_in_integers(d, layout, dtype, monkeypatch):
    u, v = codes(130, d), codes(90, d, seed=1)
    X, Z = (LAYOUTS[layout]((w / 255).astype(dtype)) for w in (u, v))
    starts, columns = np.array([0, 40, 90]), [np.array([2, 0]), np.array([1, 2])]
    blocks = [np.random.default_rng(0).normal(size=(n, 2)).astype(dtype) for n in (40, 50)]
    A, dense = GroupedMatrix(starts, columns, blocks, 3), np.zeros((90, 3), dtype)
    dense[:40, [2, 0]], dense[40:, [1, 2]] = blocks
    seen = []
    core = _core.kernel_grouped_matmul
    monkeypatch.setattr(_native.rows, "MIN_PRODUCTS_FOR_GRID", 0)
    monkeypatch.setattr(_core, "kernel_grouped_matmul", lambda *args: (seen.append(args[11]), core(*args)))
    for kernel in kernels(d)[:-1]:
        assert_close(kernel.matmul(X, Z, A), reference(kernel, u / 255, v / 255) @ dense, dtype)
        assert seen.pop() == pytest.approx(1 / 255, rel=1e-6)

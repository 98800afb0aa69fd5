"""What the compiled kernels accept as rows, subsets and results, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.kernel_cases import KERNELS, LAYOUTS, assert_close, csr, ids, rows
from support.reference_kernels import reference

from maxmargin import _core, _native
from maxmargin.kernels import (
    RBF,
    Linear,
)


@pytest.mark.parametrize("layout", ["dense", "csr32"])
@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_subsets_of_rows_with_and_without_statistics(kernel, layout):
    X, Z = LAYOUTS[layout](rows(40, 7) + 50.0), LAYOUTS[layout](rows(30, 7, seed=1) + 50.0)
    x_rows, z_rows = np.array([3, 3, 39, 0]), np.array([29, 5])
    expected = kernel(X, Z)[np.ix_(x_rows, z_rows)]
    got = _native.kernel_block(X, Z, kernel, x_rows=x_rows, z_rows=z_rows)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-12)
    z_stats = _native.row_stats(Z)
    x_stats = _native.row_stats(X, like=z_stats)
    assert (z_stats.centre is None) == (layout == "csr32")
    again = _native.kernel_block(X, Z, kernel, x_rows=x_rows, z_rows=z_rows, x_stats=x_stats, z_stats=z_stats)
    np.testing.assert_allclose(again, expected, rtol=1e-11, atol=1e-12)
    with pytest.raises(IndexError, match="within"):
        _native.kernel_block(X, Z, kernel, x_rows=[40])


def test_out_is_filled_and_checked():
    X, out = rows(5, 3), np.full((5, 5), np.nan)
    assert _native.kernel_block(X, X, RBF(gamma=1.0), out=out) is out
    assert_close(out, reference(RBF(gamma=1.0), X, X), np.float64)
    read_only = np.empty((5, 5))
    read_only.flags.writeable = False
    for bad in (
        np.empty((5, 4)),
        np.empty((5, 5), np.float32),
        np.empty((5, 5), order="F"),
        np.empty((5, 10))[:, ::2],
        read_only,
        out.tolist(),
    ):
        with pytest.raises(ValueError, match="out must be"):
            _native.kernel_block(X, X, RBF(gamma=1.0), out=bad)
        with pytest.raises(ValueError, match="out must be"):
            _native.kernel_matmul(X, X, out, RBF(gamma=1.0), out=bad)


@pytest.mark.parametrize(
    "bad", [np.zeros((5, 10))[:, ::2], np.zeros((5, 5), np.float32), np.zeros((5, 5), int)]
)
def test_native_code_never_fills_a_copy_of_the_result(bad):
    X = rows(5, 3)
    arguments, *_ = _native.kernels._arguments(X, X, Linear(), None, None, (None, None))
    for function, values in ((_core.kernel_block, [bad]), (_core.kernel_matmul, [np.eye(5), bad])):
        with pytest.raises((TypeError, ValueError), match=r"incompatible|same dtype"):
            function(*arguments, *values, 1)
    for function, values in (
        (_core.row_sqnorms_f64, (arguments[0], None, bad[0])),
        (_core.useful_centre_f64, (arguments[0], None, bad[0, :3])),
        (_core.tanh, (bad[:, 0],)),
    ):
        with pytest.raises(TypeError, match="incompatible"):
            function(*values)
    assert not bad.any()


def test_refused_rows_numbers_and_statistics_are_named():
    X, kernel = rows(5, 3), RBF(gamma=1.0)
    for wrong in (X.tolist(), X.astype(int), X[:, ::2], X[0], sp.csc_array(X)):
        with pytest.raises(TypeError, match="rows must be"):
            _native.kernel_block(wrong, wrong, kernel)
    for wrong in ([0.5], [True, False], ["0"], [5], [[0]]):
        with pytest.raises(IndexError, match="row numbers must be"):
            _native.kernel_block(X, X, kernel, x_rows=wrong)
    for A in (np.ones((5, 1)) * 1j, np.full((5, 1), "1")):
        with pytest.raises(TypeError, match="A must hold real numbers; got an array of"):
            _native.kernel_matmul(X, X, A, kernel)
    stats = _native.RowStats(np.zeros(2), np.zeros(5))
    with pytest.raises(ValueError, match=r"a centre must have shape \(3,\)"):
        _native.kernel_block(X, X, kernel, x_stats=stats)
    with pytest.raises(ValueError, match=r"a centre must have shape \(3,\)"):
        _native.row_stats(X, like=stats)
    with pytest.raises(ValueError, match="n_jobs must be"):
        _native.kernel_block(X, X, kernel, n_threads=0)


def test_csr_parts_need_not_be_contiguous():
    S = csr(rows(7, 5, density=0.5))
    parts = [np.repeat(part, 2)[::2] for part in (S.data, S.indices, S.indptr)]
    strided = sp.csr_array(tuple(parts), shape=S.shape)
    assert not strided.data.flags.c_contiguous
    np.testing.assert_array_equal(Linear()(strided), Linear()(S))


@pytest.mark.parametrize("layout", ["dense", "csr32"])
@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_empty_rows_give_empty_results(kernel, layout):
    X, none = LAYOUTS[layout](rows(4, 3)), LAYOUTS[layout](np.zeros((0, 3)))
    assert kernel(none, X).shape == (0, 4)
    assert kernel(X, none).shape == (4, 0)
    np.testing.assert_array_equal(kernel.matmul(X, none, np.zeros((0, 2))), np.zeros((4, 2)))
    assert kernel.matmul(X, X, np.zeros((4, 0))).shape == (4, 0)
    assert kernel.matmul(none, X, np.zeros((4, 2))).shape == (0, 2)


def test_read_only_memmap_is_not_copied(tmp_path):
    X = rows(6, 3)
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=X.shape)
    np.testing.assert_array_equal(RBF(gamma=1.0)(mapped), RBF(gamma=1.0)(X))

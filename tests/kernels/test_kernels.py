"""Kernel matrices against double loops, and the laws they obey."""

import multiprocessing

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.pairwise import rbf_kernel
from support.interrupts import interrupt_in_compiled_code
from support.reference_kernels import dense64, reference

from maxmargin import _core, _native
from maxmargin.kernels import (
    RBF,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Scaled,
    Sigmoid,
    kernel_from_name,
)

KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    Polynomial(degree=2.5, gamma=0.01, coef0=2.0),
    RBF(gamma=0.3),
    Sigmoid(gamma=0.2, coef0=-0.1),
    Laplacian(gamma=0.4),
]
TOLERANCE = {np.float32: 2e-6, np.float64: 1e-13}
ids = [f"{k.name}{getattr(k, 'degree', '')}" for k in KERNELS]


def csr(X, index=np.int32):
    S = sp.csr_array(X)
    return sp.csr_array((S.data, S.indices.astype(index), S.indptr.astype(index)), shape=S.shape)


LAYOUTS = {"dense": np.ascontiguousarray, "csr32": csr, "csr64": lambda X: csr(X, np.int64)}


def rows(n, d, dtype=np.float64, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * (rng.random((n, d)) < density)).astype(dtype)


def assert_close(K, expected, dtype, factor=1.0):
    scale = max(1.0, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(K, expected, rtol=0, atol=factor * TOLERANCE[dtype] * scale)


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
def test_tiles_meet_and_matmul_is_block_times_matrix(kernel, layout):
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
@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.1), Laplacian(gamma=0.1)], ids=lambda k: k.name)
def test_the_number_of_threads_does_not_change_a_bit(kernel, layout, dtype):
    X, A = LAYOUTS[layout](rows(1400, 5, dtype, density=0.5)), rows(1400, 4, dtype)
    blocks = [_native.kernel_block(X, X, kernel, n_threads=n) for n in (1, 2, 4)]
    products = [_native.kernel_matmul(X, X[:900], A[:900], kernel, n_threads=n) for n in (1, 2, 4)]
    few = [_native.kernel_matmul(X[:3], X, A, kernel, n_threads=n) for n in (1, 2, 4)]
    for results in (blocks, products, few):
        assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.01), Laplacian(gamma=0.01)], ids=lambda k: k.name)
@pytest.mark.parametrize("layout", ["dense", "csr32"])
@pytest.mark.parametrize("d", [20, 150])
def test_rows_with_themselves_are_exactly_symmetric(kernel, layout, d):
    X = LAYOUTS[layout](rows(1100, d, np.float32, density=0.3 if layout == "csr32" else 1.0))
    K = _native.kernel_block(X, X, kernel)
    np.testing.assert_array_equal(K, K.T)
    assert_close(K, _native.kernel_block(X, X.copy(), kernel), np.float32)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("d", [3, 54, 150, 784])
@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(gamma=0.5), Polynomial(degree=3, gamma=0.1, coef0=1.0), Laplacian(gamma=0.1)],
    ids=lambda k: k.name,
)
@pytest.mark.parametrize("density", [1.0, 0.05], ids=["dense", "sparse"])
def test_a_value_does_not_depend_on_the_block_it_is_computed_in(kernel, density, d, dtype):
    X, rng = rows(700, d, dtype, density=density) / dtype(np.sqrt(d)), np.random.default_rng(1)
    X = X if density == 1.0 else csr(X)
    stats = _native.row_stats(X)
    whole = _native.kernel_block(X, X, kernel, x_stats=stats, z_stats=stats)
    for n, m in [(1, 1), (1, 2), (2, 1), (1, 600), (600, 1), (3, 17), (12, 16), (13, 500), (257, 399)]:
        some, others = rng.choice(700, n, replace=False), rng.choice(700, m, replace=False)
        part = _native.kernel_block(X, X, kernel, x_rows=some, z_rows=others, x_stats=stats, z_stats=stats)
        np.testing.assert_array_equal(part, whole[np.ix_(some, others)])


def test_matrices_that_share_only_their_values_are_not_the_same():
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


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", [RBF(gamma=2.0), Laplacian(gamma=2.0)], ids=lambda k: k.name)
def test_equal_rows_are_at_exactly_one(kernel, layout, dtype):
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
@pytest.mark.parametrize("kernel", [RBF, Laplacian], ids=lambda k: k.name)
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
def test_rbf_of_anything_equals_the_reference(X, Z, gamma):
    K = RBF(gamma=gamma)(X, Z)
    np.testing.assert_allclose(K, reference(RBF(gamma=gamma), X, Z), rtol=0, atol=5e-5)
    assert ((K >= 0) & (K <= 1)).all()
    np.testing.assert_allclose(RBF(gamma=gamma)(csr(X), csr(Z)), K, rtol=0, atol=5e-5)


@pytest.mark.parametrize("layout", ["dense", "csr32"])
def test_overflowing_rows_do_not_poison_the_rest(layout):
    X = np.array([[1e300, -1e300], [1e300, -1e300], [1.0, 2.0], [3.0, 4.0]])
    K = RBF(gamma=0.5)(LAYOUTS[layout](X))
    np.testing.assert_allclose(K, [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, np.exp(-4)], [0, 0, np.exp(-4), 1]])


def test_nan_stays_nan():
    X = np.array([[np.nan, 0.0], [1.0, 2.0]])
    K = RBF(gamma=0.5)(X)
    np.testing.assert_array_equal(np.isnan(K), [[True, True], [True, False]])


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
def test_the_core_never_fills_a_copy_of_a_result(bad):
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


def test_the_door_says_what_it_cannot_take():
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
def test_nothing_in_nothing_out(kernel, layout):
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


def _child(queue):
    X = rows(600, 5)
    queue.put(_native.kernel_block(X, X, RBF(gamma=0.1), n_threads=2).tobytes())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_computes_too():
    X = rows(600, 5)
    K = _native.kernel_block(X, X, RBF(gamma=0.1), n_threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == K.tobytes()
    child.join(30)
    assert child.exitcode == 0


def test_ctrl_c_ends_a_product_of_hours():
    X, A = rows(4_000_000, 2, np.float32), np.ones((4_000_000, 1), np.float32)
    with pytest.raises(KeyboardInterrupt), interrupt_in_compiled_code():
        _native.kernel_matmul(X, X, A, RBF(gamma=0.1), n_threads=1)


def test_operators_make_kernels():
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
    with pytest.raises(ValueError, match=r"one of \['laplacian', 'linear', .*got 'rfb'"):
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
def test_what_is_no_gamma(gamma):
    with pytest.raises(ValueError, match=r"gamma must be a finite number > 0 or one of \['auto', 'median', "):
        RBF(gamma=gamma)


@pytest.mark.parametrize(
    "wrong", [np.array([1.0, 2.0]), True, 10**400, "3", np.nan], ids=lambda v: repr(v)[:20]
)
def test_what_is_no_degree_coef0_or_factor(wrong):
    with pytest.raises(ValueError, match="degree must be a finite number"):
        Polynomial(degree=wrong)
    with pytest.raises(ValueError, match="coef0 must be a finite number"):
        Sigmoid(coef0=wrong)
    with pytest.raises(ValueError, match="factor of a kernel must be a finite number > 0"):
        Scaled(wrong, Linear())


@pytest.mark.parametrize("wrong", [True, 10**400, -1.0], ids=lambda v: repr(v)[:20])
def test_what_no_kernel_is_multiplied_by(wrong):
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

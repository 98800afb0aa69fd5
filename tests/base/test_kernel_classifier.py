"""Prediction from support vectors in groups: the dense product, for any code, kernel and input."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from maxmargin import LaSVM, _native
from maxmargin._native.grouped import GroupedMatrix, columns_of_groups
from maxmargin.codes import Code, one_vs_one, one_vs_rest
from maxmargin.decoders import decoder_from_name
from maxmargin.kernels import RBF, Exponential, FromFunction, Laplacian, Linear, Precomputed, kernel_from_name

SHAPES = [(1, 3), (50, 5), (400, 16), (100, 150)]  # rows and features: one and several tiles, panels and BLAS


def rare_code(n_classes):
    """Class i and, at odds with it, the next two."""
    matrix = np.zeros((n_classes, n_classes), dtype=np.int8)
    for i, column in enumerate(matrix.T):
        column[[i, (i + 1) % n_classes, (i + 2) % n_classes]] = [1, -1, -1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Code(matrix)


CODES = [one_vs_one(7), one_vs_one(26), one_vs_rest(7), rare_code(8)]
codes = pytest.mark.parametrize("code", CODES, ids=lambda c: f"{c.name}{c.n_classes}")


def coefficients(code, labels, seed=0):
    """Half of the entries that the code allows."""
    rng = np.random.default_rng(seed)
    shape = (len(labels), code.n_columns)
    return np.where((code.matrix[labels] != 0) & (rng.random(shape) < 0.5), rng.normal(size=shape), 0.0)


def machine(points, coef, labels, code, kernel):
    model = LaSVM(code=code, n_jobs=2)
    model.kernel_, model.code_, model.decoder_ = kernel, code, decoder_from_name("auto", code)
    model.classes_, model.n_features_in_, model.status_ = np.arange(code.n_classes), points.shape[-1], "made"
    model._keep(points, coef, np.arange(len(coef)), labels)
    model.intercept_ = np.random.default_rng(9).normal(size=code.n_columns)
    return model


def problem(code, d=5, n_support=700, dtype=np.float64, seed=0):
    """Support vectors of all classes but the last two, with coefficients."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(code.n_classes - 2, size=n_support)
    return rng.normal(size=(n_support, d)).astype(dtype), coefficients(code, labels), labels


@codes
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "kernel", [RBF(0.1), Laplacian(0.1), Exponential(0.3), Linear()], ids=lambda k: k.name
)
def test_groups_give_the_dense_product(code, n, d, dtype, layout, kernel):
    Z, coef, labels = problem(code, d, dtype=dtype)
    model = machine(layout(Z), coef, labels, code, kernel)
    assert (model._groups is not None) == (code.name != "one-vs-rest")
    X = np.random.default_rng(1).normal(size=(n, d)).astype(dtype)
    X[:, d // 2] = 0.0
    expected = kernel(X.astype(float), Z.astype(float)) @ coef + model.intercept_
    scale = 1.0 + np.abs(expected).max()
    outputs = model._column_outputs(layout(X))
    assert outputs.dtype == np.float64
    assert_allclose(outputs, expected, rtol=0, atol=scale * (1e-12 if dtype == np.float64 else 2e-5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_threads_change_no_bit(dtype, layout, n, d):
    Z, coef, labels = problem(one_vs_one(7), d, 3000, dtype)
    model = machine(layout(Z), coef, labels, one_vs_one(7), RBF(0.1))
    X = layout(np.random.default_rng(1).normal(size=(n, d)).astype(dtype))
    one = model.set_params(n_jobs=1)._column_outputs(X)
    for n_jobs in (2, 3, 8):
        assert_array_equal(model.set_params(n_jobs=n_jobs)._column_outputs(X), one)


def test_support_vectors_are_kept_class_by_class():
    code = one_vs_one(7)
    Z, coef, labels = problem(code)
    coef[::3] = 0.0
    model = machine(Z, coef, labels, code, RBF(0.1))
    used = np.flatnonzero((coef != 0.0).any(axis=1))
    assert_array_equal(model.support_, sorted(used, key=lambda row: (labels[row], row)))
    assert_array_equal(model.support_vectors_, Z[model.support_])
    assert_array_equal(model.dual_coef_, coef[model.support_].T)
    assert model.n_support_ == len(used)
    assert_allclose(model._column_outputs(Z[:9]), RBF(0.1)(Z[:9], Z) @ coef + model.intercept_)


@codes
def test_no_support_vectors_at_all(code):
    Z, coef, labels = problem(code)
    model = machine(Z, 0.0 * coef, labels, code, RBF(0.1))
    assert model.n_support_ == 0
    assert_array_equal(model._column_outputs(Z[:3]), np.tile(model.intercept_, (3, 1)))


def test_without_labels_everything_stays_as_it_is():
    Z, coef, _ = problem(one_vs_one(7))
    coef[5] = 0.0
    model = machine(Z, coef, None, one_vs_one(7), RBF(0.1))
    assert model._groups is None
    assert_array_equal(model.support_vectors_, Z)
    assert_array_equal(model.dual_coef_, coef.T)


def test_a_column_outside_the_code_still_counts():
    code = one_vs_one(7)
    Z, coef, labels = problem(code)
    coef[:, 0] = 1.0
    model = machine(Z, coef, labels, code, RBF(0.1))
    assert model._groups is not None
    assert_allclose(model._column_outputs(Z[:9]), RBF(0.1)(Z[:9], Z) @ coef + model.intercept_)


def test_a_function_is_called_once_for_a_support_vector_and_a_row():
    seen = []

    def kernel(X, Z):
        seen.append((len(X), len(Z)))
        return RBF(0.1)(X, Z)

    code = one_vs_one(7)
    Z, coef, labels = problem(code)
    model = machine(Z, coef, labels, code, FromFunction(kernel))
    assert model._groups is not None
    assert_allclose(model._column_outputs(Z[:9]), RBF(0.1)(Z[:9], Z) @ coef + model.intercept_)
    assert seen == [(9, model.n_support_)]


@pytest.mark.parametrize(
    "kernel", [RBF(0.1) + Linear(), 2.0 * RBF(0.1), RBF(0.1) * Linear()], ids=lambda k: k.name
)
def test_sums_and_products_of_kernels(kernel):
    code = one_vs_one(7)
    Z, coef, labels = problem(code)
    model = machine(Z, coef, labels, code, kernel)
    assert_allclose(model._column_outputs(Z[:9]), kernel(Z[:9], Z) @ coef + model.intercept_, atol=1e-9)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_precomputed_kernels(layout):
    code = one_vs_one(7)
    Z, coef, labels = problem(code)
    model = machine(np.arange(len(Z)), coef, labels, code, Precomputed())
    assert model._groups is not None
    K = RBF(0.1)(Z[:9], Z)
    assert_allclose(model._column_outputs(layout(K)), K @ coef + model.intercept_, atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "callable"])
def test_a_fit_in_groups_survives_pickling(kernel):
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=240)
    X = rng.normal(size=(240, 4)) + 2.0 * rng.normal(size=(6, 4))[y]
    if kernel == "precomputed":
        X = RBF(0.5)(X)
    given = RBF(0.5).__call__ if kernel == "callable" else kernel
    model = LaSVM(code="one-vs-one", kernel=given, gamma=0.5, random_state=0).fit(X, y)
    assert model._groups is not None
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    if kernel != "precomputed":
        assert_array_equal(X[model.support_], model.support_vectors_)
        K = kernel_from_name("rbf", gamma=0.5)(X, model.support_vectors_)
        assert_allclose(model._column_outputs(X), K @ model.dual_coef_.T + model.intercept_, atol=1e-10)
    assert_array_equal(np.sort(y[model.support_]), y[model.support_])


def test_the_door_refuses_groups_that_do_not_fit():
    Z = np.zeros((4, 2))
    good = GroupedMatrix.cut(np.ones((4, 3)), np.array([0, 1, 1, 4]), np.ones((3, 3), dtype=bool))
    assert_array_equal(_native.kernel_grouped_matmul(Z, Z, good, RBF(1.0)), np.full((4, 3), 4.0))
    starts, columns, blocks = good.starts, good.columns, good.blocks
    for bad, match in [
        (GroupedMatrix(starts + 1, columns, blocks, 3), "must cover 4 rows"),
        (GroupedMatrix(starts[:-1], columns[:-1], blocks[:-1], 3), "must cover 4 rows"),
        (GroupedMatrix(starts, columns[:-1], blocks[:-1], 3), "must cover 4 rows"),
        (GroupedMatrix(starts, columns, [b[:, 1:] for b in blocks], 3), "each block of A"),
        (GroupedMatrix(np.array([0, 5, 4, 4]), columns, blocks, 3), "each block of A"),
    ]:
        with pytest.raises(ValueError, match=match):
            _native.kernel_grouped_matmul(Z, Z, bad, RBF(1.0))
    with pytest.raises(IndexError, match=r"columns must be within 0..1"):
        _native.kernel_grouped_matmul(Z, Z, GroupedMatrix(starts, columns, blocks, 2), RBF(1.0))


def test_columns_of_groups_are_those_with_an_entry():
    dense = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    used = columns_of_groups(dense, np.array([0, 2, 2, 3]))
    assert_array_equal(used, [[True, True, False], [False] * 3, [False] * 3])

"""The kernel matrix that all folds and gammas of a search share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    StratifiedKFold,
)
from support.path_searches import CS, EXACT, data, scores_of

from maxmargin import (
    KernelSVC,
    LeastSquaresClassifier,
    PathCV,
    _native,
)
from maxmargin.kernels import RBF, Exponential, Laplacian
from maxmargin.selection.held_kernel import HeldKernel


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Exponential])
@pytest.mark.parametrize("room", [10**9, 0], ids=["distances", "squares"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_held_values_equal_the_kernel(kernel, room, dtype):
    X = data(90, dtype=dtype)[0]
    index = np.random.default_rng(0).permutation(90)[:70]
    held = HeldKernel(X, index, 2, room)
    for gamma in (0.01, 0.02, 0.08, 0.1, 0.05):
        values = held.at(kernel(gamma), several=True)
        expected = kernel(gamma)(X[index])
        assert_allclose(values.X, expected, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=1e-7)
        A = np.random.default_rng(1).normal(size=(5, 2))
        rows, others = np.array([3, 1, 60]), np.array([0, 5, 9, 33, 69])
        some = expected[np.ix_(rows, others)].astype(float)
        assert_allclose(values.matmul(rows, others, A), some @ A, atol=1e-5)
        A, labels = np.random.default_rng(2).normal(size=(5, 4, 2)), np.array([2, 0, 2, 0, 3])
        A[labels == 0, 1:3] = A[labels == 2, 0] = 0.0  # columns that these labels take no part in
        outputs = values.products(rows, others, A, labels)
        assert_allclose(outputs, np.einsum("ij,jtk->itk", some, A), atol=1e-5)
        out = np.zeros((4, 7), dtype=dtype)
        values.fill(rows, others, (out, np.array([2, 0, 3]), 1))
        assert_allclose(out[[2, 0, 3], 1:6], some, atol=1e-5)
    computed = 1 if room and kernel is RBF else 3  # 0.1 and 0.05 are no doubles of what was there
    assert held.n_values == computed * 70**2


def test_rows_are_gathered_within_bounds_only():
    K, out, none = np.zeros((4, 4)), np.zeros((2, 3)), np.zeros(1, dtype=np.uint8)
    fine = {"which": [3], "columns": [0, 3], "slots": [1], "first": 1}
    for wrong in (
        {"which": [4]},
        {"which": [-1]},
        {"columns": [4]},
        {"slots": [2]},
        {"first": 2},
        {"slots": [0, 1]},
    ):
        which, columns, slots, first = (fine | wrong).values()
        with pytest.raises(ValueError, match="do not fit each other"):
            _native.gather_rows(K, *map(np.array, (which, columns)), out, np.array(slots), first, 1, none)


def test_threads_order_weights_and_sparse_rows_change_nothing():
    X, y = data(120, 3)
    X[np.abs(X) < 0.3] = 0.0
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    given = {"Cs": CS, "cv": 3, "random_state": 0}
    plain = PathCV(KernelSVC(), n_jobs=1, **given).fit(X, y, weight)
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(len(y)), weight))
    others = {
        "threads": PathCV(KernelSVC(), n_jobs=3, **given).fit(X, y, weight),
        "repeated": PathCV(KernelSVC(), **given).fit(X[rows], y[rows]),
    }
    for other in others.values():
        assert_array_equal(scores_of(other), scores_of(plain))
        assert_array_equal(other.decision_function(X), plain.decision_function(X))
    thin = PathCV(KernelSVC(), **given).fit(sparse.csr_array(X), y, weight)
    assert_allclose(scores_of(thin), scores_of(plain), atol=0.03)
    workers = PathCV(LeastSquaresClassifier(), Cs=CS, cv=3, n_jobs=2).fit(X, y, weight)
    alone = PathCV(LeastSquaresClassifier(), Cs=CS, cv=3).fit(X, y, weight)
    assert_array_equal(scores_of(workers), scores_of(alone))


def test_kernel_matrices_and_objects():
    X, y = data(90)
    splits = list(StratifiedKFold(3).split(X, y))
    plain = PathCV(clone(EXACT).set_params(gamma=0.1), Cs=CS, gammas="fixed", cv=splits).fit(X, y)
    K = rbf_kernel(X, gamma=0.1)
    matrix = PathCV(clone(EXACT).set_params(kernel="precomputed"), Cs=CS, cv=splits).fit(K, y)
    assert_array_equal(scores_of(matrix), scores_of(plain))
    assert_array_equal(matrix.predict(K), plain.predict(X))

    def by_number(left, right):
        return K[np.ix_([int(name) for name in left], [int(name) for name in right])]

    names = [str(k) for k in range(len(y))]
    objects = PathCV(clone(EXACT).set_params(kernel=by_number), Cs=CS, cv=splits).fit(names, y)
    assert_array_equal(scores_of(objects), scores_of(plain))
    dealt = PathCV(clone(EXACT).set_params(kernel="precomputed"), Cs=CS, cv=3).fit(K, y)
    assert dealt.n_splits_ == 3

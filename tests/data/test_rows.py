"""Canonical weighted data, and the products with rows that linear solvers use."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import _native
from maxmargin.data.rows import Rows, canonical

KINDS = {
    "dense": lambda X: np.ascontiguousarray(X),
    "csr-32": lambda X: sparse.csr_array(X),
    "csr-64": lambda X: _wide(sparse.csr_array(X)),
}


def _wide(S):
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def holey(seed, n=50, d=7, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return X.astype(dtype)


def multiset(data):
    """The canonical data as a sorted list of (row, label, weight)."""
    X = data.rows.X.toarray() if sparse.issparse(data.rows.X) else data.rows.X
    return [
        (X[i].tolist(), label, w) for i, label, w in zip(data.rows.index, data.labels.tolist(), data.weight)
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_products_equal_numpy(kind, dtype):
    X = holey(0, dtype=dtype)
    index = np.random.default_rng(1).permutation(50)[:31]
    rows, picked = Rows(KINDS[kind](X), index, 2), X[index].astype(np.float64)
    w, W, u = np.arange(7.0), np.arange(14.0).reshape(7, 2), np.linspace(-1, 1, 31)
    np.testing.assert_allclose(rows.dot(w), picked @ w, rtol=1e-14, atol=1e-13)
    np.testing.assert_allclose(rows.dot(W), picked @ W, rtol=1e-14, atol=1e-13)
    np.testing.assert_allclose(rows.sum(u), u @ picked, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rows.sqnorms(), (picked**2).sum(axis=1), rtol=1e-14)
    tol = 1e-5 if dtype is np.float32 else 1e-13
    weight = np.linspace(0.1, 2.0, 31)
    np.testing.assert_allclose(rows.gram(weight), picked.T * weight @ picked, rtol=tol, atol=tol)
    np.testing.assert_allclose(rows.products(), picked @ picked.T, rtol=tol, atol=tol)
    np.testing.assert_allclose(rows.compacted().dot(w), rows.dot(w))
    unknown = Rows(rows.X, index, 2)
    for same in (rows.take(slice(20)), rows.compacted().take(slice(20)), unknown.take(slice(20))):
        np.testing.assert_array_equal(same.sqnorms(), rows.sqnorms()[:20])


@pytest.mark.parametrize("kind", KINDS)
def test_products_have_the_same_bits_for_any_number_of_threads(kind):
    X, rng = KINDS[kind](holey(2, n=9000, d=30)), np.random.default_rng(3)
    index, u, w = rng.permutation(9000), rng.normal(size=9000), rng.normal(size=30)
    one = Rows(X, index, 1)
    for n_threads in (2, 4):
        many = Rows(X, index, n_threads)
        np.testing.assert_array_equal(many.dot(w), one.dot(w))
        np.testing.assert_array_equal(many.sum(u), one.sum(u))
        np.testing.assert_array_equal(many.gram(np.abs(u)), one.gram(np.abs(u)))


def test_fingerprints_see_values_only():
    X = holey(4)
    X[3, 2] = -0.0
    S = sparse.csr_array(X)
    prints = _native.hash_rows(X)
    np.testing.assert_array_equal(prints, _native.hash_rows(S))
    np.testing.assert_array_equal(prints, _native.hash_rows(_wide(sparse.csr_array(X)), 2))
    explicit = sparse.csr_array((np.array([1.0, 0.0]), np.array([0, 5]), np.array([0, 2])), shape=(1, 7))
    plain = sparse.csr_array((np.array([1.0]), np.array([0]), np.array([0, 1])), shape=(1, 7))
    np.testing.assert_array_equal(_native.hash_rows(explicit), _native.hash_rows(plain))
    single = X.astype(np.float32)
    np.testing.assert_array_equal(_native.hash_rows(single), _native.hash_rows(single.astype(np.float64)))
    assert len(np.unique(_native.hash_rows(np.eye(7)))) == 7
    assert _native.hash_rows(np.array([[1.0, 2.0]])) != _native.hash_rows(np.array([[2.0, 1.0]]))


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30))
def test_weights_equal_repetitions_and_order_does_not_matter(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 3)).astype(float)  # many duplicates
    labels, weight = rng.integers(0, 2, size=n), rng.integers(0, 4, size=n).astype(float)
    expected = canonical(X, labels, weight)
    repeats = np.repeat(np.arange(n), weight.astype(int))
    repeated = canonical(X[repeats], labels[repeats], np.ones(len(repeats)))
    shuffle = rng.permutation(n)
    shuffled = canonical(X[shuffle], labels[shuffle], weight[shuffle])
    thin = canonical(sparse.csr_array(X), labels, weight)
    assert multiset(repeated) == multiset(shuffled) == multiset(thin) == multiset(expected)
    pairs = [(tuple(row), label) for row, label, _ in multiset(expected)]
    assert len(set(pairs)) == len(pairs)
    assert expected.weight.sum() == weight.sum()


def test_merging_can_be_turned_off():
    X, labels = np.ones((4, 2)), np.zeros(4, dtype=int)
    assert len(canonical(X, labels, np.ones(4)).rows) == 1
    assert len(canonical(X, labels, np.array([1.0, 0.0, 1.0, 1.0]), merge_duplicates=False).rows) == 3


def test_equal_fingerprints_are_not_trusted(monkeypatch):
    monkeypatch.setattr(_native, "hash_rows", lambda X, n_threads=1: np.zeros(X.shape[0], dtype=np.uint64))
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    data = canonical(X, np.zeros(3, dtype=int), np.ones(3))
    assert sorted(multiset(data)) == [([0.0, 1.0], 0, 2.0), ([1.0, 0.0], 0, 1.0)]


def test_x_is_not_copied():
    X = holey(5)
    X.flags.writeable = False
    assert canonical(X, np.zeros(50, dtype=int), np.ones(50)).rows.X is X


def test_a_prefix_is_a_random_sample():
    X = np.sort(np.random.default_rng(6).normal(size=(4000, 1)), axis=0)
    data = canonical(X, np.zeros(4000, dtype=int), np.ones(4000))
    first = X[data.rows.index[:1000], 0]
    assert abs(first.mean()) < 5 / np.sqrt(1000)
    assert abs(np.mean(first > 0) - 0.5) < 5 * 0.5 / np.sqrt(1000)


def test_the_door_refuses_what_the_core_cannot_take():
    X = holey(7)
    with pytest.raises(TypeError, match="C-contiguous"):
        _native.hash_rows(np.asfortranarray(X))
    with pytest.raises(TypeError, match="float32 or float64"):
        _native.hash_rows(X.astype(int))
    unsorted = sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(TypeError, match="sorted"):
        _native.hash_rows(unsorted)
    rows = Rows(X, np.arange(50))
    with pytest.raises(ValueError, match="do not fit"):
        rows.dot(np.zeros(3))
    with pytest.raises(ValueError, match="do not fit"):
        rows.sum(np.zeros(3))
    with pytest.raises(IndexError, match="does not exist"):
        Rows(X, np.array([50])).dot(np.zeros(7))


@pytest.mark.parametrize("kind", KINDS)
def test_gram_about_the_mean(kind):
    X = holey(8) + (0.0 if kind != "dense" else 1e4)
    rows, weight = Rows(KINDS[kind](X), np.arange(50)), np.linspace(0.1, 2.0, 50)
    mean = rows.mean(weight)
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weight), rtol=1e-12)
    centred = X - mean
    np.testing.assert_allclose(rows.gram(weight, mean), centred.T * weight @ centred, rtol=1e-8, atol=1e-8)


def test_a_cancel_ends_products():
    cancel = np.ones(1, dtype=np.uint8)
    X = np.random.default_rng(0).normal(size=(40_000, 300))
    rows = Rows(X, np.arange(len(X)), 1, cancel)
    with pytest.raises(RuntimeError, match="cancelled"):
        rows.gram(np.ones(len(X)))
    with pytest.raises(RuntimeError, match="cancelled"):
        Rows(X, np.arange(10), 1, cancel).products()

"""The sample of the first pass: the same rows however they are cut into blocks."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.methods.blocks import ThreadPasses, source_of
from maxmargin.methods.blocks.sample import MIN_ROWS_PER_CLASS, LookTask, look
from maxmargin.solving import Deadline


def looked(blocks, n_rows=50, seed=3, n_threads=1):
    return ThreadPasses(source_of(blocks), n_threads, Deadline()).run(look, LookTask(n_rows, seed))


def rows_of(found):
    X = found.X.toarray() if sparse.issparse(found.X) else found.X
    return sorted(zip(map(tuple, X.tolist()), found.y.tolist(), found.weight.tolist()))


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[rng.choice(3, size=n, p=[0.6, 0.38, 0.02])]
    return rng.normal(size=(n, 3)).round(1), y, rng.integers(0, 4, size=n).astype(float)


@given(cuts=st.lists(st.integers(0, 400), max_size=6), seed=st.integers(0, 1000), shuffled=st.booleans())
def test_blocks_and_order_change_neither_sample_nor_classes(cuts, seed, shuffled):
    X, y, w = table(seed=1)
    if shuffled:
        order = np.random.default_rng(seed).permutation(len(y))
        X, y, w = X[order], y[order], w[order]
    edges = [0, *sorted(cuts), len(y)]
    blocks = [(X[a:b], y[a:b], w[a:b]) for a, b in itertools.pairwise(edges)]
    found, whole = looked(blocks), looked([table(seed=1)])
    assert rows_of(found) == rows_of(whole)
    assert found.counts == whole.counts
    assert found.classes.tolist() == ["a", "b", "c"]
    assert found.n_rows == np.count_nonzero(w)


def test_rare_classes_are_in_every_sample():
    X, y, w = table(3000)
    found = looked([(X, y, w)], n_rows=30)
    rare = np.count_nonzero((y == "c") & (w > 0))
    assert np.count_nonzero(found.y == "c") == min(rare, MIN_ROWS_PER_CLASS)


def test_sampled_classes_weigh_what_all_their_rows_weigh():
    X, y, w = table(3000)
    found = looked([(X[:1000], y[:1000], w[:1000]), (X[1000:], y[1000:], w[1000:])], n_rows=200)
    weight = found.sample_weight()
    for label in "abc":
        there = weight[found.y == label].sum() / weight.sum()
        assert there == pytest.approx(w[y == label].sum() / w.sum())
    assert weight.mean() == pytest.approx(1.0)


def test_a_row_is_drawn_in_proportion_to_its_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 2)), np.zeros(20_000)
    w = np.where(np.arange(20_000) < 10_000, 3.0, 1.0)
    found = looked([(X, y, w)], n_rows=1000)
    share = np.count_nonzero(found.weight == 3.0) / len(found.y)
    assert share == pytest.approx(0.75, abs=0.05)


def test_dense_and_sparse_rows_give_the_same_sample():
    X, y, w = table()
    assert rows_of(looked([(sparse.csr_array(X), y, w)])) == rows_of(looked([(X, y, w)]))


def test_unlike_blocks_are_refused():
    X, y, _ = table()
    with pytest.raises(ValueError, match="blocks have 3 and 2 features"):
        looked([(X, y), (X[:, :2], y)])
    with pytest.raises(ValueError, match="ndarray of float64 and ndarray of float32"):
        looked([(X, y), (X.astype(np.float32), y)])

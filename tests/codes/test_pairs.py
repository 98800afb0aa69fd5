"""One-vs-one without a stored matrix is the code that the matrix describes."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from maxmargin import _native
from maxmargin.codes import Code, PairCode, one_vs_one


@pytest.mark.parametrize("n_classes", [2, 3, 7, 40])
def test_it_equals_the_code_with_its_matrix(n_classes):
    code = one_vs_one(n_classes)
    same = Code(code.matrix.copy(), "one-vs-one")
    assert code == same
    assert same == code
    assert hash(code) == hash(same)
    assert code != one_vs_one(n_classes + 1)
    assert code != Code(code.matrix.copy(), "another")
    assert (code.n_classes, code.n_columns) == same.matrix.shape
    assert np.array_equal(code.n_columns_of_classes, same.n_columns_of_classes)
    labels = np.random.default_rng(0).integers(0, n_classes, 50)
    for t in range(code.n_columns):
        first, second = code.pair(t)
        assert (same.matrix[first, t], same.matrix[second, t]) == (-1, 1)
        for mine, its in zip(code.column(labels, t), same.column(labels, t)):
            assert np.array_equal(mine, its)
            assert mine.dtype == its.dtype
    for c, columns in enumerate(code.columns_of_classes):
        assert np.array_equal(columns, np.flatnonzero(same.matrix[c]))
    some = np.arange(code.n_columns)[:: max(1, code.n_columns // 3)]
    assert np.array_equal(code.part(some).matrix, same.part(some).matrix)


def test_copies_and_pickles_have_no_matrix():
    code = one_vs_one(300)
    assert code.matrix.shape == (300, 44850)
    assert len(pickle.dumps(code)) < 200
    assert pickle.loads(pickle.dumps(code)) == code
    assert copy.deepcopy(code) is code
    assert repr(code) == "PairCode(n_classes=300)"
    assert not code.matrix.flags.writeable


def test_pairs_of_a_thousand_classes():
    code = PairCode(1000)
    for t in (0, 998, 999, 1996, 250_000, code.n_columns - 1):
        assert code.pair(t) == tuple(code.pairs[:, t])


def test_sums_of_pairs_are_those_of_the_matrix():
    code, F = one_vs_one(9), np.random.default_rng(0).normal(size=(70, 36))
    F[3] *= 1e305
    F[4, :5] = 0.0
    for mine, its in zip(_native.pair_sums(F, 9), _native.code_sums(F, code.matrix)):
        assert np.array_equal(mine, its)
    with pytest.raises(ValueError, match="must have 36 columns"):
        _native.pair_sums(F[:, 1:], 9)


def test_order_of_scores():
    scores = np.array(
        [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [1.0, 1.0, 2.0], [np.nan, 1.0, 2.0], [1.0, 2.0, 3.0]]
    )
    first = np.array([[1.0, 1.0, 2.0], [2.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    second = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 9.0]])
    assert _native.are_ordered(scores, first, second).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("n_classes", [2, 3, 6, 7, 12])
def test_order_of_scores_by_definition(n_classes):
    """Few classes are compared in pairs, more are sorted."""
    rng = np.random.default_rng(n_classes)
    first = rng.integers(0, 3, size=(200, n_classes)).astype(float)
    second = rng.integers(0, 40, size=(200, n_classes)).astype(float)
    scores = 100.0 * first + second
    wrong = rng.random(200) < 0.5
    scores[wrong, -1] = scores[wrong, 0] + rng.integers(-1, 2, size=wrong.sum())
    expected = []
    for s, a, b in zip(scores.tolist(), first.tolist(), second.tolist()):
        keys = list(zip(a, b))
        order = sorted(range(n_classes), key=lambda k, s=s: s[k])
        ties = any(s[i] == s[j] for i, j in itertools.pairwise(order))
        expected.append(not ties and all(keys[i] < keys[j] for i, j in itertools.pairwise(order)))
    assert _native.are_ordered(scores, first, second).tolist() == expected
    assert len(set(expected)) == 2

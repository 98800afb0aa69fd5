"""Codes have the distances SPEC 5 gives them, and a matrix that cannot work is refused."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from support.code_strategies import usable_codes

from maxmargin.codes import CODES, Code, code_from_name, one_vs_one, one_vs_rest

FAMILIES = pytest.mark.parametrize("family", CODES.values(), ids=CODES.keys())


def distance(a, b):
    return sum((1 - int(x) * int(y)) / 2 for x, y in zip(a, b))


@pytest.mark.parametrize("n_classes", range(3, 13))
def test_sizes_and_distances_are_those_of_the_formulas(n_classes):
    G = n_classes
    ovo, ovr = one_vs_one(G), one_vs_rest(G)
    assert (ovo.n_classes, ovo.n_columns, ovo.minimum_distance) == (G, G * (G - 1) // 2, (G * G - G + 2) / 4)
    assert (ovr.n_classes, ovr.n_columns, ovr.minimum_distance) == (G, G, 2)
    assert_array_equal(ovo.row_margins(), 1)
    assert_array_equal(ovr.row_margins(), 2)


@FAMILIES
def test_two_classes_take_one_column_with_the_second_class_positive(family):
    assert_array_equal(family(2).matrix, [[-1], [1]])
    with pytest.raises(ValueError, match="at least 2 classes; got 1"):
        family(1)


def test_pairs_come_in_order_with_the_second_class_positive():
    pairs = [(np.flatnonzero(c == -1)[0], np.flatnonzero(c == 1)[0]) for c in one_vs_one(5).matrix.T]
    assert pairs == list(itertools.combinations(range(5), 2))
    assert_array_equal(np.abs(one_vs_one(5).matrix).sum(axis=0), 2)


def test_one_vs_rest_column_is_its_class_against_the_rest():
    assert_array_equal(one_vs_rest(4).matrix, [[1 if g == t else -1 for t in range(4)] for g in range(4)])


@given(code=usable_codes())
def test_distances_equal_their_definitions(code):
    rows = code.matrix.tolist()
    pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if a != b]
    assert code.minimum_distance == min(distance(rows[a], rows[b]) for a, b in pairs)
    for y, r in enumerate(code.row_margins()):
        assert r == min(
            sum(c * d == -1 for c, d in zip(rows[y], rows[z])) + (rows[z].count(0) - rows[y].count(0)) / 2
            for x, z in pairs
            if x == y
        )


@given(matrix=arrays(np.int8, st.tuples(st.integers(2, 4), st.integers(1, 5)), elements=st.integers(-1, 1)))
@pytest.mark.filterwarnings("ignore:Code 'user' cannot tell")
def test_exactly_the_usable_matrices_are_accepted(matrix):
    columns = [tuple(c) for c in matrix.T.tolist()]
    usable = all({-1, 1} <= set(c) for c in columns)
    usable &= len({frozenset([c, tuple(-v for v in c)]) for c in columns}) == len(columns)
    usable &= len({tuple(r) for r in matrix.tolist()}) == len(matrix)
    if usable:
        assert_array_equal(Code(matrix).matrix, matrix)
    else:
        with pytest.raises(ValueError):
            Code(matrix)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, -1], r"shape \(n_classes >= 2, n_columns >= 1\); got an array of shape \(2,\)"),
        ([[1, -1]], r"got an array of shape \(1, 2\)"),
        (np.zeros((3, 0)), r"got an array of shape \(3, 0\)"),
        ([[1, -1], [2, 1]], r"entries of a code matrix are -1, 0 or \+1; got \[2\]"),
        ([[1.0], [np.nan]], r"got \[nan\]"),
        ([[257], [-1]], r"got \[257\]"),
        ([["a"], ["b"]], "entries of a code matrix"),
        ([[1, 1], [-1, 1], [0, 0]], r"needs both signs; columns \[1\] do not"),
        ([[1, -1], [-1, 1], [0, 0]], "Columns 0 and 1 of a code are equal or complementary"),
        ([[0, 1, 0], [1, 1, 1], [-1, -1, -1]], "Columns 0 and 2"),
        ([[1, 1], [-1, 0], [0, -1], [1, 1]], "Rows 0 and 3 of a code are equal"),
    ],
)
def test_an_unusable_matrix_is_refused_with_the_reason(matrix, message):
    with pytest.raises(ValueError, match=message):
        Code(matrix)


def test_a_code_that_perfect_columns_cannot_decode_is_warned_about():
    # Whatever the one column says of class 2, it is nearer to another row.
    with pytest.warns(UserWarning, match=r"Code 'short' cannot tell classes \[2\]") as caught:
        Code([[1], [-1], [0]], "short")
    assert caught[0].filename == __file__


def test_column_and_targets_spell_the_same_problems():
    labels = np.array([2, 0, 1, 1, 0, 2])
    for code in (one_vs_one(3), one_vs_rest(3)):
        targets = code.targets(labels)
        assert targets.dtype == np.int8
        assert targets.shape == (6, code.n_columns)
        for t in range(code.n_columns):
            rows, y = code.column(labels, t)
            assert_array_equal(rows, np.flatnonzero(targets[:, t]))
            assert_array_equal(y, targets[rows, t])
            assert y.dtype == np.float64
    rows, y = one_vs_one(3).column(labels, 1)
    assert_array_equal(rows, [0, 1, 4, 5])
    assert_array_equal(y, [1, -1, -1, 1])


def test_a_code_never_changes():
    given_matrix = np.array([[1.0], [-1.0]])
    code = Code(given_matrix)
    given_matrix[0, 0] = -1
    for same in (code, copy.deepcopy(code), copy.copy(code), pickle.loads(pickle.dumps(code))):
        assert same == code
        assert hash(same) == hash(code)
        assert_array_equal(same.matrix, [[1], [-1]])
        with pytest.raises(ValueError, match="read-only"):
            same.matrix[0, 0] = 0
    assert code != Code([[-1], [1]])
    assert code != "user"


def test_names():
    assert code_from_name("one-vs-one", 4) == one_vs_one(4)
    assert code_from_name("one-vs-rest", 4) == one_vs_rest(4)
    code = Code([[1], [-1]])
    assert code_from_name(code, 2) is code
    with pytest.raises(ValueError, match="rows for 2 classes, but there are 3"):
        code_from_name(code, 3)
    for wrong in ("ovo", None, ["one-vs-one"]):
        with pytest.raises(
            ValueError, match=r"code must be a Code or one of \['dense-random', 'designed'.*; got "
        ):
            code_from_name(wrong, 3)

"""LIBSVM text: round trips in any pieces, compared with scikit-learn, errors with line and column."""

import json
import os
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from support.text_files import in_pieces, read, written

from maxmargin.io import DataFormatError, Source, open_source, read_all

DATA = os.environ.get("MAXMARGIN_DATA")
finite = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(
    st.tuples(st.integers(-9, 9), st.dictionaries(st.integers(0, 40), finite, max_size=6)), min_size=1
)


@settings(max_examples=100)
@given(
    rows=rows,
    zero_based=st.booleans(),
    n_bytes=st.integers(1, 90),
    n_rows=st.integers(1, 5),
    end=st.sampled_from(["\n", " # c\r\n"]),
)
def test_round_trip_in_any_pieces(tmp_path_factory, rows, zero_based, n_bytes, n_rows, end):
    lines = []
    for label, entries in rows:
        pairs = [f"{index + (not zero_based)}:{entries[index]!r}" for index in sorted(entries)]
        lines.append(" ".join([f"{label:+d}", *pairs]))
    path = written(tmp_path_factory.getbasetemp(), end.join([*lines, ""]), "round_trip.svm")
    with in_pieces(n_bytes):
        source = open_source(path, zero_based=zero_based)
        blocks, whole = list(source.blocks(n_rows)), read_all(open_source(path, zero_based=zero_based))
    assert [block.first_row for block in blocks] == list(range(0, len(rows), n_rows))
    X = sparse.vstack([block.features for block in blocks]).tocsr()
    assert X.shape == whole.features.shape == (len(rows), source.n_features)
    assert source.n_features == 1 + max((index for _, entries in rows for index in entries), default=-1)
    for i, (label, entries) in enumerate(rows):
        for matrix, target in (
            (X, np.concatenate([b.target for b in blocks])),
            (whole.features, whole.target),
        ):
            assert target[i] == label
            row = slice(matrix.indptr[i], matrix.indptr[i + 1])
            assert matrix.indices[row].tolist() == sorted(entries)
            expected = np.array([entries[index] for index in sorted(entries)])
            np.testing.assert_array_equal(matrix.data[row].view(np.int64), expected.view(np.int64))


def test_scikit_learn_reads_and_writes_the_same(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random(50, 30, 0.2, format="csr", random_state=0)
    y = rng.integers(0, 3, 50)
    path = tmp_path / "data.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=False, comment="made by scikit-learn")
    block = read_all(open_source(path))
    expected, labels = load_svmlight_file(str(path), zero_based=False)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(block.features, part), getattr(expected, part))
    np.testing.assert_array_equal(block.target, labels)
    assert block.target.dtype == np.int64
    assert block.features.indices.dtype == block.features.indptr.dtype == np.int32


@pytest.mark.skipif(DATA is None, reason="MAXMARGIN_DATA names no folder")
@pytest.mark.parametrize(("text", "part"), [("a9a.bz2", "train"), ("a9a.t.bz2", "test")])
def test_a9a_equals_its_arrays(text, part):
    source = open_source(Path(DATA) / text, n_features=123)
    assert isinstance(source, Source)
    block = read_all(source)
    arrays = read_all(open_source(Path(DATA) / "a9a.npz", data=f"X_{part}"))
    np.testing.assert_array_equal(block.target, arrays.target)
    assert (block.features != arrays.features).nnz == 0
    assert next(source.blocks(20_000)).n_rows == min(20_000, block.n_rows)


def test_labels_are_integers_if_all_are_whole_numbers(tmp_path):
    for text, labels in (
        ("+1\n-1 1:2\n3.0\n", [1, -1, 3]),
        ("1\n2.5\n", ["1", "2.5"]),
        ("a\n1\n", ["a", "1"]),
    ):
        source, block = read(tmp_path, text, name="data.svm", n_bytes=3)
        assert block.target.tolist() == labels
        assert [label for part in source.blocks(1) for label in part.target.tolist()] == labels
    options = json.loads(json.dumps(source.options()))
    assert options["kinds"] == {"label": "words"}
    path = written(tmp_path, "7 2:1\n", "other.txt")
    with pytest.raises(DataFormatError, match="'2:1' is outside the 0 features"):
        read_all(open_source(path, **options))
    assert read_all(open_source(path, **{**options, "n_features": 5})).target.tolist() == ["7"]
    with pytest.raises(DataFormatError, match=r"the label 'x' is not an integer.*kinds="):
        read(tmp_path, "x 1:1\n", name="data.svm", kinds={"label": "number"})


def test_unknown_endings_are_recognised_by_the_first_line(tmp_path):
    assert open_source(written(tmp_path, "# c\n1 3:4 5:6 # d\n", "a9a")).n_features == 5
    assert open_source(written(tmp_path, "a,b\n3:4,5\n", "adult.data")).n_features == 2
    long = "1 " + " ".join(f"{index}:0.123456789" for index in range(1, 10_001))
    assert open_source(written(tmp_path, long, "long")).n_features == 10_000


ENTRIES = [
    ("0:1", 3, "'0:1': indices begin with 1; .*\\(zero_based=True\\)"),
    ("-1:1", 3, "'-1:1' has a negative index; indices are 1, 2"),
    ("4294967297:1", 3, "too large; at most 2147483647"),
    ("18446744073709551616:1", 3, "too large"),
    ("2:1 1:1", 7, "smaller than the one before; sort"),
    ("2:1 2:1", 7, "appears twice"),
    ("1:nan", 3, "the value of '1:nan' is not a number"),
    ("1:inf", 3, "'1:inf' is not a finite number"),
    ("1:1e400", 3, "'1:1e400' is not a finite number"),
    ("1:1 \0", 7, r"a NUL byte \(byte 12 of the text\)"),
    ("1:1 \xff", 7, "0xC3|not UTF-8"),
    ("1", 3, "'1' has no colon"),
    ("x:1", 3, "the index of 'x:1' is not an integer"),
    ("1.5:1", 3, "the index of '1.5:1' is not an integer"),
    ("1:", 3, "the value of '1:' is not a number"),
    ("qid:4 1:2", 3, "'qid:4': ranking data"),
]


@pytest.mark.parametrize("n_bytes", [None, 1])
@pytest.mark.parametrize(("entry", "column", "message"), ENTRIES)
def test_a_malformed_entry_is_located(tmp_path, entry, column, message, n_bytes):
    text = f"1 1:1\n2 {entry}\n".encode("latin-1")
    with pytest.raises(DataFormatError, match=rf"data\.svm, line 2, column {column}: .*({message})"):
        read(tmp_path, text, name="data.svm", n_bytes=n_bytes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows"),
        ("# only\n\n", "no rows"),
        ("1:2 3:4\n", "line 1, column 1: '1:2' is where the label should be"),
        ("1,2 3:4\n", "line 1, column 1: '1,2' are several labels"),
        ("\nNA 3:4\n", "line 2, column 1: the label is missing"),
        ("1 1:" + "1" * 3000, "line 1: .*longer than 2,000 bytes"),
    ],
)
def test_a_malformed_line_is_located(tmp_path, text, message):
    with pytest.raises(DataFormatError, match=rf"data\.svm.*{message}"):
        read(tmp_path, text, name="data.svm", max_row_bytes=2000)


def test_blocks_have_a_limited_number_of_entries(tmp_path, monkeypatch):
    from maxmargin.io.readers import libsvm

    monkeypatch.setattr(libsvm, "MAX_BLOCK_ENTRIES", 10)
    path = written(tmp_path, "1 1:1 2:2 3:3\n" * 20, "data.svm")
    assert [block.n_rows for block in open_source(path).blocks()] == [4] * 5

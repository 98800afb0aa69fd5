"""CSV: round trips in any pieces and blocks, compared with pandas and with the raw Adult files."""

import bz2
import gzip
import io
import json
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from support.text_files import csv_text, decoded, in_pieces, quoted, read, written

from maxmargin.io import DEFAULT_MISSING, Column, DataFormatError, Source, open_source, read_all
from maxmargin.io.readers import table

DATA = os.environ.get("MAXMARGIN_DATA")
ADULT = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"]
ADULT += [
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
words |= st.text('",;\t\r\n \u00e9', max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False)
shown = st.sampled_from([repr, "{:.17e}".format, "{:+.17g}".format])


@st.composite
def tables(draw):
    """A number and a text in every row, and how the number is written."""
    rows = draw(st.lists(st.tuples(numbers, words, shown), min_size=1, max_size=6))
    return [(value, word, show(value)) for value, word, show in rows]


@settings(max_examples=150, deadline=None)
@given(
    table=tables(),
    delimiter=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    n_bytes=st.integers(1, 70),
    n_rows=st.integers(1, 4),
)
def test_round_trip_in_any_pieces_and_blocks(tmp_path_factory, table, delimiter, end, n_bytes, n_rows):
    path = tmp_path_factory.getbasetemp() / "round_trip.csv"
    rows = [(text, word, word + "x") for _, word, text in table]
    path.write_bytes(csv_text(["number", "w,\n;", "y"], rows, delimiter=delimiter, end=end).encode())
    with in_pieces(n_bytes):
        source = open_source(
            path, target="y", delimiter=delimiter, kinds={"w,\n;": "words"}, missing=["none"]
        )
        blocks = list(source.blocks(n_rows))
    assert [block.first_row for block in blocks] == list(range(0, len(table), n_rows))
    values = np.concatenate([block.features["number"] for block in blocks])
    np.testing.assert_array_equal(
        values.view(np.int64), np.array([value for value, _, _ in table]).view(np.int64)
    )
    found = [word for block in blocks for word in decoded(block.features["w,\n;"])]
    assert found == [None if word == "none" else word for _, word, _ in table]
    assert [label for block in blocks for label in block.target.tolist()] == [
        word + "x" for _, word, _ in table
    ]


@settings(max_examples=30, deadline=None)
@given(n_bytes=st.integers(1, 400), seed=st.integers(0, 1000))
def test_pandas_reads_the_same(tmp_path_factory, n_bytes, seed):
    rng = np.random.default_rng(seed)
    choice = ["", " ", "NA", "a b", "é", '"q"', '"a,b"', '"c\nd"', '"e""f"', "x"]
    rows = [
        f"{rng.normal():.{rng.integers(0, 17)}e},{rng.choice(choice)},{rng.choice(['', '3', '-4.5', 'NA'])}"
        for _ in range(rng.integers(1, 20))
    ]
    text = "a,b,c\n" + "\n".join(rows)
    _, block = read(
        tmp_path_factory.getbasetemp(), text, n_bytes=n_bytes, kinds={"b": "words"}, missing=["", "NA"]
    )
    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, na_values=["", "NA"])
    for name in "ac":
        expected = [float("nan") if pd.isna(value) else float(value) for value in frame[name]]
        np.testing.assert_array_equal(block.features[name], expected)
    expected = [None if pd.isna(word) or not word.strip() else word for word in frame["b"]]
    assert decoded(block.features["b"]) == expected


def test_blanks_blank_lines_and_quotes(tmp_path):
    text = '\n  \n a , "b ""c""" \n 1 , x y \n\n"2" ," z "\n   \n'
    source, block = read(tmp_path, "\ufeff" + text)
    assert source.columns == (Column("a", "number"), Column('b "c"', "words"))
    assert block.features["a"].tolist() == [1, 2]
    assert decoded(block.features['b "c"']) == ["x y", " z "]


def test_a_row_of_tabs_is_a_row_of_missing_values(tmp_path):
    _, block = read(tmp_path, "a\tb\n\t\n1\t 2 \n", name="data.tsv")
    np.testing.assert_array_equal(block.features["a"], [np.nan, 1])
    np.testing.assert_array_equal(block.features["b"], [np.nan, 2])


@pytest.mark.parametrize(
    ("text", "delimiter"), [("a;b,c;d\n1;2;3\n", ";"), ("a\tb\n1\t2\n", "\t"), ("a\n1\n", ",")]
)
def test_the_delimiter_is_guessed_from_the_header(tmp_path, text, delimiter):
    source, _ = read(tmp_path, text)
    assert source.options()["delimiter"] == delimiter


def test_missing_values_can_be_declared(tmp_path):
    text = "a,b,y\n" + "".join(f"{quoted(word)},{quoted(word)},1\n" for word in DEFAULT_MISSING) + "1,w,2\n"
    _, block = read(tmp_path, text, target="y")
    assert np.isnan(block.features["a"][:-1]).all()
    assert block.features["b"].codes.tolist() == [-1] * len(DEFAULT_MISSING) + [0]
    source, block = read(tmp_path, "a,y\n-999,NA\n1,b\n", target="y", missing=["-999"])
    np.testing.assert_array_equal(block.features["a"], [np.nan, 1])
    assert block.target.tolist() == ["NA", "b"]
    assert source.options()["missing"] == ["-999"]


def test_a_later_row_can_decide_the_kind_of_a_column(tmp_path):
    rows = ["1,5,7"] * 3000 + ["2,x,8", "3,6,1e400", "4,6,z"]
    text = "a,b,c\n" + "\n".join(rows)
    source, block = read(tmp_path, text, n_bytes=1000)  # by read_all
    with in_pieces(1000):
        other = open_source(tmp_path / "data.csv")  # by a first pass
        parts = list(other.blocks(700))
    expected = (Column("a", "number"), Column("b", "words"), Column("c", "words"))
    assert source.columns == other.columns == expected
    assert decoded(block.features["b"])[-4:] == ["5", "x", "6", "6"]
    joined = np.concatenate([part.features["a"] for part in parts])
    np.testing.assert_array_equal(block.features["a"], joined)
    assert [word for part in parts for word in decoded(part.features["c"])] == decoded(block.features["c"])


def test_declared_kinds_are_enforced(tmp_path):
    source, block = read(tmp_path, "zip,n\n0123,1\n", kinds={"zip": "words"})
    assert decoded(block.features["zip"]) == ["0123"]
    assert source.options()["kinds"] == {"zip": "words", "n": "number"}
    with pytest.raises(
        DataFormatError, match=r"line 3, column 2 \('n'\): 'x' is not a number, but the column is numeric"
    ):
        read(tmp_path, "zip,n\n0123,1\n4,x\n", kinds={"n": "number"})


def test_options_read_another_file_the_same_way(tmp_path):
    source, _ = read(tmp_path, "1;a;7\n2;b;?\n", names=["u", "v", "w"], target=-2)
    options = json.loads(json.dumps(source.options()))
    other = open_source(written(tmp_path, "3;b;x\n", "other.csv"), **options)
    with pytest.raises(DataFormatError, match=r"other.csv, line 1, column 3 \('w'\)"):
        list(other.blocks())
    assert other.target == "v"
    assert isinstance(source, Source)


def test_targets_by_name_and_position(tmp_path):
    for target in ("y", "2", 2, -1):
        source, block = read(tmp_path, "a,b,y\n1,2,k\n", target=target)
        assert source.target == "y"
        assert source.names == ("a", "b", "y")
        assert block.target.tolist() == ["k"]
        assert list(block.features) == ["a", "b"]
    source, block = read(tmp_path, "1,2\n3,4\n", header=False, target=0)
    assert source.columns == (Column("1", "number"),)
    assert block.target.tolist() == ["1", "3"]
    source, block = read(tmp_path, "a,b\n3,4\n", header=True, names=["c", "d"])
    assert [column.name for column in source.columns] == ["c", "d"]
    assert block.n_rows == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_text_is_read_whatever_its_name(tmp_path, pack):
    text = "a,y\n" + "".join(f"{i},c{i % 3}\n" for i in range(5000))
    _, block = read(tmp_path, pack(text[:20000].encode()) + pack(text[20000:].encode()), target="y")
    assert block.features["a"].tolist() == list(range(5000))


@pytest.mark.skipif(DATA is None, reason="MAXMARGIN_DATA names no folder")
@pytest.mark.parametrize(
    ("name", "counts"),
    [("adult.data.gz", {"<=50K": 24720, ">50K": 7841}), ("adult.test.gz", {"<=50K": 12435, ">50K": 3846})],
)
def test_adult_as_published(name, counts):
    source = open_source(Path(DATA) / name, names=ADULT, target="income")
    block = read_all(source)
    assert Counter(block.target.tolist()) == counts
    frame = pd.read_csv(Path(DATA) / name, names=ADULT, skipinitialspace=True, na_values="?")
    for column in source.columns:
        values, expected = block.features[column.name], frame[column.name]
        if column.kind == "number":
            np.testing.assert_array_equal(values, expected.to_numpy(float))
        else:
            assert decoded(values) == [None if pd.isna(word) else word for word in expected]
    assert [column.kind for column in source.columns].count("words") == 8
    assert sum(part.n_rows for part in source.blocks(1000)) == block.n_rows


def test_memory_does_not_grow_with_the_file(tmp_path):
    row = ",".join(f"{j}.25" for j in range(50)) + "\n"
    header = ",".join(f"c{j}" for j in range(50)) + "\n"
    path = written(tmp_path, header + row * 60_000)  # 17 MB, and 24 MB of doubles
    source = open_source(path)
    tracemalloc.start()
    n_rows = sum(block.n_rows for block in source.blocks(2000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_rows == 60_000
    assert peak < 6 << 20


def test_blocks_of_wide_rows_are_shorter(tmp_path):
    text = "a,b\n" + "1,2\n" * 100
    path = written(tmp_path, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "MAX_BLOCK_BYTES", 160)
        sizes = [block.n_rows for block in open_source(path).blocks()]
    assert sizes == [10] * 10

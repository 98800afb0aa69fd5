"""Parquet and npz: types, missing values, blocks; files with false headers are refused."""

import io
import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from soak import hostile_parquet
from support.text_files import decoded

from maxmargin.io import Column, DataFormatError, open_source, read_all
from maxmargin.io.readers import text as pieces

DATA = os.environ.get("MAXMARGIN_DATA")
ODD = hostile_parquet.cases()


def parquet(folder, columns, **options):
    path = folder / "data.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_parquet_numbers_strings_dictionaries_nulls_and_booleans(tmp_path):
    path = parquet(
        tmp_path,
        {
            "i": pa.array([1, None, 3, 4], pa.int16()),
            "f": pa.array([0.5, float("nan"), None, -1.5], pa.float32()),
            "b": [True, False, None, True],
            "s": ["x", None, "y", "x"],
            "d": pa.array(["p", "q", None, "q"]).dictionary_encode(),
            "n": pa.nulls(4),
            "y": ["no", "yes", "no", "no"],
        },
        row_group_size=2,
    )
    source = open_source(path, target="y")
    kinds = ["number", "number", "number", "words", "words", "number"]
    assert source.columns == tuple(Column(name, kind) for name, kind in zip("ifbsdn", kinds))
    block = read_all(source)
    np.testing.assert_array_equal(block.features["i"], [1, np.nan, 3, 4])
    np.testing.assert_array_equal(block.features["f"], [0.5, np.nan, np.nan, -1.5])
    np.testing.assert_array_equal(block.features["b"], [1, 0, np.nan, 1])
    assert np.isnan(block.features["n"]).all()
    assert decoded(block.features["s"]) == ["x", None, "y", "x"]
    assert block.features["s"].codes.dtype == np.int32
    assert decoded(block.features["d"]) == ["p", "q", None, "q"]
    assert block.target.tolist() == ["no", "yes", "no", "no"]
    parts = list(source.blocks(1))
    assert [part.first_row for part in parts] == [0, 1, 2, 3]
    assert parts[3].features["d"].values == ("q",)  # this block has met
    assert open_source(path, **json.loads(json.dumps(source.options()))).columns == source.columns


@pytest.mark.parametrize(("labels", "kind"), [([1, 2], "i"), ([True, False], "b"), (["a", "b"], "U")])
def test_parquet_labels_keep_their_type(tmp_path, labels, kind):
    block = read_all(open_source(parquet(tmp_path, {"a": [1, 2], "y": labels}), target=-1))
    assert block.target.tolist() == labels
    assert block.target.dtype.kind == kind


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"a": pa.array([1, 2], pa.duration("s"))},
            {},
            "column 'a': its type is duration.*convert the column",
        ),
        ({"a": [[1], [2]]}, {}, "column 'a': its type is list"),
        ({"a": [1.0, float("inf")]}, {}, "row 1, column 'a': an infinite value"),
        ({"a": [1, 2], "y": [None, "k"]}, {"target": "y"}, "row 0, column 'y': the label is missing"),
        ({"age": [1]}, {"target": "aeg"}, "did you mean 'age'"),
        ({"a": pa.array([], pa.int8())}, {}, "no rows"),
        (
            {"a": [1]},
            {"kinds": {"a": "words"}},
            "column 'a': its kind is 'number', but `kinds` declares 'words'",
        ),
        ({"a": [1, 2], "y": ["k", "k\0"]}, {"target": "y"}, "column 'y': the label 'k.x00' ends in a null"),
        ({"a": [1, 2], "y": ["k", "k" * 1001]}, {"target": "y"}, "a label has 1,001 characters"),
        ({"a": [1]}, {"kinds": {"b": "words"}}, "there is no column 'b', which `kinds` declares"),
    ],
)
def test_unusable_parquet_is_refused(tmp_path, columns, options, message):
    path = parquet(tmp_path, columns)
    with pytest.raises(DataFormatError, match=message):
        read_all(open_source(path, **options))


def test_parquet_column_of_nulls_has_the_declared_kind(tmp_path):
    path = parquet(tmp_path, {"a": [1.0, 2.0], "w": pa.nulls(2)})
    source = open_source(path, kinds={"w": "words"})
    assert source.columns[1] == Column("w", "words")
    assert decoded(read_all(source).features["w"]) == [None, None]
    assert np.isnan(read_all(open_source(path)).features["w"]).all()


def test_parquet_strings_stay_as_short_as_the_file_has_them(tmp_path):
    words = pa.array(["long " * 8000, "b", None, "c"])
    codes = pa.array(np.arange(1 << 16) % 4, pa.int32(), mask=np.arange(1 << 16) % 4 == 2)
    table = pa.table(
        {"w": pa.DictionaryArray.from_arrays(codes, words.fill_null("")), "y": codes.fill_null(2)}
    )
    pq.write_table(table, tmp_path / "bomb.parquet", store_schema=False)
    (block,) = open_source(tmp_path / "bomb.parquet", target="y").blocks()
    assert decoded(block.features["w"])[:4] == words.to_pylist()
    assert pa.default_memory_pool().max_memory() < 2**27  # the text of all rows would take 2^29 bytes


@pytest.mark.parametrize("n_rows", [1, 7, 30, 100])
def test_parquet_blocks_do_not_depend_on_row_groups(tmp_path, n_rows):
    words = [None if i % 11 == 0 else f"w{i // 10}" for i in range(100)]
    columns = {"x": np.arange(100.0), "w": words, "y": [f"k{i // 40}" for i in range(100)]}
    pq.write_table(pa.table(columns), path := tmp_path / "groups.parquet", row_group_size=7)
    one = open_source(parquet(tmp_path, columns), target="y")
    for block, other in zip(open_source(path, target="y").blocks(n_rows), one.blocks(n_rows), strict=True):
        assert (block.first_row, block.n_rows) == (other.first_row, other.n_rows)
        assert decoded(block.features["w"]) == decoded(other.features["w"])
        assert block.features["w"].values == other.features["w"].values
        np.testing.assert_array_equal(block.features["x"], other.features["x"])
        assert block.target.tolist() == other.target.tolist()


def test_parquet_text_that_is_not_utf_8_is_refused(tmp_path):
    body = parquet(tmp_path, {"w": ["same", "else"], "y": [1, 2]}, compression="none").read_bytes()
    (tmp_path / "data.parquet").write_bytes(body.replace(b"same", b"\xffame"))
    with pytest.raises(DataFormatError, match=r"column 'w': a value is not valid UTF-8"):
        read_all(open_source(tmp_path / "data.parquet", target="y"))


def test_invalid_parquet_and_missing_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataFormatError, match="cannot be read as Parquet"):
        open_source(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[parquet\]'"):
        open_source(path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.uint8, ">f4", np.float64, bool])
def test_npz_matrices_of_any_number_type(tmp_path, order, kind):
    X = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(kind, order=order)
    y = np.arange(10).astype("U2")
    np.savez_compressed(tmp_path / "d.npz", X=X, y=y, other=np.array([object()], dtype=object))
    source = open_source(tmp_path / "d.npz")
    blocks = list(source.blocks(4))
    assert [block.n_rows for block in blocks] == [4, 4, 2]
    whole = read_all(source)
    assert whole.features.dtype == np.float64
    np.testing.assert_array_equal(whole.features, X)
    np.testing.assert_array_equal(np.concatenate([block.target for block in blocks]), y)
    assert source.options() == {"format": "npz", "data": "X", "target": "y"}


def test_npz_sparse_parts_and_names(tmp_path):
    X = sparse.random(20, 8, 0.3, format="csr", random_state=0)
    parts = {f"A_{part}": getattr(X, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "d.npz", label=np.arange(20), **parts)
    source = open_source(tmp_path / "d.npz", data="A", target="label")
    assert source.columns is None
    assert source.n_features == 8
    blocks = list(source.blocks(7))
    assert (sparse.vstack([block.features for block in blocks]) != X).nnz == 0
    assert np.concatenate([block.target for block in blocks]).tolist() == list(range(20))


@pytest.mark.skipif(DATA is None, reason="MAXMARGIN_DATA names no folder")
def test_npz_of_mnist(dataset):
    source = open_source(Path(DATA) / "mnist.npz", data="X_test")
    arrays = dataset("mnist")
    first = next(iter(source.blocks(500)))
    np.testing.assert_array_equal(first.features, arrays["X_test"][:500])
    np.testing.assert_array_equal(first.target, arrays["y_test"][:500])
    assert open_source(Path(DATA) / "mnist.npz").target == "y_train"


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def zipped(folder, **entries):
    path = folder / "d.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(f"{name}.npy", content)
    return path


ONES, LABELS = np.ones((3, 2)), np.zeros(3)
GOOD = {"X": npy(ONES), "y": npy(LABELS)}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"Z": npy(ONES)}, "no array 'X' or 'X_train'.*the arrays are 'Z'"),
        ({"X": npy(np.ones(3))}, r"its shape is \(3,\)"),
        ({"X": npy(np.ones((0, 3)))}, "at least one row"),
        ({"X": npy(np.array([["a"]]))}, "array 'X': its type is <U1; accepted are booleans"),
        (GOOD | {"y": npy(np.zeros(4))}, r"array 'y': its shape is \(4,\); one label for each of the 3 rows"),
        (GOOD | {"y": npy(np.array([0, np.nan, 1]))}, "array 'y', row 1: the label is nan"),
        (
            GOOD | {"X": GOOD["X"][:-8]},
            r"array 'X': its shape \(3, 2\) of float64 takes 48 bytes, but the file has 40",
        ),
        (GOOD | {"X": GOOD["X"].replace(b"(3, 2)", b"(9, 9)")}, "takes 648 bytes, but the file has 48"),
        (GOOD | {"X": GOOD["X"].replace(b"(3, 2)", b"(-3,-2)"[:6])}, "array 'X'"),
        (GOOD | {"X": GOOD["X"].replace(b"'<f8'", b"'|O8'")}, "Objects are never read"),
        (
            GOOD | {"y": npy(np.array([2, 0, 1], np.uint8).view(bool))},
            "array 'y': a boolean is neither 0 nor 1",
        ),
        (GOOD | {"y": npy(np.full(3, 0x110000, np.uint32).view("<U1"))}, "array 'y': .* invalid character"),
        ({"X": b"nonsense" * 9}, "array 'X': its header cannot be read"),
        ({"X": npy(np.array([[1, np.inf]]))}, "array 'X', row 0, column 1: an infinite value"),
    ],
)
def test_unusable_npz_is_refused(tmp_path, entries, message):
    with pytest.raises(DataFormatError, match=rf"d\.npz.*{message}"):
        read_all(open_source(zipped(tmp_path, **entries)))


@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        ("indices", [0, 9, 1], "not a CSR matrix"),
        ("indptr", [0, 2, 1, 3], "not a CSR matrix"),
        ("indptr", [0, 1, 3], "not a CSR matrix"),
        ("indices", [0, 1, 1], "an index twice"),
        ("shape", [-3, 2], "is not .rows, columns"),
        ("data", [1.0, np.inf, 2.0], "row 1, column 0: an infinite value"),
    ],
)
def test_inconsistent_sparse_parts_are_refused(tmp_path, part, values, message):
    parts = {"data": [1.0, 2.0, 3.0], "indices": [0, 0, 1], "indptr": [0, 1, 1 + 2, 3], "shape": [3, 2]}
    if part == "indptr":
        parts["indices"] = [0, 0, 1]
    arrays = {f"X_{name}": np.array(values if name == part else given) for name, given in parts.items()}
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(DataFormatError, match=message):
        read_all(open_source(tmp_path / "d.npz"))


def test_npz_bombs_and_damage_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "MAX_BYTES_OF_ANY_RATIO", 1 << 16)
    path = zipped(tmp_path, X=npy(np.zeros((1 << 10, 200))))
    with pytest.raises(DataFormatError, match=r"array 'X': .*decompression bomb; raise `max_ratio`"):
        open_source(path)
    assert read_all(open_source(path, max_ratio=1e5)).n_rows == 1 << 10
    with pytest.raises(DataFormatError, match="raise `max_bytes`"):
        open_source(path, max_ratio=1e5, max_bytes=1000)
    path = zipped(tmp_path, X=npy(np.random.default_rng(0).standard_normal((100, 5))))
    content = bytearray(path.read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataFormatError, match="damaged"):
        read_all(open_source(path))
    path.write_bytes(content[:1000])
    with pytest.raises(DataFormatError, match=r"this is not an .npz file"):
        open_source(path)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_odd_parquet_files_are_refused_or_read(tmp_path, name):
    table, expected = ODD[name]
    pq.write_table(table, tmp_path / "odd.parquet", store_schema=False)
    assert hostile_parquet.outcome(tmp_path / "odd.parquet") == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damaged_parquet_files_are_refused_or_read(tmp_path):
    sound = hostile_parquet.originals()
    for seed in range(60):
        (tmp_path / "d.parquet").write_bytes(
            hostile_parquet.damaged(sound[seed % len(sound)], np.random.default_rng(seed))
        )
        assert hostile_parquet.outcome(tmp_path / "d.parquet") in (
            hostile_parquet.REFUSED,
            hostile_parquet.READ,
        )

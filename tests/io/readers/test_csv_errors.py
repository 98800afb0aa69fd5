"""Malformed CSV: the error names file, line and column, what was found and what to do."""

import bz2
import gzip
import os
import pickle

import pytest
from support.text_files import in_pieces, read, written

from maxmargin.io import DataFormatError, open_source
from maxmargin.io.readers import text as pieces

ROWS = [
    ("a,b\n1,2\n3\n", r"line 3, column 2 \('b'\): the row has 1 of 2 fields"),
    (
        "a,b\n1,2\n3,4,5\n",
        r"line 3, column 3: the row has 3 fields instead of 2 \(delimiter ','\); .*double quotes",
    ),
    ("a,b\n1,2,\n", "line 2, column 3: the row has 3 fields instead of 2"),
    (
        "a,b\n1,1e400\n",
        r"line 2, column 2 \('b'\): '1e400' is not a finite number.*missing.*kinds=\{'b': 'words'\}",
    ),
    ("a,b\n1,-inf\n", r"line 2, column 2 \('b'\): '-inf' is not a finite number"),
    ("a,y\n1,k\n2,NA\n", r"line 3, column 2 \('y'\): the label is missing: 'NA' .*`missing` without it"),
    ("a,b\n1,x\0y\n", r"line 2, column 2 \('b'\): a NUL byte \(byte 7 of the text\)"),
    ('a,b\n1,"x\n2,3\n', r"line 2, column 2 \('b'\): a quoted field begins here and never ends"),
    ('a,b\n1,"x"z\n', r"line 2, column 2 \('b'\): there is text after a closing quote"),
    ("a,b\n1,x\rz\n", r"line 2, column 2 \('b'\): a carriage return without a line feed"),
    (b"a,b\n1,\xe9t\xe9\n", r"line 2, column 2 \('b'\): byte 6 of the text, 0xE9, is not UTF-8; save"),
    ('a,b\n"1\n2",x\n1\n', "line 4, column 2"),
]


@pytest.mark.parametrize("n_bytes", [None, 1, 7])
@pytest.mark.parametrize(("text", "message"), ROWS)
def test_a_malformed_row_is_located(tmp_path, text, message, n_bytes):
    target = "y" if "y" in str(text)[:6] else None
    with pytest.raises(DataFormatError, match=rf"data\.csv, {message}"):
        read(tmp_path, text, target=target, n_bytes=n_bytes)
    with in_pieces(n_bytes), pytest.raises(DataFormatError, match=rf"data\.csv, {message}"):
        list(open_source(tmp_path / "data.csv", target=target).blocks(1))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "the file is empty; a header and rows are needed"),
        ("\n \n", {}, "the file is empty"),
        ("a,b\n\n", {}, "a header and no rows"),
        ("a,b,a\n1,2,3\n", {}, "header, columns 1 and 3: the name 'a' appears 2 times.*`names`"),
        ("a,,b\n1,2,3\n", {}, r"header, column 2: the column has no name.*header=True"),
        ("age,sex\n1,2\n", {"target": "agee"}, "no column 'agee' to be the target \\(did you mean 'age'"),
        ("age,sex\n1,2\n", {"target": "zzz"}, "the columns are 'age', 'sex'"),
        ("age,sex\n1,2\n", {"target": 2}, "position is 2, but there are 2 columns: 0 to 1"),
        ("1,2\n", {"names": ["a"]}, r"line 1: the first row has 2 fields \(delimiter ','\), but 1 names"),
        ("1,2\n", {"names": ["a", "a"]}, "names, columns 1 and 2"),
        ("a,b\n1,2\n", {"kinds": {"c": "words"}}, "there is no column 'c', which `kinds` declares"),
        ("a\x00,b\n1,2\n", {}, "line 1, column 1: a NUL byte"),
        ("a,b\n1,2\n".encode("utf-16"), {}, "line 1, column 1: byte 0 of the text, 0xFF, is not UTF-8"),
        (
            "a,y\n1," + "k" * 1001 + "\n",
            {"target": "y"},
            "a label has 1,001 characters.*check that this column is the target",
        ),
    ],
)
def test_a_malformed_file_is_explained(tmp_path, text, options, message):
    with pytest.raises(DataFormatError, match=rf"data\.csv.*{message}"):
        read(tmp_path, text, **options)


def test_an_error_has_its_place_and_the_argument_that_helps(tmp_path):
    with pytest.raises(DataFormatError) as caught:
        read(tmp_path, "a,b\n1,2\n1,x\n", kinds={"b": "number"})
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.name == str(tmp_path / "data.csv")
    assert (error.line, error.column, error.place) == (3, 2, "line 3, column 2 ('b')")
    assert error.problem == "'x' is not a number, but the column is numeric"
    assert error.arguments == {"missing": None, "kinds": {"b": "words"}}
    assert error.parameter == "missing"
    spelled = error.message(lambda parameter, value: f"<{parameter} {value}>")
    assert spelled.endswith(
        "add it to <missing None> or declare the column categorical (<kinds {'b': 'words'}>)."
    )
    assert str(error) == str(caught.value) == error.message()


def test_too_many_columns_are_refused(tmp_path):
    with pytest.raises(DataFormatError, match="1,048,577 columns; at most 1,048,576"):
        read(tmp_path, "," * (1 << 20) + "\n1\n")


def test_rows_beyond_the_limit_are_refused(tmp_path):
    text = 'a,b\n1,2\n3,"' + "x" * 5000
    with (
        in_pieces(100),
        pytest.raises(DataFormatError, match=r"line 3: .*longer than 2,000 bytes.*max_row_bytes"),
    ):
        list(open_source(written(tmp_path, text), max_row_bytes=2000).blocks())


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_decompression_bombs_are_refused(tmp_path, pack, monkeypatch):
    monkeypatch.setattr(pieces, "MAX_BYTES_OF_ANY_RATIO", 1 << 16)
    path = written(tmp_path, pack(b"a,b\n" + b"0,0\n" * (1 << 18)))
    with pytest.raises(DataFormatError, match="decompression bomb; raise `max_ratio` if you trust the file"):
        list(open_source(path).blocks())
    with pytest.raises(DataFormatError, match="are more than the limit of 1,000; raise `max_bytes`"):
        open_source(path, max_bytes=1000)
    assert open_source(path, max_ratio=1e5).n_features == 2


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_truncated_compressed_files_are_refused(tmp_path, pack):
    text = "a,b\n" + "".join(f"{i * i % 9973},{i}\n" for i in range(20_000))
    packed = pack(text.encode())
    with pytest.raises(DataFormatError, match="damaged or truncated"):
        read(tmp_path, packed[: len(packed) // 2])


def test_a_file_that_changes_between_passes_is_refused(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    source = open_source(path)
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(DataFormatError, match="changed since it was opened"):
        list(source.blocks())


def test_folders_pipes_and_invalid_arguments_are_refused(tmp_path):
    with pytest.raises(DataFormatError, match="this is a folder"):
        open_source(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_source(tmp_path / "nothing.csv")
    path = written(tmp_path, "a\n1\n")
    with pytest.raises(ValueError, match="format must be one of"):
        open_source(path, format="xls")
    for options in (
        {"delimiter": "ab"},
        {"delimiter": '"'},
        {"names": "abc"},
        {"missing": "NA"},
        {"n_features": -1},
    ):
        with pytest.raises(ValueError, match=rf"{next(iter(options))} must be"):
            open_source(path, **options)
    with pytest.raises(ValueError, match="n_rows must be at least 1"):
        next(open_source(path).blocks(0))
    with pytest.raises(ValueError, match="kinds must be 'number' or 'words'"):
        open_source(path, kinds={"a": "date"})
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataFormatError, match="a device or a pipe, which cannot be read twice"):
        open_source(tmp_path / "pipe.csv")

"""Files in other encodings and with other decimal signs: the same rows as their twins in plain UTF-8."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from maxmargin.io import DataFormatError, open_source, read_all
from maxmargin.io.readers import encodings

TEXTS = {
    "latin-1": "größe,art\n1.5,blau\n2,grün\n",
    "cp1252": "preis,art\n1.5,5 € — „so“\n2,grün\n",
    "shift_jis": "大きさ,種類\n1.5,赤い箱\n2,青い箱\n",
    "euc_jp": "大きさ,種類\n1.5,赤い箱\n2,青い箱\n",
    "utf-16": "大きさ,種類\r\n1.5,赤い箱\r\n2,été\r\n",
    "utf-16-be": "size,kind\n1.5,été\n2,b\n",
    "gb18030": "大小,种类\n1.5,红\n2,𠮷\n",
    "utf-8-sig": "size,kind\n1.5,été\n2,b\n",
}


def same(first, second):
    a, b = read_all(first), read_all(second)
    assert list(a.features) == list(b.features)
    assert a.target.tolist() == b.target.tolist()
    for one, other in zip(a.features.values(), b.features.values()):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", TEXTS)
def test_rows_are_those_of_the_file_in_utf_8(encoding, packed, tmp_path, monkeypatch):
    monkeypatch.setattr(encodings, "READ_BYTES", 5)  # characters are cut
    raw = TEXTS[encoding].encode(encoding)
    file, twin = tmp_path / "rows.csv", tmp_path / "twin.csv"
    file.write_bytes(gzip.compress(raw) if packed else raw)
    twin.write_text(TEXTS[encoding], encoding="utf-8", newline="")
    source = open_source(file, target=-1, encoding=encoding)
    same(source, open_source(twin, target=-1))
    same(open_source(file, **source.options()), source)


def test_libsvm_labels_have_an_encoding(tmp_path):
    (tmp_path / "rows.svm").write_bytes("grün 1:1\nblau 2:1\n".encode("latin-1"))
    source = open_source(tmp_path / "rows.svm", encoding="latin1")
    assert read_all(source).target.tolist() == ["grün", "blau"]
    assert source.options()["encoding"] == "iso8859-1"


def test_a_wrong_encoding_is_told_with_the_way_out(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(DataFormatError, match=r"give its encoding .`encoding`., such as latin-1"):
        read_all(open_source(file, target="b"))
    with pytest.raises(DataFormatError, match=r"are not all shift_jis .*give the encoding"):
        read_all(open_source(file, target="b", encoding="shift_jis"))
    file.write_text("a,b\n1,2\n", encoding="utf-16")
    with pytest.raises(DataFormatError, match="encoding='utf-16'"):
        open_source(file)
    with pytest.raises(ValueError, match=r"such as utf-8, latin-1.*got 'shiftjes'. Did you mean 'shift_jis'"):
        open_source(file, encoding="shiftjes")
    for name in ("rot13", "base64", "../os", ""):
        with pytest.raises(ValueError, match="encoding must be"):
            open_source(file, encoding=name)


NUMBERS = [1234567.5, -0.25, 1000.0, 12.0, np.nan, 0.125]
WRITTEN = {
    (",", "."): ["1.234.567,5", "-0,25", "1.000", "12", "", "0,125"],
    (",", " "): ["1 234 567,5", "-0,25", "1 000,0", "12", "NA", ",125"],
    (",", "\u202f"): ["1\u202f234\u202f567,5", "-,25", "1000", "+12", "", "1,25e-1"],
    (".", ","): ['"1,234,567.5"', "-0.25", '"1,000"', "12", "", ".125"],
    (".", "'"): ["1'234'567.5", "-0.25", "1000", "12", "", "0.125"],
}


@pytest.mark.parametrize("form", WRITTEN)
def test_decimal_signs_and_groups(form, tmp_path):
    decimal = form[0]
    sign = ";" if decimal == "," else ","
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["x;k".replace(";", sign), *(f"{text}{sign}a" for text in WRITTEN[form])]))
    source = open_source(file, target="k", decimal=decimal)
    assert source.columns[0].kind == "number"
    np.testing.assert_array_equal(read_all(source).features["x"], NUMBERS)
    again = open_source(file, **source.options())
    np.testing.assert_array_equal(next(again.blocks(100)).features["x"], NUMBERS)
    assert open_source(file, target="k").columns[0].kind == "words"


def test_numbers_of_another_form_are_words_or_refused(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("x;k\n1,5;a\n1.23;b\n")
    assert open_source(file, target="k", decimal=",").columns[0].kind == "words"
    with pytest.raises(DataFormatError, match=r"line 3.*'1.23' is not a number"):
        read_all(open_source(file, target="k", decimal=",", kinds={"x": "number"}))
    with pytest.raises(ValueError, match=r"decimal must be ',' or '.'; got ';'"):
        open_source(file, decimal=";")
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    with pytest.raises(DataFormatError, match="a decimal sign is for CSV files"):
        open_source(tmp_path / "rows.svm", decimal=",")
    np.savez(tmp_path / "rows.npz", X=np.eye(2), y=[0, 1])
    with pytest.raises(DataFormatError, match="format npz has no encoding"):
        open_source(tmp_path / "rows.npz", encoding="latin-1")


def test_threads_and_blocks_read_the_same_numbers(tmp_path: Path):
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(0.0, 1e5, 40_000), 2)
    texts = [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]
    file = tmp_path / "rows.csv"
    file.write_text("x;k\n" + "".join(f"{text};a\n" for text in texts))
    source = open_source(file, target="k", decimal=",", kinds={"x": "number"})
    np.testing.assert_array_equal(read_all(source).features["x"], values)
    parts = [block.features["x"] for block in source.blocks(777)]
    np.testing.assert_array_equal(np.concatenate(parts), values)

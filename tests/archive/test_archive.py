"""Archives: the same data gives the same bytes, and a change of any byte is detected."""

import hashlib
import io
import json
import os
import zipfile
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from support.mutations import packed, parts

from maxmargin.archive import archive, zip_layout
from maxmargin.archive.archive import read_archive, read_header, write_archive
from maxmargin.archive.json_lines import json_lines
from maxmargin.io import ModelFormatError

ARRAYS = {
    "b/fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "b/rows": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bools": np.array([True, False]),
    "empty": np.zeros((0, 4)),
    "scalar": np.array(3),
    "strided": np.arange(9, dtype=">i4")[::2],
    "words": np.array(["größe", "", "x"]),
}
CONTENT = {"a": [1, 2.5, None, True, "é"], "b": {}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.mm"


def assert_same(found, expected):
    assert list(found) == sorted(expected)
    for name, array in expected.items():
        assert found[name].shape == array.shape
        assert found[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found[name], array)


def test_round_trip(path):
    write_archive(path, CONTENT, ARRAYS)
    header, found = read_archive(path)
    assert header == CONTENT == read_header(path)
    assert_same(found, ARRAYS)
    assert found["b/fortran"].flags.f_contiguous
    assert found["b/rows"].flags.c_contiguous


@settings(max_examples=50)
@given(
    arrays=st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_.]{0,5}(/[a-z]{1,3})?", fullmatch=True),
        arrays_of.arrays(
            st.sampled_from(["?", "i1", "u2", "<i4", ">i8", "f2", "f4", "f8"]),
            arrays_of.array_shapes(min_dims=0, min_side=0, max_side=4),
        ),
        max_size=4,
    )
)
def test_any_array_survives_a_round_trip_bit_for_bit(arrays, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.mm"
    with mock.patch("os.fsync"):  # slow
        write_archive(path, {}, arrays)
    found = read_archive(path)[1]
    for name, array in arrays.items():
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()


@pytest.mark.parametrize("wide_from", [0xFFFFFFFF, 3000])
def test_other_programs_read_the_zip_and_the_arrays(path, monkeypatch, wide_from):
    monkeypatch.setattr(zip_layout, "_ZIP64_FROM", wide_from)  # as if 3000 bytes were 4 GiB: fields of ZIP64
    arrays = ARRAYS | {"long": np.arange(1000.0)}
    write_archive(path, CONTENT, arrays)
    assert_same(read_archive(path)[1], arrays)
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        header = json.loads(file.read("header.json"))
        assert file.comment.decode() == hashlib.sha256(file.read("header.json")).hexdigest()
        assert file.namelist() == ["header.json", *(f"{about['name']}.npy" for about in header["arrays"])]
        for about in header["arrays"]:
            data = file.read(f"{about['name']}.npy")
            assert hashlib.sha256(data).hexdigest() == about["sha256"]
            array = np.load(io.BytesIO(data), allow_pickle=False)
            np.testing.assert_array_equal(array, arrays[about["name"]])


def test_same_data_same_bytes(path, tmp_path):
    write_archive(path, CONTENT, ARRAYS)
    write_archive(tmp_path / "other", dict(reversed(CONTENT.items())), dict(reversed(ARRAYS.items())))
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


def test_a_flipped_bit_in_any_byte_is_detected(path):
    write_archive(path, {"a": 1}, {"x": np.arange(3.0)})
    data = path.read_bytes()
    for i in range(len(data)):
        other = bytearray(data)
        other[i] ^= 1 << (i % 8)
        path.write_bytes(other)
        with pytest.raises(ModelFormatError, match=r"file\.mm: "):
            read_archive(path)


def test_truncated_and_extended_files_are_refused(path):
    write_archive(path, {}, {"x": np.arange(3.0)})
    data = path.read_bytes()
    for other in [*(data[:n] for n in range(0, len(data), 7)), data + b"\0", b"\0" + data, data + data]:
        path.write_bytes(other)
        for read in (read_archive, read_header):
            with pytest.raises(ModelFormatError):
                read(path)


@pytest.mark.parametrize(
    "about",
    [
        {"shape": [2**61]},  # declared sizes are compared with the file before memory is asked for
        {"shape": [0, 2**62, 2**62]},
        {"shape": [-1]},
        {"shape": [True]},
        {"shape": 3},
        {"shape": [1] * 40},
        {"dtype": "|O"},
        {"dtype": ">f8"},
        {"dtype": "<c16"},
        {"dtype": "<U99999999"},
        {"dtype": "<f4"},
        {"dtype": ["<f8"]},
        {"order": "K"},
        {"order": "F"},
        {"name": "../x"},
        {"name": "/x"},
        {"name": "x/../y"},
        {"name": 3},
        {"sha256": "0" * 64},
        {"sha256": None},
        {"more": 1},
    ],
)
def test_forged_listings_are_refused(path, about):
    whole, bodies = parts({}, {"x": np.arange(6.0).reshape(2, 3)})
    whole["arrays"][0].update(about)
    name = whole["arrays"][0]["name"]
    path.write_bytes(packed(whole, [(f"{name}.npy", bodies[0][1])]))
    with pytest.raises(ModelFormatError):
        read_archive(path)


def test_invalid_booleans_and_characters_are_refused(path):
    for array in (np.array([2], np.uint8), np.array([0x110000], np.uint32)):
        as_type = {1: "|b1", 4: "<U1"}[array.itemsize]
        whole, bodies = parts({}, {"x": array.view(as_type)})
        path.write_bytes(packed(whole, bodies))
        with pytest.raises(ModelFormatError, match=r"neither 0 nor 1|character"):
            read_archive(path)


def test_repeated_unlisted_and_missing_entries_are_refused(path):
    whole, bodies = parts({}, {"x": np.arange(3.0), "y": np.arange(3.0)})
    for other in (bodies[:1], bodies[::-1], [*bodies, bodies[0]], [*bodies, ("z.npy", b"1")]):
        path.write_bytes(packed(whole, other))
        with pytest.raises(ModelFormatError):
            read_archive(path)
    whole["arrays"].append(whole["arrays"][0])
    path.write_bytes(packed(whole, [*bodies, bodies[0]]))
    with pytest.raises(ModelFormatError, match="twice"):
        read_archive(path)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "[" * 100_000, "NaN", "\xff", "", "3", "1" * 10_000])
def test_headers_that_are_not_plain_json_are_refused(path, text):
    body = text.encode("latin-1")
    entry = zip_layout.ZipEntry("header.json", len(body), archive.zlib.crc32(body), 0)
    end = zip_layout.tail([entry], hashlib.sha256(body).hexdigest())
    path.write_bytes(zip_layout.local_head(entry) + body + end)
    with pytest.raises(ModelFormatError, match=r"JSON|format"):
        read_archive(path)


def test_newer_versions_are_refused_by_number(path):
    whole, bodies = parts({}, {"x": np.arange(3.0)})
    for version in (2, 99, 0, "1", None, True):
        path.write_bytes(packed(whole | {"version": version, "new": 1}, bodies))
        with pytest.raises(ModelFormatError, match=f"version {version!r}; this library reads version 1"):
            read_header(path)


def test_files_of_other_formats_are_refused(path, tmp_path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("header.json", b" " * 10_000_000)
    with pytest.raises(ModelFormatError, match=r"does not begin with header\.json in a zip"):
        read_archive(path)
    for data in (b"", b"PK", b"hello" * 100, b"\x93NUMPY"):
        path.write_bytes(data)
        with pytest.raises(ModelFormatError):
            read_archive(path)
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        read_archive(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    holder = os.open(tmp_path / "pipe", os.O_RDWR)
    with pytest.raises(ModelFormatError, match="pipe"):
        read_archive(tmp_path / "pipe")
    os.close(holder)


@pytest.mark.parametrize(
    ("header", "arrays", "match"),
    [
        ({}, {"x": np.array([object()])}, "object"),
        ({}, {"x": np.zeros(1, complex)}, "complex"),
        ({}, {"x": np.zeros(1, "M8[s]")}, "datetime"),
        ({}, {"../x": np.zeros(1)}, "name"),
        ({}, {"": np.zeros(1)}, "name"),
        ({"a": float("nan")}, {}, "JSON"),
    ],
)
def test_a_refused_archive_leaves_the_old_file_and_nothing_else(path, header, arrays, match):
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match=match):
        write_archive(path, header, arrays)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["file.mm"]


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_unchanged(path, monkeypatch, function):
    write_archive(path, {"old": True}, {})

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, function, fails)
    with pytest.raises(OSError, match="disk full"):
        write_archive(path, {"old": False}, {})
    monkeypatch.undo()
    assert read_archive(path)[0] == {"old": True}
    assert os.listdir(path.parent) == ["file.mm"]


def test_links_are_followed_and_folders_refused(path, tmp_path):
    (tmp_path / "link").symlink_to(path)
    write_archive(tmp_path / "link", {"a": 1}, {})
    assert (tmp_path / "link").is_symlink()
    assert read_archive(path)[0] == {"a": 1}
    with pytest.raises(IsADirectoryError, match="folder"):
        write_archive(tmp_path, {}, {})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(['"', "\\", '\\"', "[]"]), inner)
        ),
        max_leaves=40,
    )
)
def test_header_text_is_that_of_indented_json(value):
    assert json_lines(value) == json.dumps(value, sort_keys=True, allow_nan=False, indent=0).encode()

"""A JSON header and arrays in one zip file, which other programs can open and which holds only data.

The file is a zip of uncompressed entries: ``header.json``, then one ``.npy`` entry for each array, by name.
The header lists every array with its type, its shape and the SHA-256 of its entry; the zip's comment is the
SHA-256 of the header. So the header determines every other byte of the file, and reading is comparing: the
directory is never parsed, no size is trusted and nothing is decompressed. This is why the file is not read by
``zipfile``, which parses what the file claims, and why the bytes are not left to the version of a library.

The same header and arrays give the same bytes, whenever and wherever they are written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Mapping
from io import BufferedReader
from typing import Any, BinaryIO

import numpy as np

from .json_lines import json_lines
from .npy_layout import ArrayLayout, check_values, layout_of, npy_head, read_values, stored
from .whole_file import whole_file
from .zip_layout import END_COMMENT_BYTES, FIRST_ENTRY, ZipEntry, first_size, local_head, tail

FORMAT = "maxmargin"
VERSION = 1
MAX_HEADER_BYTES = 1 << 28  # bytes of header.json
_ARRAY_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")


class ModelFormatError(ValueError):
    """A file that is not a complete, valid model file (or checkpoint) of a version this library reads.

    Examples
    --------
    >>> from maxmargin.io import ModelFormatError, load
    >>> from pathlib import Path
    >>> size = Path("no-model.mm").write_text("text")
    >>> try:
    ...     load("no-model.mm")
    ... except ModelFormatError as error:
    ...     print("refused")
    refused
    """


def write_archive(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write ``header`` and ``arrays`` to ``path``; the file is replaced as a whole or not at all.

    Parameters
    ----------
    path : path
        An existing file is replaced, by a rename, when the new one is on disk.
    header : dict
        JSON values: dicts with string keys, lists, strings, finite numbers, booleans, None.
    arrays : dict of ndarray
        Booleans, integers, floats or strings of fixed width; names of letters, digits and ``_-./``.
    """
    arrays = {name: stored(name, arrays[name]) for name in sorted(arrays)}
    _refuse_names(arrays)
    text = _header_bytes(header, arrays)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(
            f"the header has {len(text)} bytes of JSON, more than {MAX_HEADER_BYTES}; use arrays instead."
        )
    with whole_file(path) as file:
        entries = [_write_entry(file, FIRST_ENTRY, text, None)]
        for name, array in arrays.items():
            entries.append(_write_entry(file, f"{name}.npy", npy_head(layout_of(array)), array))
        file.write(tail(entries, _sha256(text)))


def archive_digest(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the header that ``write_archive`` would write, which contains that of every array."""
    arrays = {name: stored(name, arrays[name]) for name in sorted(arrays)}
    return _sha256(_header_bytes(header, arrays))


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What ``write_archive`` wrote to ``path``: the header and the arrays, or a ``ModelFormatError``."""
    with _opened(path) as file:
        try:
            return _read(file)
        except ModelFormatError as error:
            raise ModelFormatError(f"{os.fspath(path)}: {error}") from None


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header that ``write_archive`` was given, without reading the arrays."""
    with _opened(path) as file:
        try:
            text, whole = _read_header(file)
            _check_size(file, text, _layouts(whole))
        except ModelFormatError as error:
            raise ModelFormatError(f"{os.fspath(path)}: {error}") from None
    return whole["content"]


def _opened(path: str | os.PathLike[str]) -> BufferedReader:
    """The open file; opening a pipe without a writer does not block."""
    no_wait = getattr(os, "O_NONBLOCK", 0)
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | no_wait))


def _refuse_names(arrays: Mapping[str, np.ndarray]) -> None:
    for name in arrays:
        if not _ARRAY_NAME.fullmatch(name) or len(name) > 200:
            raise ValueError(f"an array's name must be at most 200 letters, digits and '_-./'; got {name!r}.")


def _header_bytes(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    listed = [
        {"name": name, **layout_of(array).as_dict(), "sha256": _sha256(npy_head(layout_of(array)), array)}
        for name, array in arrays.items()
    ]
    whole = {"format": FORMAT, "version": VERSION, "arrays": listed, "content": header}
    return json_lines(whole)


def _write_entry(file: BinaryIO, name: str, head: bytes, array: np.ndarray | None) -> ZipEntry:
    body = memoryview(b"") if array is None else _bytes_of(array)
    entry = ZipEntry(name, len(head) + len(body), zlib.crc32(body, zlib.crc32(head)), file.tell())
    file.write(local_head(entry))
    file.write(head)
    file.write(body)
    return entry


def _read(file: BufferedReader) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    text, whole = _read_header(file)
    layouts = _layouts(whole)
    _check_size(file, text, layouts)
    entries = [ZipEntry(FIRST_ENTRY, len(text), zlib.crc32(text), 0)]
    arrays = {}
    file.seek(len(local_head(entries[0])) + len(text))
    for listed, (name, layout) in zip(whole["arrays"], layouts.items()):
        arrays[name], entry = _read_array(file, name, layout, listed["sha256"])
        entries.append(entry)
    if file.read() != tail(entries, _sha256(text)):
        raise ModelFormatError("the zip directory does not match the entries; the file is damaged.")
    return whole["content"], arrays


def _read_header(file: BufferedReader) -> tuple[bytes, dict[str, Any]]:
    """The bytes of ``header.json`` and its content, with version and SHA-256 checked."""
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode):
        raise ModelFormatError("this is a device or a pipe; a model is read from a file.")
    if about.st_size == 0:
        raise ModelFormatError("the file is empty.")
    start = file.read(30 + len(FIRST_ENTRY))
    size = first_size(start)
    if size is None:
        raise ModelFormatError(
            "this is not a model file of maxmargin: it does not begin with header.json in a zip."
        )
    if size > min(about.st_size, MAX_HEADER_BYTES):
        raise ModelFormatError(
            f"the header claims {size} bytes, more than the file has; it is truncated or damaged."
        )
    text = file.read(size)
    whole = _parse(text)
    file.seek(max(about.st_size - END_COMMENT_BYTES, 0))
    same_head = start == local_head(ZipEntry(FIRST_ENTRY, size, zlib.crc32(text), 0))
    if not same_head or file.read() != _sha256(text).encode():
        raise ModelFormatError(
            "the header does not match the SHA-256 at the end of the file, which is truncated or damaged."
        )
    return text, whole


def _parse(text: bytes) -> dict[str, Any]:
    try:
        whole = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"the header is not valid JSON: {error}") from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise ModelFormatError(
            f"the header does not name the format {FORMAT!r}; this is not a model file of maxmargin."
        )
    version = whole.get("version")
    if type(version) is not int or version != VERSION:
        raise ModelFormatError(
            f"the file has format version {version!r:.40}; this library reads version {VERSION}. "
            "A newer file needs a newer maxmargin."
        )
    if set(whole) != {"format", "version", "arrays", "content"} or not isinstance(whole["content"], dict):
        raise ModelFormatError(
            "the header must have the keys format, version, arrays and content, and no others."
        )
    return whole


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key appears twice")
    return dict(pairs)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _layouts(whole: Mapping[str, Any]) -> dict[str, ArrayLayout]:
    """Type and shape of each array by name; no array is larger than any memory."""
    listed = whole["arrays"]
    if not isinstance(listed, list):
        raise ModelFormatError("the header's arrays must be a list.")
    layouts: dict[str, ArrayLayout] = {}
    for item in listed:
        if not isinstance(item, dict) or set(item) != {"name", "dtype", "shape", "order", "sha256"}:
            raise ModelFormatError(
                "each array must have name, dtype, shape, order and sha256, and nothing else."
            )
        name, digest = item["name"], item["sha256"]
        if not isinstance(name, str) or len(name) > 200 or not _ARRAY_NAME.fullmatch(name):
            raise ModelFormatError(f"{name!r:.80} is not a valid array name.")
        if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
            raise ModelFormatError(f"array {name}: sha256 must be 64 hexadecimal digits.")
        if layouts and name <= next(reversed(layouts)):
            raise ModelFormatError(f"array {name} appears twice or out of order.")
        try:
            layouts[name] = ArrayLayout.from_dict(item)
        except ValueError as error:
            raise ModelFormatError(f"array {name}: {error}") from None
    return layouts


def _check_size(file: BufferedReader, text: bytes, layouts: Mapping[str, ArrayLayout]) -> None:
    """Compare the file's size with what header and arrays need, before memory is allocated for them."""
    entries = [ZipEntry(FIRST_ENTRY, len(text), 0, 0)]
    position = len(local_head(entries[0])) + len(text)
    for name, layout in layouts.items():
        entry = ZipEntry(f"{name}.npy", len(npy_head(layout)) + layout.n_bytes, 0, position)
        entries.append(entry)
        position += len(local_head(entry)) + entry.size
    expected = position + len(tail(entries, "0" * END_COMMENT_BYTES))
    actual = os.fstat(file.fileno()).st_size
    if expected != actual:
        raise ModelFormatError(
            f"the header describes {expected} bytes but the file has {actual}; it is truncated or damaged."
        )


def _read_array(
    file: BufferedReader, name: str, layout: ArrayLayout, digest: str
) -> tuple[np.ndarray, ZipEntry]:
    head = npy_head(layout)
    position = file.tell()
    size = len(head) + layout.n_bytes
    start = file.read(len(local_head(ZipEntry(f"{name}.npy", size, 0, position))))
    if file.read(len(head)) != head:
        raise ModelFormatError(
            f"array {name}: its .npy header does not match the type and shape in header.json."
        )
    try:
        flat = read_values(file, layout.n_bytes)
    except EOFError:
        raise ModelFormatError(f"array {name}: the file ends inside it.") from None
    entry = ZipEntry(f"{name}.npy", size, zlib.crc32(flat.data, zlib.crc32(head)), position)
    if start != local_head(entry) or _sha256(head, flat) != digest:
        raise ModelFormatError(f"array {name} does not match its checksum; the file is damaged.")
    array = layout.view(flat)
    try:
        check_values(array)
    except ValueError as error:
        raise ModelFormatError(f"array {name}: {error}") from None
    return array, entry


def _bytes_of(array: np.ndarray) -> memoryview:
    """The bytes of an array in memory order, without a copy."""
    return array.reshape(-1, order="A").view(np.uint8).data if array.size else memoryview(b"")


def _sha256(head: bytes, array: np.ndarray | None = None) -> str:
    digest = hashlib.sha256(head)
    if array is not None:
        digest.update(_bytes_of(array))
    return digest.hexdigest()

"""The text of a file, decompressed and piece by piece, within stated limits."""

from __future__ import annotations

import bz2
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .table import DataFormatError

PIECE_BYTES = 1 << 20
FREE_BYTES = 64 << 20  # below this no ratio is looked at
GZIP, BZIP2, PI = b"\x1f\x8b", b"BZh", b"1AY&SY"
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Limits:
    """What a file may take of a reader: the longest row, and how much it may grow when decompressed."""

    max_row_bytes: int = 64 << 20
    max_bytes: int = 1 << 40
    max_ratio: float = 200.0

    def check(self, where: str, unpacked: int, packed: int | None = None) -> None:
        """Raises if what takes so many bytes, compressed to ``packed`` of them, is beyond the limits."""
        if unpacked > self.max_bytes:
            raise DataFormatError(
                f"{where}: {unpacked:,} bytes are more than {self.max_bytes:,}; raise max_bytes if so."
            )
        if packed is not None and unpacked > max(FREE_BYTES, self.max_ratio * packed):
            raise DataFormatError(
                f"{where}: {packed:,} compressed bytes become {unpacked:,}, more than {self.max_ratio:g} "
                "times as many, as in a decompression bomb; raise max_ratio if you trust the file."
            )


def compression(head: bytes) -> str | None:
    """How a file with these first bytes is compressed: its content decides, not its name."""
    if head.startswith(GZIP):
        return "gzip"
    return "bzip2" if head.startswith(BZIP2) and head[4:10] == PI else None


@dataclass
class DataFile:
    """A file to be gone through as often as needed, which must not change meanwhile."""

    path: Path
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self._seen = self._signature()

    def _signature(self) -> tuple[int, int]:
        status = os.stat(self.path)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no file that can be read twice"
            raise DataFormatError(f"{self.path}: this is {kind}; give a file.")
        return status.st_size, status.st_mtime_ns

    def check_unchanged(self) -> None:
        """Raises if the file is not the one that was opened."""
        if self._signature() != self._seen:
            raise DataFormatError(f"{self.path}: the file has changed since it was opened; open it again.")

    @contextmanager
    def pieces(self, skip: int = 0) -> Iterator[Pieces]:
        """The text from its beginning, or without its first bytes; a byte order mark is no part of it."""
        self.check_unchanged()
        with open(self.path, "rb") as raw:
            kind = compression(raw.read(10))
            raw.seek(0)
            if kind is None:
                yield Pieces(self, raw, raw, skip)
                return
            with gzip.GzipFile(fileobj=raw) if kind == "gzip" else bz2.BZ2File(raw) as stream:
                yield Pieces(self, raw, stream, skip)


class Pieces:
    """A window on the text: what a parser leaves of it is in front of what comes next."""

    def __init__(self, file: DataFile, raw: BinaryIO, stream: Any, skip: int) -> None:
        self._file, self._raw, self._stream = file, raw, stream
        self._buffer = np.empty(min(PIECE_BYTES, file.limits.max_row_bytes), dtype=np.uint8)
        self._start = self._stop = 0
        self._n_read = 0
        self.at_end = False  # the window reaches the end of the text
        self._hold(len(BOM))
        if skip == 0 and self.text[: len(BOM)].tobytes() == BOM:
            skip = len(BOM)
        while skip > len(self.text):
            skip -= len(self.text)
            self.advance(len(self.text))
            self.more()
        self.advance(skip)

    def _hold(self, n_bytes: int) -> None:
        while len(self.text) < n_bytes and not self.at_end:
            self.more()

    @property
    def text(self) -> np.ndarray:
        """The window, as bytes."""
        return self._buffer[self._start : self._stop]

    @property
    def offset(self) -> int:
        """Where in the text the window begins."""
        return self._n_read - (self._stop - self._start)

    def advance(self, n_bytes: int) -> None:
        """Takes bytes away from the window's front."""
        self._start += n_bytes

    def more(self) -> bool:
        """Appends to the window; False where it holds a whole row's limit already."""
        left = self._stop - self._start
        if left == len(self._buffer):
            limit = self._file.limits.max_row_bytes
            if left >= limit:
                return False
            wider = np.empty(min(2 * left, limit), dtype=np.uint8)
            wider[:left] = self._buffer
            self._buffer = wider
        elif self._start:
            self._buffer[:left] = self._buffer[self._start : self._stop].copy()
        self._start, self._stop = 0, left
        n_bytes = self._read(self._buffer.data[left:])
        self._stop += n_bytes
        self._n_read += n_bytes
        self.at_end = n_bytes == 0
        return True

    def _read(self, into: memoryview) -> int:
        path = self._file.path
        try:
            n_bytes = self._stream.readinto(into)
        except (EOFError, OSError, zlib.error) as error:
            if self._stream is self._raw:
                raise
            raise DataFormatError(
                f"{path}: the compressed data are damaged or cut off after {self._n_read:,} bytes of text "
                f"({error}); get the file again."
            ) from error
        packed = None if self._stream is self._raw else self._raw.tell()
        self._file.limits.check(str(path), self._n_read + n_bytes, packed)
        return n_bytes


def feed(parser: Any, pieces: Pieces, take: Any) -> str | None:
    """Gives text to a parser by ``take(text, at_end)`` until its block is full or the text ends.

    Returns the name of what went wrong, if something did: "long" for a row that is longer than the limit.
    """
    while True:
        n_bytes = take(pieces.text, pieces.at_end)
        if parser.error is not None:
            return str(parser.error[0])  # the window stays: it is what the error's place refers to
        pieces.advance(n_bytes)
        if parser.full or pieces.at_end:
            return None
        if not pieces.more():
            return "long"


_CSV = {
    "short row": "the row has {count} of {n_columns} fields; every row needs all of them, empty if need be",
    "long row": "the row has {count} fields instead of {n_columns}; put a field that contains the delimiter "
    "{delimiter!r} into double quotes",
    "not a number": "{found!r} is no number, and the column is one of numbers{why}. Correct it{remedy}",
    "not finite": "{found!r} is no finite number: it must be within ±1.8e308. Correct it{remedy}",
    "missing label": "the label is missing: {found!r} is one of the values of `missing`. Remove the row, or "
    "give `missing` without it if it is a label",
    "carriage return": "a carriage return without a line feed; lines end in \\n or \\r\\n. Put the field "
    "into double quotes if it belongs there",
    "text after quote": "text behind a closing quote: {found!r}. Double the quotes within a quoted field",
    "open quote": "a quoted field that begins here has no closing quote: {found!r}",
}
_LIBSVM = {
    "no label": "{found!r} stands where the label should be; a row is `label index:value index:value ...`",
    "several labels": "{found!r} are several labels; rows have one label. If the file is CSV, give "
    "format='csv'",
    "missing label": "the label is missing: {found!r} is one of the values of `missing`",
    "qid": "{found!r}: ranking data with query numbers are not accepted; remove them",
    "no colon": "{found!r} has no colon; write index:value. If the file is CSV, give format='csv'",
    "index": "the index of {found!r} is no whole number",
    "negative index": "{found!r} has a negative index; indices are {first}, {second}, ...",
    "index 0": "{found!r}: indices begin with 1; give zero_based=True for a file in which they begin with 0",
    "index too large": "the index of {found!r} is too large; at most 2147483647 features are accepted",
    "more features": "{found!r} lies outside the {n_features} features that a model was trained with, or "
    "that were asked for (n_features)",
    "repeated index": "the index of {found!r} appears twice in the row",
    "index out of order": "the index of {found!r} is smaller than the one before; indices must ascend",
    "not a number": "the value of {found!r} is no number",
    "not finite": "the value of {found!r} is no finite number: it must be within ±1.8e308",
}
_BOTH = {
    "NUL byte": "a NUL byte (byte {byte:,} of the text); this is no text file, or a damaged one",
    "not UTF-8": "byte {byte:,} of the text, 0x{hex}, is not UTF-8; save the file as UTF-8",
    "long": "the row that begins here is longer than {max_row_bytes:,} bytes, as after a quote that is never "
    "closed; raise max_row_bytes if that is right",
}


def text_error(
    path: Path, where: str, what: str, *, found: bytes = b"", byte: int = 0, **facts: Any
) -> DataFormatError:
    """The error of that name at a place of a file; ``facts`` are what its sentence names."""
    sentences = _BOTH | (_CSV if "n_columns" in facts else _LIBSVM)
    shown = found.decode("utf-8", errors="ignore")
    sentence = sentences[what].format(found=shown, byte=byte, hex=found[:1].hex().upper(), **facts)
    return DataFormatError(f"{path}, {where}: {sentence}.")

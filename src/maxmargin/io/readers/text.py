"""The text of a file: decompressed, read piece by piece, within limits."""

from __future__ import annotations

import bz2
import gzip
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .encodings import Utf8Stream, likely_encoding
from .errors import DataFormatError

PIECE_BYTES = 1 << 22  # enough for several threads to parse at once
MAX_BYTES_OF_ANY_RATIO = 64 << 20  # decompressed; a larger text must keep to max_ratio
GZIP_START, BZIP2_START, BZIP2_BLOCK_START = b"\x1f\x8b", b"BZh", b"1AY&SY"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Limits:
    """Limits on a file: its longest row, its size, and its growth when decompressed."""

    max_row_bytes: int = 64 << 20
    max_bytes: int = 1 << 40
    max_ratio: float = 200.0

    def check(self, name: str, unpacked: int, packed: int | None = None, place: str = "") -> None:
        """Raise if ``unpacked`` bytes, compressed to ``packed`` bytes, exceed the limits."""
        if unpacked > self.max_bytes:
            raise DataFormatError(
                f"{unpacked:,} bytes are more than the limit of {self.max_bytes:,}",
                name=name,
                place=place,
                remedy="raise {max_bytes} if the size is right",
                arguments={"max_bytes": None},
            )
        if packed is not None and unpacked > max(MAX_BYTES_OF_ANY_RATIO, self.max_ratio * packed):
            raise DataFormatError(
                f"{packed:,} compressed bytes become {unpacked:,}, more than {self.max_ratio:g} times as "
                "many, as in a decompression bomb",
                name=name,
                place=place,
                remedy="raise {max_ratio} if you trust the file",
                arguments={"max_ratio": None},
            )


def compression(head: bytes) -> str | None:
    """How a file that begins with these bytes is compressed; its name does not matter."""
    if head.startswith(GZIP_START):
        return "gzip"
    return "bzip2" if head.startswith(BZIP2_START) and head[4:10] == BZIP2_BLOCK_START else None


@dataclass
class DataFile:
    """A file that is read as often as needed and must not change in between."""

    path: Path
    limits: Limits = field(default_factory=Limits)
    encoding: str | None = None  # of text; None for UTF-8

    def __post_init__(self) -> None:
        self._seen = self._signature()

    def _signature(self) -> tuple[int, int]:
        status = os.stat(self.path)
        if not stat.S_ISREG(status.st_mode):
            kind = (
                "a folder"
                if stat.S_ISDIR(status.st_mode)
                else "a device or a pipe, which cannot be read twice"
            )
            raise DataFormatError(f"this is {kind}", name=self.path, remedy="give a file")
        return status.st_size, status.st_mtime_ns

    def check_unchanged(self) -> None:
        """Raise if the file has changed since it was opened."""
        if self._signature() != self._seen:
            raise DataFormatError(
                "the file has changed since it was opened", name=self.path, remedy="open it again"
            )

    @contextmanager
    def pieces(self, skip: int = 0) -> Iterator[Pieces]:
        """The text from byte ``skip`` on, without a byte order mark."""
        self.check_unchanged()
        with open(self.path, "rb") as raw:
            kind = compression(raw.read(10))
            raw.seek(0)
            if kind is None:
                yield Pieces(self, raw, self._recoded(raw), skip)
                return
            with gzip.GzipFile(fileobj=raw) if kind == "gzip" else bz2.BZ2File(raw) as stream:
                yield Pieces(self, raw, self._recoded(stream), skip)

    def _recoded(self, stream: Any) -> Any:
        return stream if self.encoding is None else Utf8Stream(stream, self.encoding, self.path)


class Pieces:
    """A window on the text: bytes that a parser has not consumed stay in front of the following ones."""

    def __init__(self, file: DataFile, raw: BinaryIO, stream: Any, skip: int) -> None:
        self._file, self._raw, self._stream = file, raw, stream
        self._buffer = np.empty(min(PIECE_BYTES, file.limits.max_row_bytes), dtype=np.uint8)
        self._start = self._stop = 0
        self._n_read = 0
        self.at_end = False  # the window reaches the end of the text
        self._hold(len(BYTE_ORDER_MARK))
        if skip == 0 and self.text[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK:
            skip = len(BYTE_ORDER_MARK)
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
        """Position of the window in the text."""
        return self._n_read - (self._stop - self._start)

    def advance(self, n_bytes: int) -> None:
        """Drop bytes from the front of the window."""
        self._start += n_bytes

    def more(self) -> bool:
        """Read more text into the window; False if the window has reached the limit of a row."""
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
                f"the compressed data is damaged or truncated after {self._n_read:,} bytes of text ({error})",
                name=path,
                remedy="download or copy the file again",
            ) from error
        packed = None if self._stream is self._raw else self._raw.tell()
        self._file.limits.check(str(path), self._n_read + n_bytes, packed)
        return n_bytes


def feed(parser: Any, pieces: Pieces, take: Any) -> str | None:
    """Pass text to a parser by ``take(text, at_end)`` until its block is full or the text ends.

    Returns the parser's name of the error, "long" for a row beyond the limit, or None.
    """
    while True:
        n_bytes = take(pieces.text, pieces.at_end)
        if parser.error is not None:
            return str(parser.error[0])  # the window stays: the error's byte is counted from its start
        pieces.advance(n_bytes)
        if parser.full or pieces.at_end:
            return None
        if not pieces.more():
            return "long"


# Errors in any text file: the problem, and what to do.
TEXT_PROBLEMS = {
    "NUL byte": (
        "a NUL byte (byte {byte:,} of the text)",
        "give a text file, or its encoding ({encoding}); this is not UTF-8 text, or it is damaged",
    ),
    "not UTF-8": (
        "byte {byte:,} of the text, 0x{hex}, is not UTF-8",
        "save the file as UTF-8, or give its encoding ({encoding}), such as latin-1, shift_jis or utf-16",
    ),
    "long": (
        "the row that begins here is longer than {limit:,} bytes, as after a quote that is never closed",
        "raise {max_row_bytes} if the row is right",
    ),
}


def text_error(
    path: Path,
    what: str,
    problems: Mapping[str, tuple[str, str]],
    *,
    line: int,
    column: int | None = None,
    column_name: str | None = None,
    found: bytes = b"",
    arguments: Mapping[str, Any] | None = None,
    **facts: Any,
) -> DataFormatError:
    """The error that a parser calls ``what``, with the message from ``problems`` and its ``facts``."""
    problem, remedy = {**TEXT_PROBLEMS, **problems}[what]
    shown = found.decode("utf-8", errors="ignore")
    problem = problem.format(found=shown, hex=found[:1].hex().upper(), **facts)
    likely = likely_encoding(found) if facts.get("byte") == 0 else None
    given = {"encoding": likely, **(arguments or {})}
    needed = {name: value for name, value in given.items() if f"{{{name}}}" in remedy}
    place = "" if column_name is None else f"line {line}, column {column} ({column_name!r})"
    return DataFormatError(
        problem, name=path, place=place, line=line, column=column, remedy=remedy, arguments=needed
    )


def long_row_error(path: Path, line: int, limits: Limits) -> DataFormatError:
    """The error of a row that does not end within the limit."""
    arguments = {"max_row_bytes": None}
    return text_error(path, "long", {}, line=line, arguments=arguments, limit=limits.max_row_bytes)

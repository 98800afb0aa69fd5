"""Text in other encodings than UTF-8, recoded while it is read."""

from __future__ import annotations

import codecs
import difflib
from pathlib import Path
from typing import Any

from .errors import DataFormatError

__all__ = ["Utf8Stream", "checked_encoding", "likely_encoding"]

READ_BYTES = 1 << 16
KNOWN = ("utf-8", "latin-1", "cp1252", "utf-16", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp1251")
UTF8_NAMES = ("utf-8", "utf-8-sig")
BYTE_ORDER_MARKS = {b"\xff": "utf-16", b"\xfe": "utf-16"}  # their first bytes, which UTF-8 never has


def checked_encoding(name: str | None) -> str | None:
    """The encoding by the name that Python has for it; None for UTF-8."""
    if name is None:
        return None
    try:
        info = codecs.lookup(name)
    except (LookupError, TypeError, ValueError):
        info = None
    if info is None or not getattr(info, "_is_text_encoding", True):
        near = difflib.get_close_matches(str(name).lower(), KNOWN, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"encoding must be the name of a text encoding, such as {', '.join(KNOWN)}; got {name!r}.{hint}"
        )
    return None if info.name in UTF8_NAMES else info.name


def likely_encoding(head: bytes) -> str | None:
    """The encoding that a byte order mark tells, where it is not UTF-8."""
    return next((name for mark, name in BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)


class Utf8Stream:
    """The text of a stream of bytes, as UTF-8.

    Parameters
    ----------
    stream : binary stream
        The bytes of the file, decompressed.
    encoding : str
    path : Path
        Of the file, for errors.
    """

    def __init__(self, stream: Any, encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._waiting = b""  # recoded, and not yet read
        self._n_read, self._at_end = 0, False

    def readinto(self, into: memoryview) -> int:
        """Fill a part of a buffer; 0 at the end of the text."""
        while not self._waiting and not self._at_end:
            self._recode(self._stream.read(READ_BYTES))
        n = min(len(into), len(self._waiting))
        into[:n] = self._waiting[:n]
        self._waiting = self._waiting[n:]
        return n

    def _recode(self, piece: bytes) -> None:
        self._at_end = not piece
        try:
            self._waiting = self._decoder.decode(piece, final=self._at_end).encode("utf-8")
        except UnicodeError as error:
            first = max(self._n_read, 0)
            raise DataFormatError(
                f"bytes {first:,} to {first + len(piece):,} are not all {self._encoding} ({_reason(error)})",
                name=self._path,
                remedy="give the encoding of the file ({encoding})",
                arguments={"encoding": None},
            ) from None
        self._n_read += len(piece)


def _reason(error: UnicodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        found = error.object[error.start : min(error.end, error.start + 4)]
        return f"0x{found.hex().upper()}: {error.reason}" if found else error.reason
    return str(error)

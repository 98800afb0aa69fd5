"""The bytes of a zip file around its entries, for entries that are stored as they are.

A function of names, sizes, checksums and positions alone: no clock, no system, no flags. Files and entries of
4 GiB and more get the fields of ZIP64.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

FIRST_ENTRY = "header.json"
END_COMMENT_BYTES = 64  # hexadecimal SHA-256 of the first entry
_ELSEWHERE = 0xFFFFFFFF  # a size or a position that ZIP64's fields hold
_WIDE_FROM = 0xFFFFFFFF  # and which those are
_DATE = (1 << 5) | 1  # 1 January 1980


@dataclass(frozen=True)
class Entry:
    """A file in the zip: its name, bytes, CRC-32, and where its local header begins."""

    name: str
    size: int
    crc: int
    position: int


def local_head(entry: Entry) -> bytes:
    """What goes before the entry's bytes."""
    wide = entry.size >= _WIDE_FROM
    extra = struct.pack("<HHQQ", 1, 16, entry.size, entry.size) if wide else b""
    size = _ELSEWHERE if wide else entry.size
    needed = 45 if wide else 20
    fields = (b"PK\x03\x04", needed, 0, 0, 0, _DATE, entry.crc, size, size, len(entry.name), len(extra))
    return struct.pack("<4sHHHHHIIIHH", *fields) + entry.name.encode("ascii") + extra


def first_size(start: bytes) -> int | None:
    """Bytes of the first entry, given the file's first bytes; None where it is not stored, or another one."""
    if len(start) < 30 + len(FIRST_ENTRY):
        return None
    crc, size = struct.unpack_from("<II", start, 14)
    return size if start == local_head(Entry(FIRST_ENTRY, size, crc, 0)) else None


def tail(entries: Sequence[Entry], comment: str) -> bytes:
    """What follows the last entry: the directory and the end of the file, which has the comment."""
    last = entries[-1]
    start = last.position + len(local_head(last)) + last.size
    directory = b"".join(map(_directory_entry, entries))
    count, size = len(entries), len(directory)
    end64 = b""
    if start >= _WIDE_FROM or count >= 0xFFFF or size >= _WIDE_FROM:
        end64 = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
        end64 += struct.pack("<4sIQI", b"PK\x06\x07", 0, start + size, 1)
        count, size, start = 0xFFFF, _ELSEWHERE, _ELSEWHERE
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, size, start, len(comment))
    return directory + end64 + end + comment.encode("ascii")


def _directory_entry(entry: Entry) -> bytes:
    wide = entry.size >= _WIDE_FROM or entry.position >= _WIDE_FROM
    extra = struct.pack("<HHQQQ", 1, 24, entry.size, entry.size, entry.position) if wide else b""
    size, position = (_ELSEWHERE, _ELSEWHERE) if wide else (entry.size, entry.position)
    needed = 45 if wide else 20
    fields = (
        b"PK\x01\x02",
        needed,
        needed,
        0,
        0,
        0,
        _DATE,
        entry.crc,
        size,
        size,
        len(entry.name),
        len(extra),
    )
    return (
        struct.pack("<4sHHHHHHIIIHHHHHII", *fields, 0, 0, 0, 0, position) + entry.name.encode("ascii") + extra
    )

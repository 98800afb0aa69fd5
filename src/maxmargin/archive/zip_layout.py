"""The bytes of a zip file around uncompressed entries.

They depend on names, sizes, checksums and positions alone, not on a clock, the operating system or the
version of a library, as those of ``zipfile`` do. Files and entries of 4 GiB and more get ZIP64 fields.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

FIRST_ENTRY = "header.json"
END_COMMENT_BYTES = 64  # hexadecimal SHA-256 of the first entry
_ZIP64_MARK = 0xFFFFFFFF  # in place of a size or a position that a ZIP64 field holds
_ZIP64_FROM = 0xFFFFFFFF  # the smallest size or position in such a field
_DATE = (1 << 5) | 1  # 1 January 1980


@dataclass(frozen=True)
class ZipEntry:
    """A file in the zip: its name, bytes, CRC-32, and where its local header begins."""

    name: str
    size: int
    crc: int
    position: int


def local_head(entry: ZipEntry) -> bytes:
    """The header in front of the entry's bytes."""
    wide = entry.size >= _ZIP64_FROM
    extra = struct.pack("<HHQQ", 1, 16, entry.size, entry.size) if wide else b""
    size = _ZIP64_MARK if wide else entry.size
    needed = 45 if wide else 20
    fields = (b"PK\x03\x04", needed, 0, 0, 0, _DATE, entry.crc, size, size, len(entry.name), len(extra))
    return struct.pack("<4sHHHHHIIIHH", *fields) + entry.name.encode("ascii") + extra


def first_size(start: bytes) -> int | None:
    """Size of the first entry, from the file's first bytes; None unless it is an uncompressed header.json."""
    if len(start) < 30 + len(FIRST_ENTRY):
        return None
    crc, size = struct.unpack_from("<II", start, 14)
    return size if start == local_head(ZipEntry(FIRST_ENTRY, size, crc, 0)) else None


def tail(entries: Sequence[ZipEntry], comment: str) -> bytes:
    """The bytes after the last entry: the directory and the end record with the comment."""
    last = entries[-1]
    start = last.position + len(local_head(last)) + last.size
    directory = b"".join(map(_directory_entry, entries))
    count, size = len(entries), len(directory)
    end64 = b""
    if start >= _ZIP64_FROM or count >= 0xFFFF or size >= _ZIP64_FROM:
        end64 = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
        end64 += struct.pack("<4sIQI", b"PK\x06\x07", 0, start + size, 1)
        count, size, start = 0xFFFF, _ZIP64_MARK, _ZIP64_MARK
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, size, start, len(comment))
    return directory + end64 + end + comment.encode("ascii")


def _directory_entry(entry: ZipEntry) -> bytes:
    wide = entry.size >= _ZIP64_FROM or entry.position >= _ZIP64_FROM
    extra = struct.pack("<HHQQQ", 1, 24, entry.size, entry.size, entry.position) if wide else b""
    size, position = (_ZIP64_MARK, _ZIP64_MARK) if wide else (entry.size, entry.position)
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

"""The arrays of an .npz file: sizes are checked before anything is allocated, and objects refused."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .table import DataFormatError
from .text import DataFile

_KINDS = {"b": "booleans", "i": "integers", "u": "integers", "f": "floating-point numbers", "U": "strings"}
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class ArrayHeader:
    """What stands before an array's numbers."""

    shape: tuple[int, ...]
    column_by_column: bool
    dtype: np.dtype


class NpzEntries:
    """A zip file of arrays, open for reading."""

    def __init__(self, file: DataFile) -> None:
        self._file = file

    def __enter__(self) -> NpzEntries:
        self._file.check_unchanged()
        try:
            self._zip = zipfile.ZipFile(self._file.path)
        except zipfile.BadZipFile as error:
            raise DataFormatError(f"{self._file.path}: this is no .npz file ({error}).") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return [name.removesuffix(".npy") for name in self._zip.namelist() if name.endswith(".npy")]

    def header(self, name: str, kinds: str) -> ArrayHeader:
        """Shape and type of an array."""
        with self._array(name, kinds) as (header, _):
            return header

    def read(self, name: str, kinds: str) -> np.ndarray:
        """A whole array."""
        with self._array(name, kinds) as (header, stream):
            flat = self._numbers(stream, header.dtype, math.prod(header.shape), name)
            self._at_end(stream, name)
        return flat.reshape(header.shape, order="F" if header.column_by_column else "C")

    def rows(self, name: str, kinds: str, n_rows: int) -> Iterator[np.ndarray]:
        """An array that is stored row by row, some rows at a time."""
        with self._array(name, kinds) as (header, stream):
            width = math.prod(header.shape[1:])
            for first in range(0, header.shape[0], n_rows):
                n = min(n_rows, header.shape[0] - first)
                yield self._numbers(stream, header.dtype, n * width, name).reshape(n, *header.shape[1:])
            self._at_end(stream, name)

    @contextmanager
    def _array(self, name: str, kinds: str) -> Iterator[tuple[ArrayHeader, IO[bytes]]]:
        where = f"{self._file.path}, array {name!r}"
        info = self._zip.getinfo(f"{name}.npy")
        self._check_size(info, where)
        try:
            with self._zip.open(info) as stream:
                header = self._read_header(stream, where)
                self._check_header(header, info.file_size - stream.tell(), kinds, where)
                yield header, stream
        except _DAMAGE as error:
            raise DataFormatError(f"{where}: the file is damaged ({error}); get it again.") from error

    def _check_size(self, info: zipfile.ZipInfo, where: str) -> None:
        packed = min(info.compress_size, os.path.getsize(self._file.path))
        self._file.limits.check(where, info.file_size, packed)

    @staticmethod
    def _read_header(stream: Any, where: str) -> ArrayHeader:
        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        try:
            version = npy.read_magic(stream)
            if version not in readers:
                raise ValueError(f"version {version} of its header; 1.0 and 2.0 are accepted")
            return ArrayHeader(*readers[version](stream))
        except Exception as error:  # of many kinds, since NumPy parses the header as Python
            raise DataFormatError(f"{where}: its header cannot be read ({error}).") from error

    @staticmethod
    def _check_header(header: ArrayHeader, n_bytes: int, kinds: str, where: str) -> None:
        if header.dtype.kind not in kinds or header.dtype.hasobject:
            accepted = ", ".join(dict.fromkeys(_KINDS[kind] for kind in kinds))
            raise DataFormatError(
                f"{where}: its type is {header.dtype}; accepted are {accepted}. Objects are never read: they "
                "could run code."
            )
        size = math.prod(header.shape) * header.dtype.itemsize
        if min(header.shape, default=0) < 0 or size != n_bytes:
            raise DataFormatError(
                f"{where}: its shape {header.shape} of {header.dtype} takes {size:,} bytes, and the file has "
                f"{n_bytes:,} for it; get the file again."
            )

    @staticmethod
    def _numbers(stream: Any, dtype: np.dtype, count: int, name: str) -> np.ndarray:
        out = np.empty(count, dtype=dtype)
        view, done = memoryview(out.view(np.uint8).data) if count and dtype.itemsize else memoryview(b""), 0
        while done < len(view):
            n = stream.readinto(view[done : done + (1 << 22)])
            if not n:
                raise EOFError(f"{done:,} of {len(view):,} bytes")
            done += n
        return out if out.dtype.isnative else out.astype(out.dtype.newbyteorder("="))

    @staticmethod
    def _at_end(stream: Any, name: str) -> None:
        stream.read(1)  # the sum of all bytes is checked when the end is met

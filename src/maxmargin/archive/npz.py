"""Arrays in an ``.npz`` file that anyone may have written: read by ``zipfile`` and NumPy, never unpickled."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .npy_layout import check_values, read_values

_NAMES_OF_KINDS = {
    "b": "booleans",
    "i": "integers",
    "u": "integers",
    "f": "floating-point numbers",
    "U": "strings",
}
_SIGNS_OF_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


class NpzError(ValueError):
    """An ``.npz`` file, or an array in it, that cannot be read."""

    def __init__(self, problem: str, array: str | None = None, remedy: str = "") -> None:
        super().__init__(problem)
        self.problem, self.array, self.remedy = problem, array, remedy


@dataclass(frozen=True)
class NpyHeader:
    """What precedes an array's values."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype


class NpzFile:
    """An ``.npz`` file, open for reading.

    ``check_size(array, unpacked, packed)`` is called with an array's bytes before any of them is read, and
    raises where they are too many. The types that a caller accepts are letters of ``dtype.kind``.
    """

    def __init__(
        self, path: str | os.PathLike[str], check_size: Callable[[str, int, int], None] = lambda *sizes: None
    ) -> None:
        self._path, self._check_size = path, check_size
        try:
            self._zip = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise NpzError(f"this is not an .npz file ({error})") from error

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return [name.removesuffix(".npy") for name in self._zip.namelist() if name.endswith(".npy")]

    def header(self, name: str, kinds: str) -> NpyHeader:
        """Shape and type of an array."""
        with self._array(name, kinds) as (header, _):
            return header

    def read(self, name: str, kinds: str) -> np.ndarray:
        """A whole array."""
        with self._array(name, kinds) as (header, stream):
            flat = _native_values(stream, header.dtype, math.prod(header.shape), name)
            _check_sum(stream)
        return flat.reshape(header.shape, order="F" if header.fortran_order else "C")

    def rows(self, name: str, kinds: str, n_rows: int) -> Iterator[np.ndarray]:
        """An array that is stored row by row, ``n_rows`` rows at a time."""
        with self._array(name, kinds) as (header, stream):
            width = math.prod(header.shape[1:])
            for first in range(0, header.shape[0], n_rows):
                n = min(n_rows, header.shape[0] - first)
                yield _native_values(stream, header.dtype, n * width, name).reshape(n, *header.shape[1:])
            _check_sum(stream)

    @contextmanager
    def _array(self, name: str, kinds: str) -> Iterator[tuple[NpyHeader, IO[bytes]]]:
        info = self._zip.getinfo(f"{name}.npy")
        self._check_size(name, info.file_size, min(info.compress_size, os.path.getsize(self._path)))
        try:
            with self._zip.open(info) as stream:
                header = _read_header(stream, name)
                _check_header(header, info.file_size - stream.tell(), kinds, name)
                yield header, stream
        except _SIGNS_OF_DAMAGE as error:
            raise NpzError(f"the file is damaged ({error})", name, "download or copy it again") from error


def _read_header(stream: Any, name: str) -> NpyHeader:
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(stream)
        if version not in readers:
            raise ValueError(f"version {version} of its header; 1.0 and 2.0 are accepted")
        return NpyHeader(*readers[version](stream))
    except Exception as error:  # of many kinds, since NumPy parses the header as a Python literal
        raise NpzError(f"its header cannot be read ({error})", name) from error


def _check_header(header: NpyHeader, n_bytes: int, kinds: str, name: str) -> None:
    if header.dtype.kind not in kinds or header.dtype.hasobject:
        accepted = ", ".join(dict.fromkeys(_NAMES_OF_KINDS[kind] for kind in kinds))
        raise NpzError(
            f"its type is {header.dtype}; accepted are {accepted}. Objects are never read: "
            "they could run code",
            name,
        )
    size = math.prod(header.shape) * header.dtype.itemsize
    if min(header.shape, default=0) < 0 or size != n_bytes:
        raise NpzError(
            f"its shape {header.shape} of {header.dtype} takes {size:,} bytes, but the file has {n_bytes:,}",
            name,
            "download or copy the file again",
        )


def _native_values(stream: Any, dtype: np.dtype, count: int, name: str) -> np.ndarray:
    """The next ``count`` values of the stream, in this machine's byte order."""
    flat = read_values(stream, count * dtype.itemsize)
    values = flat.view(dtype) if flat.size else np.empty(count, dtype)
    native = values if dtype.isnative else values.astype(dtype.newbyteorder("="))
    try:
        check_values(native)
    except ValueError as error:
        raise NpzError(str(error).rstrip("."), name) from None
    return native


def _check_sum(stream: Any) -> None:
    stream.read(1)  # zipfile compares the CRC-32 when it meets the end

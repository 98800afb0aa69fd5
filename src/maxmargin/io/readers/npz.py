"""NumPy's .npz files: a matrix and a vector of labels; objects, which would run code, are never read."""

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
from scipy import sparse

from .csv import near
from .table import (
    BLOCK_ROWS,
    Block,
    DataFormatError,
    rows_of_a_block,
)
from .text import DataFile

PARTS = ("data", "indices", "indptr", "shape")


class NpzSource:
    """An .npz file that is open for reading; ``open_source`` makes one and states the rules.

    Dense rows are read block by block, unless they are stored column by column; sparse ones are held in
    memory.
    """

    columns = None

    def __init__(self, file: DataFile, *, data: str | None, target: str | int | None) -> None:
        self._file, self.name = file, str(file.path)
        with NpzEntries(file) as entries:
            names = entries.names
            self._data = self._choose(data, names)
            self._sparse = self._data not in names
            if target is None:
                target = self._data.replace("X", "y", 1)
                target = target if target in names and target != self._data else None
            elif target not in names:
                raise DataFormatError(
                    f"{self.name}: there is no array {target!r} to be the target. {near(str(target), names)}"
                )
            self.target = None if target is None else str(target)
            shape = self._shape(entries)
            self._n_rows, self.n_features = shape
            self._labels = None if target is None else self._read_labels(entries)

    def _choose(self, data: str | None, names: list[str]) -> str:
        for name in ("X", "X_train") if data is None else (data,):
            if name in names or all(f"{name}_{part}" in names for part in PARTS):
                return name
        wanted = "'X' or 'X_train'" if data is None else repr(data)
        shown = ", ".join(map(repr, names[:20]))
        raise DataFormatError(
            f"{self.name}: there is no array {wanted}, nor its sparse parts (data, indices, indptr, "
            f"shape). Name the features' array (data=...) out of {shown}."
        )

    def _shape(self, entries: NpzEntries) -> tuple[int, int]:
        if self._sparse:
            shape = entries.read(f"{self._data}_shape", "iu").tolist()
            if len(shape) != 2 or min(shape) < 0 or max(shape) > 1 << 48:
                raise DataFormatError(
                    f"{self.name}, array '{self._data}_shape': {shape} is not (rows, columns)."
                )
        else:
            shape = list(entries.header(self._data, "biuf").shape)
        if len(shape) != 2 or shape[0] == 0:
            raise DataFormatError(
                f"{self.name}, array {self._data!r}: its shape is {tuple(shape)}; (rows, columns) with at "
                "least one row is needed."
            )
        return shape[0], shape[1]

    def _read_labels(self, entries: NpzEntries) -> np.ndarray:
        labels = entries.read(self.target or "", "biufU")
        if labels.shape != (self._n_rows,):
            raise DataFormatError(
                f"{self.name}, array {self.target!r}: its shape is {labels.shape}; one label for each of the "
                f"{self._n_rows} rows is needed."
            )
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise DataFormatError(
                f"{self.name}, array {self.target!r}, row {row}: the label is {labels[row]}."
            )
        return labels

    def options(self) -> dict[str, Any]:
        """What ``open_source`` needs in order to read another file as this one was read."""
        return {"format": "npz", "data": self._data, "target": self.target}

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time; fewer where a block would take more than 64 MiB."""
        with NpzEntries(self._file) as entries:
            if self._sparse:
                yield from self._slices(self._read_sparse(entries), rows_of_a_block(n_rows, 1))
            elif entries.header(self._data, "biuf").column_by_column:
                yield from self._slices(entries.read(self._data, "biuf"), self._limited(n_rows))
            else:
                first = 0
                for rows in entries.rows(self._data, "biuf", self._limited(n_rows)):
                    yield self._block(rows, first)
                    first += len(rows)

    def _limited(self, n_rows: int) -> int:
        return rows_of_a_block(n_rows, self.n_features)

    def _slices(self, X: Any, n_rows: int) -> Iterator[Block]:
        for first in range(0, self._n_rows, n_rows):
            yield self._block(X[first : first + n_rows], first)

    def _block(self, X: Any, first: int) -> Block:
        X = X.astype(np.float64, order="C") if isinstance(X, np.ndarray) else X.astype(np.float64)
        values, starts = (X, None) if isinstance(X, np.ndarray) else (X.data, X.indptr)
        if np.isinf(values).any():
            place = np.argwhere(np.isinf(values))[0]
            row = int(place[0] if starts is None else np.searchsorted(starts, place[0], side="right") - 1)
            column = int(place[1] if starts is None else X.indices[place[0]])
            raise DataFormatError(
                f"{self.name}, array {self._data!r}, row {first + row}, column {column}: an infinite value; "
                "values must be finite, or NaN where they are missing."
            )
        n_rows = X.shape[0]
        labels = None if self._labels is None else self._labels[first : first + n_rows]
        return Block(X, labels, first, n_rows)

    def _read_sparse(self, entries: NpzEntries) -> Any:
        kinds = {"data": "biuf", "indices": "iu", "indptr": "iu"}
        parts = [entries.read(f"{self._data}_{part}", kind) for part, kind in kinds.items()]
        try:
            X = sparse.csr_matrix(tuple(parts), shape=(self._n_rows, self.n_features), copy=False)
            X.check_format(full_check=True)
            X.sort_indices()
        except (ValueError, OverflowError) as error:
            raise DataFormatError(
                f"{self.name}: the parts of {self._data!r} are no CSR matrix: {error}."
            ) from error
        if not X.has_canonical_format:
            raise DataFormatError(f"{self.name}: a row of {self._data!r} has an index twice.")
        return X


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

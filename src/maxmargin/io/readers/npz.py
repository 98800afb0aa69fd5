"""NumPy's .npz files: a matrix, dense or in CSR parts, and a vector of labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from ...archive import NpzError, NpzFile
from .errors import DataFormatError, similar_names
from .table import BLOCK_ROWS, Block, rows_per_block
from .text import DataFile

CSR_PARTS = ("data", "indices", "indptr", "shape")


class NpzSource:
    """An .npz file, open for reading; see ``open_source`` for the rules.

    Dense rows are read block by block unless they are stored column by column; sparse rows are read whole.
    """

    columns = None

    def __init__(self, file: DataFile, *, data: str | None, target: str | int | None) -> None:
        self._file, self.name = file, str(file.path)
        with self._open() as entries:
            names = entries.names
            self._data = self._choose(data, names)
            self._sparse = self._data not in names
            if target is None:
                target = self._data.replace("X", "y", 1)
                target = target if target in names and target != self._data else None
            elif target not in names:
                others = similar_names(str(target), names, "arrays")
                raise self._error(f"there is no array {target!r} to be the target ({others})")
            self.target = None if target is None else str(target)
            shape = self._shape(entries)
            self._n_rows, self.n_features = shape
            self._labels = None if target is None else self._read_labels(entries)

    @contextmanager
    def _open(self) -> Iterator[NpzFile]:
        self._file.check_unchanged()
        try:
            with NpzFile(self._file.path, self._check_size) as entries:
                yield entries
        except NpzError as error:
            raise self._error(error.problem, error.array, remedy=error.remedy) from error

    def _check_size(self, array: str, unpacked: int, packed: int) -> None:
        self._file.limits.check(self.name, unpacked, packed, place=f"array {array!r}")

    def _error(self, problem: str, array: str | None = None, place: str = "", **more: Any) -> DataFormatError:
        where = "" if array is None else f"array {array!r}{place}"
        return DataFormatError(problem, name=self.name, place=where, **more)

    def _choose(self, data: str | None, names: list[str]) -> str:
        for name in ("X", "X_train") if data is None else (data,):
            if name in names or all(f"{name}_{part}" in names for part in CSR_PARTS):
                return name
        wanted = "'X' or 'X_train'" if data is None else repr(data)
        raise self._error(
            f"there is no array {wanted}, nor its sparse parts data, indices, indptr and shape "
            f"({similar_names(data or 'X', names, 'arrays')})",
            remedy="name the array of the features ({data})",
            arguments={"data": None},
        )

    def _shape(self, entries: NpzFile) -> tuple[int, int]:
        if self._sparse:
            shape = entries.read(f"{self._data}_shape", "iu").tolist()
            if len(shape) != 2 or min(shape) < 0 or max(shape) > 1 << 48:
                raise self._error(f"{shape} is not (rows, columns)", f"{self._data}_shape")
        else:
            shape = list(entries.header(self._data, "biuf").shape)
        if len(shape) != 2 or shape[0] == 0:
            raise self._error(
                f"its shape is {tuple(shape)}; (rows, columns) with at least one row is needed", self._data
            )
        return shape[0], shape[1]

    def _read_labels(self, entries: NpzFile) -> np.ndarray:
        labels = entries.read(self.target or "", "biufU")
        if labels.shape != (self._n_rows,):
            raise self._error(
                f"its shape is {labels.shape}; one label for each of the {self._n_rows} rows is needed",
                self.target,
            )
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise self._error(f"the label is {labels[row]}", self.target, f", row {row}")
        return labels

    def options(self) -> dict[str, Any]:
        """Arguments with which ``open_source`` reads another file as this one was read."""
        return {"format": "npz", "data": self._data, "target": self.target}

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time; fewer if a block would take more than 64 MiB."""
        with self._open() as entries:
            if self._sparse:
                yield from self._slices(self._read_sparse(entries), rows_per_block(n_rows, 1))
            elif entries.header(self._data, "biuf").fortran_order:
                yield from self._slices(entries.read(self._data, "biuf"), self._limited(n_rows))
            else:
                first = 0
                for rows in entries.rows(self._data, "biuf", self._limited(n_rows)):
                    yield self._block(rows, first)
                    first += len(rows)

    def _limited(self, n_rows: int) -> int:
        return rows_per_block(n_rows, self.n_features)

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
            raise self._error(
                "an infinite value; values must be finite, or NaN where they are missing",
                self._data,
                f", row {first + row}, column {column}",
            )
        n_rows = X.shape[0]
        labels = None if self._labels is None else self._labels[first : first + n_rows]
        return Block(X, labels, first, n_rows)

    def _read_sparse(self, entries: NpzFile) -> Any:
        kinds = {"data": "biuf", "indices": "iu", "indptr": "iu"}
        parts = [entries.read(f"{self._data}_{part}", kind) for part, kind in kinds.items()]
        try:
            X = sparse.csr_matrix(tuple(parts), shape=(self._n_rows, self.n_features), copy=False)
            X.check_format(full_check=True)
            X.sort_indices()
        except (ValueError, OverflowError) as error:
            raise self._error(f"the parts of {self._data!r} are not a CSR matrix: {error}") from error
        if not X.has_canonical_format:
            raise self._error(f"a row of {self._data!r} has an index twice")
        return X

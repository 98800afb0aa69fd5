"""NumPy's .npz files: a matrix and a vector of labels; objects, which would run code, are never read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .csv_header import near
from .npz_entries import NpzEntries
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

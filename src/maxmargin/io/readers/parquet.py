"""Parquet files, read by pyarrow: columns of numbers, booleans and strings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .errors import DataFormatError, unknown_column
from .table import BLOCK_ROWS, Block, Column, Kind, Words, find_target, join, rows_per_block, text_labels
from .text import DataFile

_ZERO_FRACTION = re.compile(r"\.0+(?=Z?$)")


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files are read by pyarrow, which is not installed: pip install 'maxmargin[parquet]'."
        ) from error
    return pyarrow, pyarrow.parquet


class ParquetSource:
    """A Parquet file, open for reading; see ``open_source`` for the rules.

    Integers, floating-point numbers, decimals and booleans are numeric; strings, dictionaries of strings,
    dates and times of the clock (as text) are categorical. Nulls and NaN are missing values.
    """

    def __init__(self, file: DataFile, *, target: str | int | None, kinds: Mapping[str, Kind] | None) -> None:
        self._arrow, self._parquet = _pyarrow()
        self._file, self._path, self.name = file, file.path, str(file.path)
        with self._open() as opened:
            schema = opened.schema_arrow
            names = schema.names
            groups = [opened.metadata.row_group(i) for i in range(opened.num_row_groups)]
        file.limits.check(self.name, sum(g.total_byte_size for g in groups), os.path.getsize(file.path))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataFormatError(
                f"two columns have the name {twice!r}, but names must differ", name=self._path
            )
        self.names = tuple(names)  # the target included
        position = find_target(self._path, target, names)
        self.target = None if position is None else names[position]
        self.columns = tuple(
            Column(name, self._kind(name, schema.field(name).type, (kinds or {}).get(name)))
            for name in names
            if name != self.target
        )
        self._words_read = [
            name
            for name in names
            if self._kind(name, schema.field(name).type) == "words"
            and not self._is_date(schema.field(name).type)
        ]
        self._check_declared(kinds or {})
        dictionaries = [c.name for c in self.columns if self._is_dictionary(schema.field(c.name).type)]
        self.category_types = frozenset(dictionaries)  # as categories of data frames are stored
        self.declared = dict.fromkeys(dictionaries, "words") | dict(kinds or {})

    @contextmanager
    def _open(self, dictionaries: Sequence[str] = ()) -> Iterator[Any]:
        """The file; ``dictionaries`` are columns of strings that stay as short as the file has them."""
        self._file.check_unchanged()
        try:
            with self._parquet.ParquetFile(self._path, read_dictionary=dictionaries) as file:
                yield file
        except (self._arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataFormatError(f"the file cannot be read as Parquet ({error})", name=self._path) from error

    def _kind(self, name: str, kind: Any, declared: Kind | None = None) -> Kind:
        """The kind of a column of this Arrow type; a column of nulls has the declared kind."""
        types = self._arrow.types
        if types.is_null(kind) and declared == "words":
            return "words"
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_string(kind) or types.is_large_string(kind) or self._is_date(kind):
            return "words"
        numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
        if any(is_kind(kind) for is_kind in numeric):
            return "number"
        raise DataFormatError(
            f"its type is {kind}, but numbers, booleans, strings and dates are accepted",
            name=self._path,
            place=f"column {name!r}",
            remedy="convert the column, or leave it out",
        )

    def _is_date(self, kind: Any) -> bool:
        return bool(self._arrow.types.is_date(kind) or self._arrow.types.is_timestamp(kind))

    def _is_dictionary(self, kind: Any) -> bool:
        return self._kind("", kind) == "words" and bool(self._arrow.types.is_dictionary(kind))

    def _check_declared(self, kinds: Mapping[str, Kind]) -> None:
        found: dict[str, Kind] = {column.name: column.kind for column in self.columns}
        for name, kind in kinds.items():
            if name not in found:
                raise unknown_column(self.name, name, list(found))
            if kind != found[name]:
                raise DataFormatError(
                    f"its kind is {found[name]!r}, but `kinds` declares {kind!r}",
                    name=self._path,
                    place=f"column {name!r}",
                )

    @property
    def n_features(self) -> int:
        """Columns without the target."""
        return len(self.columns)

    def options(self) -> dict[str, Any]:
        """Arguments with which ``open_source`` reads another file as this one was read."""
        kinds = {column.name: column.kind for column in self.columns}
        return {"format": "parquet", "target": self.target, "kinds": kinds}

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time; fewer if a block would take more than 64 MiB."""
        n_rows, first = rows_per_block(n_rows, 1 + len(self.columns)), 0
        parts: list[Block] = []  # of one block: a batch ends where the file has another dictionary
        for batch in self._batches(n_rows):
            parts.append(self._block(batch, first))
            first += batch.num_rows
            if first - parts[0].first_row >= n_rows:
                yield join(parts)
                parts = []
        if parts:
            yield join(parts)
        if first == 0:
            raise DataFormatError("the file has no rows", name=self._path, remedy="at least one is needed")

    def _batches(self, n_rows: int) -> Iterator[Any]:
        """Arrow's batches of up to ``n_rows`` rows; no empty ones."""
        with self._open(self._words_read) as file:
            for batch in file.iter_batches(batch_size=n_rows):
                if batch.num_rows:
                    yield batch

    def _block(self, batch: Any, first: int) -> Block:
        features: dict[str, np.ndarray | Words] = {}
        for column in self.columns:
            values = batch.column(column.name)
            if column.kind == "words":
                features[column.name] = self._words(values, column.name)
            else:
                features[column.name] = self._numbers(values, column.name, first)
        target = None if self.target is None else self._labels(batch.column(self.target), first)
        return Block(features, target, first, batch.num_rows)

    def _words(self, values: Any, name: str | None) -> Words:
        dates = self._is_date(values.type)
        if dates:
            values = values.cast(self._arrow.string())
        if not self._arrow.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        codes = values.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        try:
            table = values.dictionary.to_pylist()
        except UnicodeDecodeError as error:
            raise DataFormatError(
                f"a value is not valid UTF-8 ({error})", name=self._path, place=f"column {name!r}"
            ) from None
        if dates:
            table = [_short_date(text) for text in table]
        met, places = np.unique(codes[codes >= 0], return_index=True)
        order = met[
            np.argsort(np.flatnonzero(codes >= 0)[places])
        ]  # as the rows have them, not the dictionary
        numbers: dict[str | None, int] = {None: -1}
        renamed = np.full(len(table) + 1, -1, dtype=np.int32)
        for code in order.tolist():
            renamed[code] = numbers.setdefault(table[code], len(numbers) - 1)
        return Words(renamed[codes], tuple(word for word in numbers if word is not None))

    def _plain(self, values: Any) -> Any:
        """The array without a dictionary."""
        return values.dictionary_decode() if self._arrow.types.is_dictionary(values.type) else values

    def _numbers(self, values: Any, name: str, first: int) -> np.ndarray:
        plain = self._plain(values).cast(self._arrow.float64(), safe=False)
        numbers = plain.to_numpy(zero_copy_only=False).astype(np.float64)
        if np.isinf(numbers).any():
            row = first + int(np.flatnonzero(np.isinf(numbers))[0])
            raise DataFormatError(
                "an infinite value; values must be finite or null",
                name=self._path,
                place=f"row {row}, column {name!r}",
            )
        return numbers

    def _labels(self, values: Any, first: int) -> np.ndarray:
        if values.null_count:
            row = first + int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataFormatError(
                "the label is missing",
                name=self._path,
                place=f"row {row}, column {self.target!r}",
                remedy="remove the row",
            )
        if self.target in self._words_read or self._is_date(values.type):
            return text_labels(self._words(values, self.target), self.name, self.target)
        values = self._plain(values)
        if self._arrow.types.is_decimal(values.type):
            values = values.cast(self._arrow.float64())
        return values.to_numpy(zero_copy_only=False)


def _short_date(text: str) -> str:
    """A time of the clock without a fraction and a time that are zero."""
    return _ZERO_FRACTION.sub("", text).removesuffix(" 00:00:00")

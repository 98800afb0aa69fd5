"""Tables as they are given, blocks of a file, data frames or matrices, in one form: columns or a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from ..data import checked_input
from ..io.readers import Block, Kind, Words

GivenColumn = np.ndarray | Words
COLUMNS_PER_COPY = 64  # into a matrix at a time, so that whole lines of the cache are written
_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class GivenTable:
    """Named columns, or a matrix without names; ``of_file`` where a reader made it."""

    names: tuple[str, ...] | None
    columns: tuple[GivenColumn, ...] | None
    matrix: Any
    n_rows: int
    of_file: bool = False

    @property
    def n_columns(self) -> int:
        """Features."""
        return len(self.columns) if self.columns is not None else int(self.matrix.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether it is a CSR matrix."""
        return self.columns is None and sparse.issparse(self.matrix)

    def kinds(self) -> list[Kind]:
        """What each column holds."""
        if self.columns is None:
            return ["number"] * self.n_columns
        return ["words" if isinstance(column, Words) else "number" for column in self.columns]

    def has_value(self, j: int) -> bool:
        """Whether any row has a value in column j."""
        if self.columns is None:
            return bool((self.matrix[:, j] == self.matrix[:, j]).any())
        column = self.columns[j]
        if isinstance(column, Words):
            return bool((column.codes >= 0).any())
        return bool(len(column) and column[0] == column[0]) or not np.isnan(column).all()

    def numbers(self, which: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Some columns of numbers, as float64 (stop - start, len(which)) of its own memory."""
        if self.columns is None:
            return np.asarray(self.matrix[start:stop, which], dtype=np.float64, order="F")
        out = np.empty((stop - start, len(which)))
        some: list[Any] = [self.columns[column] for column in which.tolist()]
        for j in range(0, len(some), COLUMNS_PER_COPY):
            panel = np.array([column[start:stop] for column in some[j : j + COLUMNS_PER_COPY]])
            out[:, j : j + COLUMNS_PER_COPY] = panel.T
        return out


def is_table(X: Any) -> bool:
    """Whether X has named columns: a block of a file, a data frame, a table of pyarrow, a mapping."""
    if isinstance(X, Block) or sparse.issparse(X):
        return isinstance(X, Block)
    return isinstance(X, Mapping) or (hasattr(X, "columns") and hasattr(X, "__getitem__"))


def given_table(X: Any) -> GivenTable:
    """A block, a data frame or a mapping from names to columns, as a ``GivenTable``."""
    if isinstance(X, Block):
        if isinstance(X.features, Mapping):
            return _of_columns(X.features, X.n_rows, of_file=True)
        return GivenTable(None, None, checked_input(X.features), X.n_rows, of_file=True)
    if isinstance(X, Mapping):
        return _of_columns(X, None)
    keys = getattr(X, "column_names", X.columns)  # pyarrow's columns are no names
    names = [str(key) for key in keys]
    _refuse_twice(names)
    return _of_columns({name: X[key] for name, key in zip(names, keys)}, len(X))


def is_plain_matrix(X: Any) -> bool:
    """Whether X is a matrix of numbers, or a table of numeric columns without missing values."""
    if not is_table(X):
        return True
    table = given_table(X)
    return all(not isinstance(c, Words) and not np.isnan(c).any() for c in table.columns or ())


def given_matrix(X: Any) -> GivenTable:
    """A matrix that has been validated."""
    return GivenTable(None, None, X, int(X.shape[0]))


def _refuse_twice(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"columns must have different names; {', '.join(map(repr, twice))} come(s) twice.")


def _of_columns(features: Mapping[str, Any], n_rows: int | None, of_file: bool = False) -> GivenTable:
    columns = tuple(_column(name, values) for name, values in features.items())
    lengths = {len(column) for column in columns} | ({n_rows} if n_rows is not None else set())
    if len(lengths) > 1:
        raise ValueError(f"columns must have one length; they have {sorted(lengths)}.")
    return GivenTable(tuple(map(str, features)), columns, None, lengths.pop() if lengths else 0, of_file)


def _column(name: str, values: Any) -> GivenColumn:
    """Float64 with NaN where a number is missing, or words."""
    if isinstance(values, Words):
        return values
    if type(values) is np.ndarray and values.dtype is _DOUBLE and values.ndim == 1:
        return values
    array = values if isinstance(values, np.ndarray) else _to_numpy(values)
    if array.ndim != 1:
        raise ValueError(f"column {name!r} must be one-dimensional; got shape {array.shape}.")
    if array.dtype.kind in "iuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "b":
        return words_of(array.astype(str))
    if array.dtype.kind in "OUST":
        return _of_objects(name, array.astype(object, copy=False))
    if array.dtype.kind == "M":
        texts = np.array(
            [short_date(text) for text in np.datetime_as_string(array, unit="us").tolist()], object
        )
        return words_of(texts, np.isnat(array))
    raise ValueError(
        f"column {name!r} has values of type {array.dtype}; numbers, strings and dates are accepted. Convert "
        "the values, or drop the column."
    )


def _to_numpy(values: Any) -> np.ndarray:
    if getattr(getattr(values, "dtype", None), "time_zone", None):  # of polars, whose array would be in UTC
        values = values.dt.to_string("%Y-%m-%dT%H:%M:%S%.6f%:z")
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, float) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def _of_objects(name: str, array: np.ndarray) -> GivenColumn:
    """Numbers with gaps, or words; a mixture of both is refused."""
    missing = np.fromiter((_is_missing(value) for value in array), bool, len(array))
    present = array[~missing]
    if any(isinstance(value, date) for value in present):  # times of the clock are dates to Python, too
        present = _dates_as_text(present)
        array = array.copy()
        array[~missing] = present
    if all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in present):
        out = np.full(len(array), np.nan)
        out[~missing] = present.astype(np.float64)
        return out
    odd = next((v for v in present if not isinstance(v, str | bool | np.bool_)), None)
    if odd is not None:
        raise ValueError(
            f"column {name!r} has strings and, among them, {odd!r} of type {type(odd).__name__}; a column "
            "is either numeric or categorical. Convert all of it to strings, or to numbers."
        )
    return words_of(array, missing)


def _dates_as_text(values: np.ndarray) -> np.ndarray:
    texts = [short_date(v.isoformat()) if isinstance(v, date) else v for v in values]
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out


def short_date(text: str) -> str:
    """A time of the clock in the form of ISO 8601, without a fraction and a time that are zero."""
    return text.removesuffix(".000000").removesuffix("T00:00:00")


def words_of(array: np.ndarray, missing: np.ndarray | None = None) -> Words:
    """Strings as ``Words``, in the order in which they are met."""
    numbers: dict[str, int] = {}
    codes = np.full(len(array), -1, dtype=np.int32)
    present = slice(None) if missing is None else ~missing
    codes[present] = [numbers.setdefault(str(value), len(numbers)) for value in array[present]]
    return Words(codes, tuple(numbers))

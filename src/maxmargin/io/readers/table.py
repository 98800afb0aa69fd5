"""What every reader gives: blocks of rows, as named columns or as a matrix, with the target apart.

A file is read block by block and never kept whole, unless someone asks for ``read_all``. A source can be gone
through as often as needed, and gives the same blocks each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

Kind = Literal["number", "words"]
BLOCK_ROWS = 1 << 16
BLOCK_BYTES = 64 << 20


class DataFormatError(ValueError):
    """A data file that cannot be read as asked: the message names file, line and column."""


def rows_of_a_block(n_rows: int, n_columns: int) -> int:
    """``n_rows``, or as many as have 64 MiB of doubles."""
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1; got {n_rows}.")
    return max(1, min(n_rows, BLOCK_BYTES // (8 * max(1, n_columns))))


@dataclass(frozen=True)
class Column:
    """A named column of a table: numbers, or words (categories)."""

    name: str
    kind: Kind


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words: ``values[codes[i]]`` in row i; a code of -1 where the value is missing."""

    codes: np.ndarray  # int32 (n_rows,)
    values: tuple[str, ...]  # distinct, in the order in which this block met them

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a source.

    ``features`` maps names to float64 arrays (NaN where missing) or ``Words``, in the order of the source's
    columns; or it is a matrix, dense float64 or CSR, for formats without names.
    """

    features: Mapping[str, np.ndarray | Words] | Any
    target: np.ndarray | None  # (n_rows,): strings as written (text formats), integers, booleans
    first_row: int  # number of this block's first row in the source, from 0
    n_rows: int


@runtime_checkable
class Source(Protocol):
    """A data file that is open for reading."""

    @property
    def name(self) -> str:
        """The file, as given."""
        ...

    @property
    def columns(self) -> tuple[Column, ...] | None:
        """The features in order; None for a matrix. A text file may be gone through to know their kinds."""
        ...

    @property
    def n_features(self) -> int:
        """How many features there are: columns, or columns of the matrix."""
        ...

    @property
    def target(self) -> str | None:
        """Name of the target; None where there is none."""
        ...

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows from the first to the last, at most ``n_rows`` at a time, fewer where rows are large."""
        ...

    def options(self) -> dict[str, Any]:
        """How the file was read, fit for JSON: ``open_source(other, **options)`` reads another file alike."""
        ...


def join(blocks: Iterable[Block]) -> Block:
    """One block of all rows; words are numbered in the order in which the blocks have them."""
    parts = list(blocks)
    if len(parts) == 1:
        return parts[0]
    features: Any
    if isinstance(parts[0].features, dict):
        features = {name: _column([part.features[name] for part in parts]) for name in parts[0].features}
    elif sparse.issparse(parts[0].features):
        features = sparse.vstack([part.features for part in parts], format="csr")  # type: ignore[call-overload]
    else:
        features = np.concatenate([part.features for part in parts])
    targets = [part.target for part in parts if part.target is not None]
    target = np.concatenate(targets) if targets else None
    return Block(features, target, parts[0].first_row, sum(part.n_rows for part in parts))


def _column(parts: list[Any]) -> np.ndarray | Words:
    if not isinstance(parts[0], Words):
        return np.concatenate(parts)
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        table = [places.setdefault(word, len(places)) for word in part.values]
        codes.append(np.array([*table, -1], dtype=np.int32)[part.codes])
    return Words(np.concatenate(codes), tuple(places))


def read_all(source: Source) -> Block:
    """Every row of a source, as one block in memory.

    Parameters
    ----------
    source : Source
        What ``open_source`` returned.

    Returns
    -------
    Block
        Rows in the order of the file. While it is put together it takes twice its size.
    """
    whole = getattr(source, "read_all", None)
    return join(source.blocks()) if whole is None else whole()

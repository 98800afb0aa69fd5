"""The result of every reader: blocks of rows, as named columns or as a matrix, with the target.

A file is read block by block and is in memory as a whole only if ``read_all`` is called. A source can be read
as often as needed and returns the same blocks each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from .errors import DataFormatError, similar_names

Kind = Literal["number", "words"]
BLOCK_ROWS = 1 << 16
MAX_BLOCK_BYTES = 64 << 20
MAX_LABEL_LENGTH = 1000  # characters


def rows_per_block(n_rows: int, n_columns: int) -> int:
    """``n_rows``, or fewer so that a block of doubles takes at most 64 MiB."""
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1; got {n_rows}.")
    return max(1, min(n_rows, MAX_BLOCK_BYTES // (8 * max(1, n_columns))))


@dataclass(frozen=True)
class Column:
    r"""A named column of a table, numeric or categorical (``"words"``).

    Attributes
    ----------
    name : str
    kind : str
        "number" or "words".

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> source.columns[0]
    Column(name='width', kind='number')
    """

    name: str
    kind: Kind


@dataclass(frozen=True, eq=False)
class Words:
    """A categorical column: ``values[codes[i]]`` in row i; the code is -1 where the value is missing.

    Attributes
    ----------
    codes : ndarray of int
        For each row the place of its word in ``values``; -1 is a missing value.
    values : tuple of str
        The distinct words.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.io import Words
    >>> Words(np.array([0, 1, 0]), ("red", "blue")).values
    ('red', 'blue')
    """

    codes: np.ndarray  # int32 (n_rows,)
    values: tuple[str, ...]  # distinct, in order of first appearance in this block

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Block:
    r"""Some rows of a source.

    ``features`` maps names to float64 arrays (NaN where missing) or ``Words``, in the order of the source's
    columns; or it is a matrix, dense float64 or CSR, for formats without names.

    Attributes
    ----------
    features : mapping of str to ndarray or Words, or a sparse matrix
        The columns by name, or the rows of a sparse file.
    target : ndarray or None
        The labels.
    first_row : int
        The number of its first row in the file, from 0.
    n_rows : int
    carried : mapping of str to ndarray or Words
        Columns that are not features but name the rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> block = next(source.blocks(10))
    >>> block.first_row, block.n_rows, block.features["width"][:3]
    (0, 10, array([0., 1., 2.]))
    """

    features: Mapping[str, np.ndarray | Words] | Any
    target: np.ndarray | None  # (n_rows,): strings as written (text formats), integers, booleans
    first_row: int  # number of this block's first row in the source, from 0
    n_rows: int
    carried: Mapping[str, np.ndarray | Words] = field(default_factory=dict)  # columns that are no features


@runtime_checkable
class Source(Protocol):
    r"""A data file that is open for reading.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source, Source
    >>> source = open_source("kinds.csv", target="kind")
    >>> isinstance(source, Source)
    True
    >>> sum(block.n_rows for block in source.blocks(15))
    40
    """

    @property
    def name(self) -> str:
        """The file, as given."""
        ...

    @property
    def columns(self) -> tuple[Column, ...] | None:
        """The features in order; None for a matrix. A text file may have to be read to know their kinds."""
        ...

    @property
    def n_features(self) -> int:
        """The number of features: columns of the table or of the matrix."""
        ...

    @property
    def target(self) -> str | None:
        """Name of the target; None if the file has no target."""
        ...

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows from the first to the last, at most ``n_rows`` at a time, fewer where rows are large."""
        ...

    def options(self) -> dict[str, Any]:
        """How the file was read, as JSON values; ``open_source(other, **options)`` reads another likewise."""
        ...


def join(blocks: Iterable[Block]) -> Block:
    """One block of all rows; categories are numbered in order of first appearance."""
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


def text_labels(words: Words, name: str, column: str | None) -> np.ndarray:
    """Of each row its label, as an array of strings, in which all take as much memory as the longest one."""
    longest = max(words.values, key=len, default="")
    problem = None
    if len(longest) > MAX_LABEL_LENGTH:
        problem = f"a label has {len(longest):,} characters, more than {MAX_LABEL_LENGTH:,}"
    elif ends := [word for word in words.values if word.endswith("\0")]:
        problem = f"the label {ends[0]!r} ends in a null character, which arrays of strings leave out"
    if problem is not None:
        raise DataFormatError(
            problem,
            name=name,
            place=f"column {column!r}",
            remedy="check that this column is the target ({target})",
            arguments={"target": None},
        )
    return np.array(words.values, dtype=str)[words.codes]


def read_all(source: Source) -> Block:
    r"""Every row of a source, as one block in memory.

    Parameters
    ----------
    source : Source
        What ``open_source`` returned.

    Returns
    -------
    Block
        Rows in the order of the file. Joining the blocks briefly takes twice their memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source, read_all
    >>> source = open_source("kinds.csv", target="kind")
    >>> read_all(source).n_rows
    40
    """
    whole = getattr(source, "read_all", None)
    return join(source.blocks()) if whole is None else whole()


Advice = tuple[str, dict[str, Any]]  # remedy and arguments of a DataFormatError


def find_target(
    path: str | os.PathLike[str], target: Any, names: Sequence[str], advice: Advice = ("", {})
) -> int | None:
    """Position of the target among the columns: by name, or by position from 0, from the end if negative.

    ``advice`` is the remedy if there is no column of this name.
    """
    if target is None:
        return None
    if isinstance(target, str) and target in names:
        return list(names).index(target)
    try:
        position = int(target)
    except ValueError:
        problem = f"there is no column {target!r} to be the target ({similar_names(target, names)})"
        raise DataFormatError(problem, name=path, remedy=advice[0], arguments=advice[1]) from None
    if not -len(names) <= position < len(names):
        raise DataFormatError(
            f"the target's position is {position}, but there are {len(names)} columns: 0 to "
            f"{len(names) - 1}, or -1 for the last",
            name=path,
            remedy="give a position in this range, or the column's name ({target})",
            arguments={"target": None},
        )
    return position % len(names)

"""What a data file is, found out while it is read for another purpose, and single rows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...io.readers import BLOCK_ROWS, Block, Source, Words
from ...metrics import natural_order


@dataclass(frozen=True)
class ColumnFacts:
    """A column of features."""

    name: str
    kind: str
    n_missing: int | None = None


@dataclass(frozen=True)
class DataFacts:
    """A file: what is in it."""

    file: str
    sha256: str | None
    n_rows: int
    n_features: int
    target: str | None
    columns: list[ColumnFacts]  # empty for a matrix without names
    class_counts: dict[str, int]
    density: float | None = None  # share of entries that are not 0, for a sparse matrix


@dataclass
class Watched:
    """A source that counts rows, classes and missing values as its blocks go by, each row once."""

    source: Source
    n_rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    n_stored: int | None = None
    counts_classes: bool = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The blocks of the source."""
        for block in self.source.blocks(n_rows):
            if block.first_row == self.n_rows:
                self._count(block)
            yield block

    def _count(self, block: Block) -> None:
        self.n_rows += block.n_rows
        if block.target is not None and self.counts_classes:
            labels, counts = np.unique(np.asarray(block.target), return_counts=True)
            self.classes.update({str(label): int(n) for label, n in zip(labels.tolist(), counts)})
        if isinstance(block.features, Mapping):
            for name, values in block.features.items():
                gone = values.codes < 0 if isinstance(values, Words) else np.isnan(values)
                self.missing[name] += int(np.count_nonzero(gone))
        elif is_sparse(block.features):
            self.n_stored = (self.n_stored or 0) + block.features.nnz

    def facts(self, sha256: str | None) -> DataFacts:
        """What has been seen so far, and the file's hash."""
        source = self.source
        columns = [ColumnFacts(c.name, c.kind, self.missing[c.name]) for c in source.columns or ()]
        size = self.n_rows * source.n_features
        density = None if self.n_stored is None or not size else self.n_stored / size
        names = list(self.classes)
        named = [(names[k], self.classes[names[k]]) for k in natural_order(names)]
        counts = dict(sorted(named, key=lambda each: -each[1]))
        return DataFacts(
            str(source.name), sha256, self.n_rows, source.n_features, source.target, columns, counts, density
        )


def rows_by_number(source: Source, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The values of some rows by their names, as the file has them; reading ends with the last of them."""
    wanted = sorted(set(numbers))
    found: dict[int, dict[str, Any]] = {}
    for block in source.blocks() if wanted else ():
        end = block.first_row + block.n_rows
        for row in [n for n in wanted if block.first_row <= n < end]:
            found[row] = values_of(block.features, row - block.first_row)
        if wanted[-1] < end:
            break
    return found


def values_of(features: Any, row: int) -> dict[str, Any]:
    """One row: numbers, words, None where a value is missing; of a sparse row what is stored."""
    if isinstance(features, Mapping):
        return {name: _value(values, row) for name, values in features.items()}
    if is_sparse(features):
        one = features.tocsr()[[row]]
        return {f"x{j}": float(v) for j, v in zip(one.indices.tolist(), one.data.tolist())}
    return {f"x{j}": float(v) for j, v in enumerate(np.asarray(features[row]).ravel().tolist())}


def _value(values: Any, row: int) -> Any:
    if isinstance(values, Words):
        code = int(values.codes[row])
        return None if code < 0 else values.values[code]
    number = float(values[row])
    return None if np.isnan(number) else number

"""A source in memory, for tests: the columns of a table, in blocks of any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from maxmargin.io.readers.table import BLOCK_ROWS, Block, Column, Words


class TableSource:
    """Columns (lists of numbers with None, or of words with None) or a matrix, and a target."""

    def __init__(
        self, features: Any, target: Any, *, name: str = "memory", block_rows: int | None = None
    ) -> None:
        self.name, self.target, self.block_rows = name, "y", block_rows
        self.labels = np.asarray(target)
        if isinstance(features, Mapping):
            self.features: Any = {key: _column(values) for key, values in features.items()}
            self.columns: tuple[Column, ...] | None = tuple(
                Column(key, "words" if isinstance(c, list) else "number") for key, c in self.features.items()
            )
            self.n_features = len(self.features)
        else:
            self.features, self.columns, self.n_features = features, None, features.shape[1]

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        n_rows = self.block_rows or n_rows
        for start in range(0, len(self.labels), n_rows):
            stop = min(start + n_rows, len(self.labels))
            yield Block(self._some(start, stop), self.labels[start:stop], start, stop - start)

    def _some(self, start: int, stop: int) -> Any:
        if self.columns is None:
            return self.features[start:stop]
        return {
            name: words(c[start:stop]) if isinstance(c, list) else c[start:stop]
            for name, c in self.features.items()
        }

    def options(self) -> dict[str, Any]:
        return {"format": "memory"}


def _column(values: Any) -> Any:
    if any(isinstance(value, str) for value in values):
        return list(values)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def words(values: list[str | None]) -> Words:
    numbers: dict[str, int] = {}
    codes = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values]
    return Words(np.array(codes, dtype=np.int32), tuple(numbers))

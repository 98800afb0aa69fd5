"""A data frame as a source, so that ``train`` takes one in place of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..io.readers import BLOCK_ROWS, Block, Column, Words
from .blocks import taken
from .given import given_table

__all__ = ["FrameSource"]

CATEGORY_TYPES = ("category", "Categorical", "Enum")  # of pandas and of polars


class FrameSource:
    """The rows of a data frame of pandas or polars, or of a mapping from names to columns.

    Parameters
    ----------
    frame : data frame or mapping
    target : str, optional
        The column to predict.
    """

    def __init__(self, frame: Any, target: str | None) -> None:
        table = given_table(frame)
        assert table.names is not None
        assert table.columns is not None
        if target is not None and target not in table.names:
            raise ValueError(f"there is no column {target!r} to be the target; got {list(table.names)}.")
        self.name, self.target, self.names = f"a {type(frame).__name__}", target, table.names
        columns: Mapping[str, Any] = dict(zip(table.names, table.columns))
        self._features = {name: column for name, column in columns.items() if name != target}
        self._labels = None if target is None else _labels(frame[target])
        self.columns = tuple(
            Column(name, "words" if isinstance(column, Words) else "number")
            for name, column in self._features.items()
        )
        types = {name: str(getattr(frame[name], "dtype", "")) for name in self._features}
        self.declared = {name: "words" for name, kind in types.items() if kind.startswith(CATEGORY_TYPES)}
        self.category_types = frozenset(self.declared)
        self.n_features, self.n_rows = len(self.columns), table.n_rows

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time."""
        whole = Block(self._features, self._labels, 0, self.n_rows)
        for first in range(0, self.n_rows, n_rows):
            some = taken(whole, np.arange(first, min(first + n_rows, self.n_rows)))
            yield Block(some.features, some.target, first, some.n_rows)

    def options(self) -> dict[str, Any]:
        """How a file with the same columns is read."""
        return {"target": self.target, "kinds": {column.name: column.kind for column in self.columns}}


def _labels(column: Any) -> np.ndarray:
    labels = np.asarray(column).tolist()
    whole = all(isinstance(label, str) for label in labels)
    return np.array(labels, dtype=str if whole else None)

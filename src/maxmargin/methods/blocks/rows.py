"""Blocks of rows, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import check_consistent_length

from ..._native import NEVER
from ...data import check_label_types, check_rows, check_sample_weight, check_weights

__all__ = ["BlockSource", "GivenBlocks", "RowBlock", "row_block", "source_of"]


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows in the core's layout, their labels as given, and their weights.

    ``cancel`` is the byte that ends work on the rows; it belongs to the process and is not pickled.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray
    cancel: np.ndarray = field(default_factory=lambda: NEVER, repr=False)

    def __len__(self) -> int:
        return len(self.y)

    def __reduce__(self) -> Any:
        return RowBlock, (self.X, self.y, self.weight)


@runtime_checkable
class BlockSource(Protocol):
    """Blocks that can be read as often as needed, the same ones in the same order each time."""

    @property
    def name(self) -> str:
        """What an error calls it."""
        ...

    def blocks(self) -> Iterator[RowBlock]:
        """All blocks, from the first to the last."""
        ...


def row_block(X: Any, y: Any, sample_weight: Any = None) -> RowBlock:
    """A checked block; it may be empty."""
    check_label_types(y)
    X, y = check_rows(X, ensure_min_samples=0), column_or_1d(np.asarray(y), warn=True)
    assert_all_finite(y, input_name="y")
    check_consistent_length(X, y)
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        return RowBlock(X[:0], y[:0], np.zeros(0))  # other blocks have the weight
    weight = check_sample_weight(sample_weight, len(y))
    if not weight.all():
        kept = np.flatnonzero(weight)
        X, y, weight = X[kept], y[kept], weight[kept]
    if len(weight):
        check_weights(weight)
    return RowBlock(X, y, weight)


@dataclass(frozen=True)
class GivenBlocks:
    """Blocks given from Python: ``opened()`` yields (X, y) or (X, y, sample_weight)."""

    opened: Callable[[], Iterable[Any]]
    name: str = "source"

    def blocks(self) -> Iterator[RowBlock]:
        """The blocks, checked."""
        for number, block in enumerate(self.opened()):
            try:
                yield row_block(*block)
            except (TypeError, ValueError) as error:
                raise type(error)(f"block {number} of the {self.name}: {error}") from error


def source_of(source: Any) -> BlockSource:
    """What ``fit_blocks`` accepts, as a source: a list of blocks, a function that opens them, a source."""
    if isinstance(source, BlockSource) and not isinstance(source, type):
        return source
    if callable(source):
        return GivenBlocks(source)
    if isinstance(source, Sequence) and not isinstance(source, str):
        return GivenBlocks(lambda: source)
    raise TypeError(
        "source must be a list of (X, y) or (X, y, sample_weight), or a function that returns an iterator "
        f"over them: the blocks are read several times; got {type(source).__name__}."
    )

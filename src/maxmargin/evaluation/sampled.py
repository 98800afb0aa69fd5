"""A uniform sample of the rows of a file, in memory that does not grow with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data import mixed
from ..io.readers import Block, Source, join
from ..table import taken

__all__ = ["RowSample", "sampled_rows"]


@dataclass
class RowSample:
    """At most ``most`` rows of those that it is shown, chosen by a hash of their numbers, in their order.

    Attributes
    ----------
    most : int
    seed : int
    """

    most: int
    seed: int = 0
    parts: list[tuple[Block, np.ndarray, tuple[np.ndarray, ...]]] = field(default_factory=list)

    def add(self, block: Block, numbers: np.ndarray, *beside: np.ndarray) -> None:
        """Look at rows with these numbers; entries of the arrays ``beside`` are kept with their rows."""
        keys = mixed(numbers.astype(np.uint64), np.uint64(self.seed))
        self.parts.append((block, keys, beside))
        every = np.concatenate([part[1] for part in self.parts])
        if len(every) > self.most:
            limit = np.partition(every, self.most - 1)[self.most - 1]
            self.parts = [_up_to(part, limit) for part in self.parts]

    def result(self) -> tuple[Block, list[np.ndarray]]:
        """The rows, and what was kept beside them; there must be one row at least."""
        parts = [part for part in self.parts if part[0].n_rows]
        columns = zip(*(beside for _, _, beside in parts))
        return join([block for block, _, _ in parts]), [np.concatenate(column) for column in columns]

    def __len__(self) -> int:
        """The number of rows kept."""
        return sum(block.n_rows for block, _, _ in self.parts)


def _up_to(
    part: tuple[Block, np.ndarray, tuple[np.ndarray, ...]], limit: np.uint64
) -> tuple[Block, np.ndarray, tuple[np.ndarray, ...]]:
    block, keys, beside = part
    kept = keys <= limit
    if kept.all():
        return part
    return taken(block, np.flatnonzero(kept)), keys[kept], tuple(each[kept] for each in beside)


def sampled_rows(source: Source, most: int, seed: int) -> Block:
    """At most ``most`` rows, chosen by a hash of their numbers, in the order of the file."""
    sample = RowSample(most, seed)
    for block in source.blocks():
        sample.add(block, block.first_row + np.arange(block.n_rows))
    return sample.result()[0]

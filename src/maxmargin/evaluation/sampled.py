"""A uniform sample of the rows of a file, in memory that does not grow with it."""

from __future__ import annotations

import numpy as np

from ..data import mixed
from ..io.readers import Block, Source, join
from ..table import taken

__all__ = ["sampled_rows"]


def sampled_rows(source: Source, most: int, seed: int) -> Block:
    """At most ``most`` rows, chosen by a hash of their numbers, in the order of the file."""
    parts: list[tuple[Block, np.ndarray]] = []
    for block in source.blocks():
        keys = mixed((block.first_row + np.arange(block.n_rows)).astype(np.uint64), np.uint64(seed))
        parts.append((block, keys))
        every = np.concatenate([each for _, each in parts])
        if len(every) > most:
            limit = np.partition(every, most - 1)[most - 1]
            parts = [(taken(b, np.flatnonzero(k <= limit)), k[k <= limit]) for b, k in parts]
    return join([block for block, _ in parts if block.n_rows])

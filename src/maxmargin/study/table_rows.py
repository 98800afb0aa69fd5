"""Some rows of a table that is in memory, and a fair way to hold rows out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..io.table import Block, Source, Words

__all__ = ["held_out", "taken", "turns", "whole"]


def taken(block: Block, rows: np.ndarray) -> Block:
    """The rows of those numbers, in that order, as a block of their own."""
    target = None if block.target is None else block.target[rows]
    if not isinstance(block.features, Mapping):
        return Block(block.features[rows], target, 0, len(rows))
    features = {name: _some(column, rows) for name, column in block.features.items()}
    return Block(features, target, 0, len(rows))


def _some(column: Any, rows: np.ndarray) -> Any:
    return Words(column.codes[rows], column.values) if isinstance(column, Words) else column[rows]


def turns(labels: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row: rows of each class are shuffled and dealt out in turn.

    Where one class ends, the next goes on, so that folds differ by one row at most.
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % n_folds
    return folds


def held_out(labels: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Which rows are held out: that share of each class, rounded, but never all rows of one."""
    order = np.random.default_rng(seed).permutation(len(labels))
    out = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        rows = order[labels[order] == label]
        out[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return out


def whole(source: Source) -> Block:
    """All rows of a source, which must have a target."""
    from ..io import read_all

    if source.target is None:
        raise ValueError(f"{source.name}: say which column is to be predicted (--target).")
    return read_all(source)

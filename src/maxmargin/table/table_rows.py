"""Rows of a table in memory: all of them, those held out, folds, a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import stratified_folds
from ..io.readers import Block, Source
from .blocks import labels_of, taken

__all__ = ["sample", "shuffled_folds", "whole"]


def whole(source: Source) -> tuple[Block, list[Any], np.ndarray]:
    """All rows of a source, which must have a target; its labels, and for each row the number of its own."""
    from ..io.readers import read_all

    if source.target is None:
        raise ValueError(f"{source.name}: say which column is to be predicted (--target).")
    block = read_all(source)
    labels, numbers = labels_of(block, source.name)
    if len(labels) < 2:
        found = f"one class, {labels[0]!r}" if labels else "no rows"
        raise ValueError(f"{source.name}: the target has {found}; there must be two classes at least.")
    return block, labels, numbers


def shuffled_folds(labels: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row: shuffled, and dealt out class after class."""
    order = np.random.default_rng(seed).permutation(len(labels))
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = stratified_folds(labels[order], n_folds)
    return folds


def sample(block: Block, labels: np.ndarray, most_rows: int, seed: int) -> Block:
    """Every second, third, ... row of a shuffled table, of each class its share; at most ``most_rows``."""
    n_parts = -(-block.n_rows // most_rows)
    return taken(block, np.flatnonzero(shuffled_folds(labels, n_parts, seed) == 0))

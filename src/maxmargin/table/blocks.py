"""Some rows of a block, and the memory that a block takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..data import ParameterError, stratified_folds
from ..io.readers import Block, Source, Words

__all__ = ["sample", "shuffled_folds", "whole"]

WORD_BYTES = 60  # of a short string and its place in a tuple


def n_bytes(block: Block) -> int:
    """What the features of a block take, nearly."""
    features: Any = block.features
    if isinstance(features, Mapping):
        return sum(
            c.codes.nbytes + WORD_BYTES * len(c.values) if isinstance(c, Words) else c.nbytes
            for c in features.values()
        )
    parts = ("data", "indices", "indptr") if sparse.issparse(features) else ()
    return sum(getattr(features, part).nbytes for part in parts) if parts else int(features.nbytes)


def taken(block: Block, rows: np.ndarray) -> Block:
    """Some rows of a block, by position."""
    features, target = block.features, block.target
    if isinstance(features, Mapping):
        features = {
            name: _some_words(c, rows) if isinstance(c, Words) else c[rows] for name, c in features.items()
        }
    else:
        features = features[rows]
    return Block(features, None if target is None else target[rows], block.first_row, len(rows))


def _some_words(words: Words, rows: np.ndarray) -> Words:
    """Words of some rows; where there are more words than rows, those that do not occur are let go."""
    codes = words.codes[rows]
    if len(words.values) <= len(rows):
        return Words(codes, words.values)
    used, numbers = np.unique(codes[codes >= 0], return_inverse=True)
    codes[codes >= 0] = numbers
    return Words(codes, tuple(words.values[k] for k in used))


def labels_of(block: Block, name: str) -> tuple[list[Any], np.ndarray]:
    """The labels of a block, each once, and of each row its number; a missing label is refused."""
    numbers: dict[Any, int] = {}
    target = np.asarray(block.target).tolist()
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in target], dtype=np.int64)
    for label, number in numbers.items():
        if label is None or label != label or label == "":
            row = block.first_row + int(np.argmax(codes == number))
            raise ValueError(f"{name}: row {row}, counted from 0, has no label; remove rows without a label.")
    return list(numbers), codes


def whole(source: Source) -> tuple[Block, list[Any], np.ndarray]:
    """All rows of a source, which must have a target; its labels, and for each row the number of its own."""
    from ..io.readers import read_all

    if source.target is None:
        raise ParameterError(
            f"{source.name}: no target.", "Name the column to predict ({target}).", target=None
        )
    block = read_all(source)
    labels, numbers = labels_of(block, source.name)
    if len(labels) < 2:
        found = f"one class, {labels[0]!r}" if labels else "no rows"
        raise ValueError(f"{source.name}: the target has {found}; at least two classes are needed.")
    if len(labels) > max(block.n_rows // 2, 2):
        raise ParameterError(
            f"{source.name}: the target has {len(labels)} different labels in {block.n_rows} rows, too many "
            "for classes, and this is about classes.",
            "Train models of numbers one by one ({task}), and compare their evaluations.",
            task="regression",
        )
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

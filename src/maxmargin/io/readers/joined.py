"""Blocks put one under the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from .table import Block, Source, Words


def join(blocks: Iterable[Block]) -> Block:
    """One block of all rows; words are numbered in the order in which the blocks have them."""
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


def read_all(source: Source) -> Block:
    """Every row of a source, as one block in memory.

    Parameters
    ----------
    source : Source
        What ``open_source`` returned.

    Returns
    -------
    Block
        Rows in the order of the file. While it is put together it takes twice its size.
    """
    whole = getattr(source, "read_all", None)
    return join(source.blocks()) if whole is None else whole()

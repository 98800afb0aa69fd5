"""Blocks from Dask arrays and data frames: one for each partition of rows."""

from __future__ import annotations

import warnings
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed
from sklearn.exceptions import DataConversionWarning

from ..methods.blocks import RowBlock, row_block

__all__ = ["blocks_of", "is_collection", "row_parts"]

IS_COLUMN = "A column-vector y was passed when a 1d array was expected; its column is taken."


def is_collection(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return bool(is_dask_collection(X))


def row_parts(X: Any, name: str) -> list[Any]:
    """The partitions of a collection as Delayed objects, in the order of its rows."""
    if not is_collection(X):
        raise TypeError(
            f"{name} must be a Dask array or data frame; got {type(X).__name__}. For data in "
            "memory, use the local estimator."
        )
    if isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def blocks_of(X: Any, y: Any, sample_weight: Any = None) -> list[Any]:
    """Delayed blocks of rows; the collections must be cut alike."""
    if y is None:
        raise ValueError("a fit requires y to be passed, but the target y is None.")
    if getattr(y, "ndim", 1) == 2:
        warnings.warn(IS_COLUMN, DataConversionWarning, stacklevel=4)
    y, sample_weight = _cut_like(X, y), _cut_like(X, sample_weight)
    parts = [row_parts(X, "X"), row_parts(y, "y")]
    if sample_weight is not None:
        parts.append(row_parts(sample_weight, "sample_weight"))
    if len({len(part) for part in parts}) > 1:
        sizes = " and ".join(str(len(part)) for part in parts)
        raise ValueError(f"X, y and sample_weight must have the same partitions; they have {sizes} of them.")
    return [
        delayed(_block, pure=False)(number, *block) for number, block in enumerate(zip(*parts, strict=True))
    ]


def _cut_like(X: Any, other: Any) -> Any:
    """The other collection with the partitions of X, where both have known ones."""
    arrays = isinstance(X, da.Array) and isinstance(other, da.Array)
    if arrays and not np.isnan([*X.chunks[0], *other.chunks[0]]).any() and other.shape[0] == X.shape[0]:
        return other.rechunk({0: X.chunks[0]})
    return other


def _block(number: int, X: Any, y: Any, weight: Any = None) -> RowBlock:
    sizes = [
        len(part) if not hasattr(part, "shape") else part.shape[0]
        for part in (X, y, weight)
        if part is not None
    ]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"partition {number}: X, y and sample_weight have {sizes} rows; they must have the same."
        )
    try:
        return row_block(X, np.asarray(y).ravel(), weight)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error

"""Rows that are observed repeatedly: how the folds treat them.

A fit sees equal (row, label) pairs as one pair with the sum of their weights, so copies of a row are held out
together and cannot leak into training. But where rows have few possible values, new rows do equal training
rows, and folds should mirror that. Copies carry their label along; equal rows with *different* labels are
separate observations. Where those are common among repeated rows, each unit of weight counts as an
observation: a pair of weight w is spread over up to w folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import hash_rows
from ..data import WeightedRows
from .folds import Sample

__all__ = ["observations", "spread"]

MIN_CONFLICTS = (
    0.1  # share of the weight of repeated rows whose labels differ, where repeats are observations
)
ROUNDING = 1e-9


def observations(data: WeightedRows, n_folds: int) -> np.ndarray:
    """For each canonical pair the number of parts that folds may hold out separately."""
    one = np.ones(len(data.labels), dtype=np.intp)
    of_row = hash_rows(data.rows.X, data.rows.n_threads)[data.rows.index]
    _, row = np.unique(of_row, return_inverse=True)
    weight, n_labels = np.bincount(row, weights=data.weight), np.bincount(row)
    repeated = weight >= 2.0 - ROUNDING
    conflicts = weight[repeated & (n_labels > 1)].sum()
    if conflicts == 0.0 or conflicts < MIN_CONFLICTS * weight[repeated].sum():
        return one
    return np.clip(np.floor(data.weight + ROUNDING).astype(np.intp), 1, n_folds)


def spread(
    views: dict[str, Any], data: WeightedRows, parts: np.ndarray, fold: np.ndarray, n_classes: int
) -> Sample:
    """The rows of a search: each pair as so many rows of equal weight, with a fold for each."""
    which = np.repeat(np.arange(len(parts)), parts)
    if len(which) == len(parts):
        return Sample(dict(views), data.labels, data.weight, fold, n_classes, which)
    views = {name: X[which] for name, X in views.items()}
    return Sample(views, data.labels[which], (data.weight / parts)[which], fold, n_classes, which)

"""Which rows each fold of a search trains on, and which it is scored on: a function of the weighted rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_array

from .._native import LAYOUT, as_rows
from ..data import canonical, canonical_index, check_folds, is_number, stratified_folds
from ..kernels import median_gamma

__all__ = ["Split", "median_of", "splits_of"]

Split = tuple[np.ndarray, np.ndarray]


def median_of(X: Any, labels: np.ndarray, weight: np.ndarray, seed: int) -> float:
    """The gamma of the median heuristic: no label has a part in it."""
    rows = as_rows(check_array(X, **LAYOUT))
    data = canonical(rows, labels, weight)
    return median_gamma(rows, np.random.default_rng(seed), data.weight, data.rows.index)


def splits_of(
    cv: Any, X: Any, y: Any, labels: np.ndarray, weight: np.ndarray, groups: Any = None
) -> list[Split]:
    """Rows to train on and rows to score, for each fold; those of weight 0 are in neither.

    For a number of folds, rows of each class are dealt out in turn, in canonical order and equal ones
    together, so that weights are repetitions. Without an X (that of a kernel matrix) it is the order given.
    """
    check_folds(cv)
    kept = weight > 0.0
    if is_number(cv):
        first, group = canonical_index(X, labels, weight)
        fold = np.where(group >= 0, stratified_folds(labels[first], int(cv))[group], -1)
        pairs = [(np.flatnonzero(kept & (fold != k)), np.flatnonzero(fold == k)) for k in range(int(cv))]
    else:
        given = check_cv(cv, y, classifier=True).split(np.zeros((len(labels), 1)), y, groups)
        rows = ((_positions(train), _positions(test)) for train, test in given)
        pairs = [(train[kept[train]], test[kept[test]]) for train, test in rows]
    splits = [(train, test) for train, test in pairs if len(train) and len(test)]
    if not splits:
        raise ValueError(f"cv={cv!r} leaves no fold with rows both to train on and to score.")
    return splits


def _positions(rows: Any) -> np.ndarray:
    """Positions of rows, which may be given as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows

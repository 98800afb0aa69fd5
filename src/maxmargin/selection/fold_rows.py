"""Which rows each fold of a search trains on, and which it is scored on: a function of the weighted rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_array

from ..bandwidth import median_gamma
from ..base import LAYOUT
from ..folds import _is_number, check_folds, stratified_folds
from ..layout import as_rows
from ..rows import canonical

__all__ = ["Split", "canonical_index", "median_of", "splits_of"]

Split = tuple[np.ndarray, np.ndarray]


def canonical_index(X: Any, labels: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row of each group of equal (row, label) pairs, and the group of every row; -1 for weight 0.

    Groups are in canonical order where X is a matrix of numbers, else (None, objects, texts) every row is a
    group, in order.
    """
    kept = np.flatnonzero(weight > 0.0)
    group = np.full(len(labels), -1, dtype=np.intp)
    try:
        rows = as_rows(check_array(X, ensure_all_finite=False, **LAYOUT))
        merged = canonical(rows, labels, weight)
        apart = canonical(rows, labels, weight, merge_duplicates=False)
    except (TypeError, ValueError):
        group[kept] = np.arange(len(kept))
        return kept, group
    opens = np.zeros(len(labels), dtype=bool)
    opens[merged.rows.index] = True
    group[apart.rows.index] = np.cumsum(opens[apart.rows.index]) - 1
    return merged.rows.index, group


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
    if _is_number(cv):
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

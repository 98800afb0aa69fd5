"""Training and test rows of each fold of a search, as a function of the weighted rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ..data import canonical, canonical_index, check_folds, check_rows, is_number, stratified_folds
from ..kernels import median_gamma

__all__ = ["Split", "median_of", "splits_of"]

Split = tuple[np.ndarray, np.ndarray]


def median_of(X: Any, labels: np.ndarray, weight: np.ndarray, seed: int) -> float:
    """The gamma of the median heuristic; labels are not used."""
    rows = check_rows(X)
    data = canonical(rows, labels, weight)
    return median_gamma(rows, np.random.default_rng(seed), data.weight, data.rows.index)


def splits_of(
    cv: Any,
    X: Any,
    y: Any,
    labels: np.ndarray,
    weight: np.ndarray,
    groups: Any = None,
    stratified: bool = True,
) -> list[Split]:
    """Training rows and test rows of each fold; rows of weight 0 are in neither.

    For a number of folds, the rows of each class are dealt out in turn, in canonical order with equal rows
    together, so that weights act as repetitions; not ``stratified``, all rows are of one class. Without X
    (for a kernel matrix), the given order is used.
    """
    check_folds(cv)
    kept = weight > 0.0
    if is_number(cv):
        first, group = canonical_index(X, labels, weight)
        classes = labels[first] if stratified else np.zeros(len(first))
        fold = np.where(group >= 0, stratified_folds(classes, int(cv))[group], -1)
        pairs = [(np.flatnonzero(kept & (fold != k)), np.flatnonzero(fold == k)) for k in range(int(cv))]
    else:
        given = check_cv(cv, y, classifier=stratified).split(np.zeros((len(labels), 1)), y, groups)
        rows = ((_positions(train), _positions(test)) for train, test in given)
        pairs = [(train[kept[train]], test[kept[test]]) for train, test in rows]
    splits = [(train, test) for train, test in pairs if len(train) and len(test)]
    if not splits:
        raise ValueError(f"cv={cv!r} leaves no fold with rows both to train on and to score.")
    return splits


def _positions(rows: Any) -> np.ndarray:
    """Positions of rows, given as positions or as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows

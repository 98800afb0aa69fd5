"""Cross-validation folds: which rows are held out together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _num_samples

from .checks import check_number
from .rows import WeightedRows

__all__ = ["apart_by_folds", "check_folds", "given_folds", "stratified_folds"]


def stratified_folds(labels: np.ndarray, n_folds: int) -> np.ndarray:
    """The fold of each row: rows are dealt to the folds in turn, one class after another.

    Classes are ordered by their first row, so the result does not depend on their names.
    """
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    fold = np.empty(len(labels), dtype=np.intp)
    fold[np.argsort(first[number], kind="stable")] = np.arange(len(labels)) % n_folds
    return fold


def is_number(cv: Any) -> bool:
    return isinstance(cv, str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__"))


def check_folds(cv: Any) -> None:
    """Raise unless cv is a number of folds >= 2, a splitter or an iterable of splits."""
    if is_number(cv):
        check_number("cv", cv, at_least=2, integer=True)


def given_folds(cv: Any, y: Any, **metadata: Any) -> np.ndarray | None:
    """The fold of each row according to a scikit-learn splitter or list of splits; None for a number.

    ``metadata``, such as groups, is passed to the splitter.
    """
    if is_number(cv):
        return None
    n = _num_samples(y)
    fold = np.full(n, -1, dtype=np.intp)
    splits = check_cv(cv, y, classifier=True).split(np.zeros((n, 1)), y, **metadata)
    for k, (train, test) in enumerate(splits):
        twice = (fold[test] >= 0).any()
        fold[test] = k
        if twice or not np.array_equal(np.sort(train), np.flatnonzero(fold != k)):
            raise ValueError(
                "cv must hold out every row exactly once and train on all the others; "
                + (
                    f"split {k} holds out a row again."
                    if twice
                    else f"split {k} does not train on all the others."
                )
            )
    if (fold < 0).any():
        raise ValueError(
            f"cv must hold out every row exactly once; row {int(np.argmax(fold < 0))} is in no test set."
        )
    return fold


def apart_by_folds(
    canonical: Callable[[np.ndarray], WeightedRows], labels: np.ndarray, fold: np.ndarray
) -> tuple[WeightedRows, np.ndarray]:
    """Canonical rows and their folds; equal rows are merged only within a fold.

    ``canonical(labels)`` returns the canonical form of the rows with these labels.
    """
    n_folds = int(fold.max()) + 1
    apart = canonical(labels * n_folds + fold)
    return WeightedRows(apart.rows, apart.labels // n_folds, apart.weight), apart.labels % n_folds

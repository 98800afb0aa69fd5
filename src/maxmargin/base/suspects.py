"""Which labels are probably wrong: rows ranked by the margin of their label in models not trained on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, column_or_1d

from .._native import is_sparse
from ..data import check_folds, check_label_types, checked_input, given_folds, stratified_folds

__all__ = ["label_suspects", "out_of_fold_margins"]

SHUFFLE_SEED = 0  # folds do not depend on the order in which a file lists its rows


def label_suspects(model: Any, X: Any, y: Any, cv: Any = 5) -> np.ndarray:
    """Positions of the rows, those whose label is most likely wrong first."""
    return np.argsort(out_of_fold_margins(model, X, y, cv), kind="stable")


def out_of_fold_margins(model: Any, X: Any, y: Any, cv: Any = 5) -> np.ndarray:
    """The score of each row's label minus the largest score of another class, from a fit without its fold.

    A label that no other row of the training folds has cannot be contradicted: its margin is infinite.
    """
    check_folds(cv)
    check_label_types(y)
    X, y = checked_input(X), column_or_1d(y)
    if is_sparse(X):
        X = X.tocsr()  # whose rows can be taken
    n = _num_samples(X)
    if len(y) != n:
        raise ValueError(f"y must have a label for each of the {n} rows; got {len(y)}.")
    fold = given_folds(cv, y)
    if fold is None:
        _, labels = np.unique(y, return_inverse=True)
        order = np.random.default_rng(SHUFFLE_SEED).permutation(n)
        fold = np.empty(n, dtype=np.intp)
        fold[order] = stratified_folds(labels[order], int(cv))
    margins = np.full(n, np.inf)
    for k in np.unique(fold):
        train, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        margins[held] = _margins(model, X, y, train, held)
    return margins


def _margins(model: Any, X: Any, y: np.ndarray, train: np.ndarray, held: np.ndarray) -> np.ndarray:
    classes = np.unique(y[train])
    out = np.full(len(held), np.inf)
    known = np.flatnonzero(np.isin(y[held], classes))
    if len(classes) < 2 or not len(known):
        return out
    pairwise = get_tags(model).input_tags.pairwise
    fitted = clone(model).fit(_taken(X, train, train if pairwise else None), y[train])
    scores = fitted.decision_function(_taken(X, held[known], train if pairwise else None))
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores]) / 2.0
    own = np.searchsorted(fitted.classes_, y[held[known]])
    rows = np.arange(len(known))
    mine = scores[rows, own]
    scores[rows, own] = -np.inf
    out[known] = mine - scores.max(axis=1)
    return out


def _taken(X: Any, rows: np.ndarray, columns: np.ndarray | None) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows] if columns is None else X.iloc[rows, columns]
    if not hasattr(X, "shape"):
        X = X if columns is None else np.asarray(X)
        return [X[i] for i in rows] if columns is None else X[np.ix_(rows, columns)]
    return X[rows] if columns is None else X[np.ix_(rows, columns)]

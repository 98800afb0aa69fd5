"""Why held-out rows may be too easy: copies of training rows, ids of rows, a copy of the target."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from .._native import is_sparse
from ..data import Advised
from ..io.readers import Words
from ..table import TablePreparation
from .gather import KeptRows

__all__ = ["LeakWarning", "copied_rows", "id_columns", "target_copies", "warn_of_leaks"]

MIN_ROWS = 50
MIN_COPIES, MIN_SHARE_OF_COPIES = 10, 0.05  # held-out rows from which on there is a warning
MIN_DISTINCT = 0.5  # of all rows: a table with fewer different rows has copies by its nature
MAX_ROWS_CHECKED = 5_000
MAX_COLUMNS_CHECKED = 10
ALONE = 0.999  # accuracy of one column from which on it is called a copy of the target
ROWS_PER_LEAF = 10
_ID_NAME = re.compile(r"(^|[_\W])(id|ids|key|index|idx|uuid|guid|nr|no|number|row)$|(?<=[a-z])I[Dd]$", re.I)


class LeakWarning(Advised, UserWarning):
    """Validation may promise too much."""


def id_columns(parts: Sequence[KeptRows]) -> list[str]:
    """Numeric columns that number the rows: integers, all different, in order or with the name of an id."""
    features = parts[0].block.features if parts else None
    if not isinstance(features, Mapping):
        return []
    found = []
    for name, values in features.items():
        if isinstance(values, Words) or not _numbers_rows(values[:1000], values[:1000]):
            continue
        every = np.concatenate([part.block.features[name] for part in parts])
        in_order = bool((np.diff(every) > 0).all() or (np.diff(every) < 0).all())
        if (in_order or _ID_NAME.search(name)) and _numbers_rows(every, every):
            found.append(name)
    return found


def _numbers_rows(values: np.ndarray, every: np.ndarray) -> bool:
    whole = len(values) >= MIN_ROWS and np.isfinite(values).all() and (values == np.rint(values)).all()
    return bool(whole and len(np.unique(every)) == len(every))


def target_copies(X: Any, y: np.ndarray, preparation: TablePreparation) -> list[str]:
    """Columns that predict the class alone, for all rows but one in a thousand."""
    classes, labels = np.unique(y, return_inverse=True)
    if is_sparse(X) or len(y) < MIN_ROWS or np.bincount(labels).max() > 0.99 * len(y):
        return []
    some = np.linspace(0, len(y) - 1, min(len(y), MAX_ROWS_CHECKED)).astype(int)
    X, labels = np.asarray(X[some], dtype=np.float64), labels[some]
    source = np.asarray(preparation.sources_)
    best = np.zeros(preparation.n_features_in_)
    np.maximum.at(best, source, _share_explained(X, labels, len(classes)))
    names = (
        list(preparation.kinds_) if preparation.layout_ == "table" else [f"x{j}" for j in range(len(best))]
    )
    found = []
    for j in np.argsort(-best, kind="stable")[:MAX_COLUMNS_CHECKED].tolist():
        columns = X[:, source == j]
        n_leaves = max(len(classes), columns.shape[1] + 1)
        if not columns.shape[1] or len(labels) < ROWS_PER_LEAF * n_leaves:
            continue
        tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(columns, labels)
        if tree.score(columns, labels) >= ALONE:
            found.append(names[j])
    return found


def _share_explained(X: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Of the variance of each column, by the class."""
    counts = np.maximum(np.bincount(labels, minlength=n_classes), 1)
    means = np.zeros((n_classes, X.shape[1]))
    np.add.at(means, labels, X)
    means /= counts[:, None]
    total = X.var(axis=0) * len(X)
    between = (counts[:, None] * (means - X.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.divide(between, total, out=np.zeros_like(total), where=total > 0))


def copied_rows(X: Any, held_out: np.ndarray) -> tuple[np.ndarray, float]:
    """Which held-out rows are, after preparation, equal to training rows; and the share of different rows.

    Rows are compared by a hash of 64 bits. Sparse rows are not compared.
    """
    n_held = int(held_out.sum())
    if is_sparse(X) or not n_held:
        return np.zeros(n_held, dtype=bool), 1.0
    words = np.ascontiguousarray(X).view(np.uint32)
    keys: Any = np.random.default_rng(0).integers(1, 2**63, words.shape[1], dtype=np.uint64) | np.uint64(1)
    sums = np.zeros(len(words), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column, key in zip(words.T, keys):
            mixed = (column.astype(np.uint64) + key) * (key | np.uint64(1))
            sums += mixed ^ (mixed >> np.uint64(29))
    distinct = len(np.unique(sums)) / len(sums)
    return np.isin(sums[held_out], sums[~held_out]), distinct


def warn_of_leaks(found: Mapping[str, Any]) -> None:
    """A warning for each reason in the record of a training."""
    for name in found.get("ids", ()):
        warnings.warn(
            LeakWarning(
                f"column {name!r} numbers the rows: what a model learns from it does not hold for new rows.",
                "Leave it out ({drop}), or carry it along ({ids}).",
                drop=name,
                ids=name,
            ),
            stacklevel=2,
        )
    for name in found.get("target_copies", ()):
        warnings.warn(
            LeakWarning(
                f"column {name!r} alone predicts the target: it may be a copy, or known only afterwards.",
                "If so, leave it out ({drop}).",
                drop=name,
            ),
            stacklevel=2,
        )
    if n := found.get("n_copies", 0):
        without = found.get("accuracy_without_copies")
        rest = "" if without is None else f", and {100 * without:.1f} % accuracy on the others"
        warnings.warn(
            LeakWarning(
                f"{n:,} held-out rows ({100 * found['share_of_copies']:.1f} %) are copies of training rows"
                f"{rest}.",
                "If they are the same cases, remove duplicates, or hold out whole groups ({group}).",
                group=None,
            ),
            stacklevel=2,
        )

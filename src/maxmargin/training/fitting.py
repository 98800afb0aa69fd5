"""Rows kept from a source as a matrix; answers on rows held out, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..metrics import CONFIDENCE, Confusion, share_interval
from ..table import TablePreparation
from .freed_memory import give_back
from .gather import Part


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Prepared rows, their labels, and their numbers in the file."""

    X: Any
    y: np.ndarray
    rows: np.ndarray

    def take(self, which: np.ndarray) -> LabelledRows:
        """A copy of some of them."""
        return LabelledRows(self.X[which], self.y[which], self.rows[which])


def prepared(preparation: TablePreparation, parts: list[Part]) -> LabelledRows:
    """The matrix of all rows kept; ``parts`` is emptied on the way, so that they are not there twice.

    Parameters
    ----------
    preparation : TablePreparation
    parts : list of Part

    Returns
    -------
    LabelledRows
    """
    rows = np.concatenate([part.rows for part in parts])
    y = np.concatenate([np.asarray(part.block.target) for part in parts])
    X: Any = []
    if preparation.is_dense_:
        X = np.empty((len(rows), preparation.n_features_out_), preparation.dtype)
    start = 0
    while parts:
        block = parts.pop(0).block
        matrix = preparation.transform_noting(block)[0]
        if isinstance(X, list):
            X.append(matrix)
        else:
            X[start : start + block.n_rows] = matrix
        start += block.n_rows
    if isinstance(X, list):
        X = sparse.csr_array(sparse.vstack(X, format="csr"))
    give_back()
    return LabelledRows(X, y, rows)


def judged(estimator: Any, data: LabelledRows) -> dict[str, Any]:
    """Accuracy on rows held out, with its interval, and that of always naming the most frequent class."""
    told = confusion_of(estimator)
    count_answers(told, estimator, data.X, data.y)
    return judgement(told)


def confusion_of(estimator: Any) -> Confusion:
    """Of an estimator's classes, with nothing counted yet."""
    return Confusion([str(label) for label in estimator.classes_])


def count_answers(told: Confusion, estimator: Any, X: Any, y: np.ndarray) -> None:
    """Count what an estimator says about rows whose classes are known to it."""
    classes = np.asarray(estimator.classes_)
    told.add(np.searchsorted(classes, y), np.searchsorted(classes, estimator.predict(X)))


def judgement(told: Confusion) -> dict[str, Any]:
    """What the record says about rows held out."""
    n, right = int(told.n_rows), int(told.n_right)
    return {
        "n_rows": n,
        "n_errors": n - right,
        "accuracy": right / n,
        "accuracy_interval": list(share_interval(right, n)),
        "confidence": CONFIDENCE,
        "majority_accuracy": float(told.majority_share()),
        "balanced_accuracy": float(told.balanced_accuracy()),
    }


def held_out_of(parts: Sequence[Part]) -> np.ndarray:
    """Which of the rows kept are held out."""
    return np.concatenate([part.held_out for part in parts])

"""Rows in memory: prepared, fitted, and judged on the rows held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..io.table import Block
from .confusion import Confusion
from .gathering import taken
from .intervals import CONFIDENCE, share_interval
from .preparation import TablePreparation

Part = tuple[Block, np.ndarray]  # a block, and which of its rows are meant


def prepared(preparation: TablePreparation, parts: Sequence[Part]) -> tuple[Any, np.ndarray, np.ndarray]:
    """The matrix of some rows, their labels, and their numbers in the file.

    Parameters
    ----------
    preparation : TablePreparation
    parts : sequence of (Block, bool array)
        Blocks, and which of their rows to take.

    Returns
    -------
    X : ndarray or CSR array
    y : ndarray
    rows : ndarray of int
    """
    sizes = [int(mask.sum()) for _, mask in parts]
    ends = np.cumsum(sizes)
    dense = preparation.is_dense_
    matrices: list[Any] = []
    out = np.empty((int(ends[-1]), preparation.n_features_out_), preparation.dtype) if dense else None
    for (block, mask), size, end in zip(parts, sizes, ends):
        some = block if size == block.n_rows else taken(block, np.flatnonzero(mask))
        matrix = preparation.transform_noting(some)[0]
        if out is not None:
            out[end - size : end] = matrix
        else:
            matrices.append(matrix)
    X = out if out is not None else sparse.csr_array(sparse.vstack(matrices, format="csr"))
    y = np.concatenate([np.asarray(block.target)[mask] for block, mask in parts])
    rows = np.concatenate([block.first_row + np.flatnonzero(mask) for block, mask in parts])
    return X, y, rows


class Judged:
    """Answers on rows held out, counted as they come."""

    def __init__(self, classes: Sequence[Any]) -> None:
        self.classes = np.asarray(classes)
        self.confusion = Confusion([str(label) for label in self.classes])

    def add(self, labels: np.ndarray, predicted: np.ndarray) -> None:
        """Some more rows."""
        self.confusion.add(np.searchsorted(self.classes, labels), np.searchsorted(self.classes, predicted))

    def metrics(self) -> dict[str, Any]:
        """Accuracy with its interval, and what always naming the most frequent class would have."""
        c = self.confusion
        n, right = int(c.n_rows), int(c.n_right)
        return {
            "n_rows": n,
            "n_errors": n - right,
            "accuracy": right / n,
            "accuracy_interval": list(share_interval(right, n)),
            "confidence": CONFIDENCE,
            "majority_accuracy": float(c.majority_share()),
            "balanced_accuracy": float(c.balanced_accuracy()),
        }

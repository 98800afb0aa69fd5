"""Products between features: all of them once, or those of a working set that grows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..._native import is_sparse, one_blas_thread
from .data import SquaresData

FEW = 1000  # features whose products are all computed at once
BLOCK = 8192  # rows


class FeatureProducts:
    """``A'A`` between chosen features of a ``SquaresData``, in double.

    Columns of a code that share their rows share ``whole`` and ``columns``; the products of a working set
    belong to one `WorkingProducts`, so that no other column's course changes their bits.
    """

    def __init__(self, data: SquaresData) -> None:
        self.data = data
        self.whole = data.gram_of_features() if data.rows.n_features <= FEW else None

    @cached_property
    def columns(self) -> Any:
        """The weighted rows by column, where they are sparse."""
        chosen = self.data.rows.X[self.data.rows.index].astype(np.float64)
        return (chosen.multiply(self.data.root[:, None])).tocsc()

    def between(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """``A[:, left]' A[:, right]``."""
        data = self.data
        if is_sparse(data.rows.X):
            raw = (self.columns[:, left].T @ self.columns[:, right]).toarray()
            return np.asarray(raw - data.total * np.outer(data.centre[left], data.centre[right]))
        out = np.zeros((len(left), len(right)))
        with one_blas_thread():
            for start in range(0, len(data.rows), BLOCK):
                data.poll()
                which = data.rows.index[start : start + BLOCK]
                weight = data.root[start : start + BLOCK, None]
                X = np.asarray(data.rows.X[which])
                sides = [weight * (X[:, f] - data.centre[f]) for f in (left, right)]
                out += sides[0].T @ sides[1]
        return out


class WorkingProducts:
    """The products of one working set, of which the next one keeps what it can."""

    def __init__(self, products: FeatureProducts) -> None:
        self.products = products
        self.features = np.zeros(0, dtype=np.intp)
        self.matrix = np.zeros((0, 0))

    def of(self, features: np.ndarray) -> np.ndarray:
        """The products between these features, which ascend."""
        if self.products.whole is not None:
            return self.products.whole
        known = np.isin(features, self.features)
        place = np.searchsorted(self.features, features[known])
        matrix = np.zeros((len(features), len(features)))
        matrix[np.ix_(known, known)] = self.matrix[np.ix_(place, place)]
        if not known.all():
            fresh = self.products.between(features[~known], features)
            matrix[~known] = fresh
            matrix[:, ~known] = fresh.T
        self.features, self.matrix = features, matrix
        return matrix

"""The data that least-squares problems on the same rows share: costs, centre, products and their matrices.

    A = diag(sqrt(c)) (X - 1 centre'),    centre = the mean of the rows weighted by c, or 0 without b

With a free intercept the best b makes the weighted residuals sum to 0, and w then meets centred rows only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..._native import Cancelled, is_sparse, one_blas_thread
from ...data import Rows, near_origin
from ...numerics import interruptible
from ...solving import FLOAT_EPS, LINEAR_ROUNDING, linear_size

MIN_DENSE_BLOCK = 1024  # rows or features that are made dense at a time
CONSTANT_FEATURE_SHARE = 1e-28  # a feature with a smaller variance, relative to its squared mean, is constant
ENTRIES_PER_ROW_BLOCK = 1 << 20  # unless a block must be larger for other reasons


@dataclass(frozen=True)
class SquaresData:
    """Rows, costs ``c_i > 0`` and whether there is a free intercept."""

    rows: Rows
    cost: np.ndarray
    free: bool = True

    def near_origin(self) -> SquaresData:
        """The same problem with shifted rows, if features are so far from 0 that sums lose digits."""
        return replace(self, rows=near_origin(self.rows, self.cost)) if self.free else self

    @cached_property
    def total(self) -> float:
        """The sum of the costs."""
        return float(self.cost.sum())

    @cached_property
    def root(self) -> np.ndarray:
        """The square roots of the costs."""
        return np.sqrt(self.cost)

    @cached_property
    def centre(self) -> np.ndarray:
        """What the rows are measured from."""
        return self.rows.mean(self.cost) if self.free else np.zeros(self.rows.n_features)

    @property
    def wide(self) -> bool:
        """Whether A has more columns than rows."""
        return self.rows.n_features > len(self.rows)

    @property
    def order(self) -> int:
        """The smaller side of A."""
        return min(len(self.rows), self.rows.n_features)

    def centred(self, u: np.ndarray) -> np.ndarray:
        """A vector of one number a row, minus its weighted mean where there is an intercept."""
        return u - float(self.cost @ u) / self.total if self.free else u

    def residual(self, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
        """``y - Xw - b``, and b as the estimator stores it: the best one, rounded on the rows as given."""
        r = y - self.rows.dot(w) if w.any() else y.astype(np.float64)
        if not self.free:
            return r, 0.0
        given = self.rows.given_intercept(w, float(self.cost @ r) / self.total)
        return r - self.rows.own_intercept(w, given), given

    def combine(self, shares: np.ndarray) -> np.ndarray:
        """``sum_i c_i v_i (x_i - centre)``: A'e for ``e = sqrt(c) v``."""
        weighted = self.cost * shares
        return self.rows.sum(weighted) - float(weighted.sum()) * self.centre

    def residual_rounding(self, w: np.ndarray, r: np.ndarray) -> float:
        """What errors of the residuals, taken to be independent, can change ``1/2 sum_i c_i r_i^2`` by."""
        error = LINEAR_ROUNDING * linear_size(1.0, self._largest_values * w)
        return error * float(np.linalg.norm(self.cost * r)) + 0.5 * error**2 * self.total

    @cached_property
    def _largest_values(self) -> np.ndarray:
        """The largest size of a value in each column, so that columns may have any scale."""
        X: Any = self.rows.X
        if not is_sparse(X):
            return np.asarray(np.maximum(X.max(axis=0), -X.min(axis=0)), dtype=np.float64)
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
        return largest

    def rounding(self, w: np.ndarray, shares: np.ndarray) -> float:
        """The rounding error of ``sum_i c_i v_i <w, x_i>``, since rows are not centred before the product."""
        offset = float(np.abs(self.centre) @ np.abs(w))
        return FLOAT_EPS * offset * float(self.cost @ np.abs(shares)) if self.free else 0.0

    def scale(self) -> np.ndarray:
        """The lengths of the columns of A; for a constant column, which is 0 in A, that of its offset."""
        squares = np.zeros(self.rows.n_features)
        for block in self.row_blocks():
            squares += np.einsum("ij,ij->j", block, block)
        offset = self.total * self.centre**2
        constant = np.where(offset > 0.0, offset, 1.0)
        return np.sqrt(np.where(squares > CONSTANT_FEATURE_SHARE * offset, squares, constant))

    def blocks(self) -> Iterator[np.ndarray]:
        """A, some rows at a time, or A' for wide data."""
        return self.feature_blocks() if self.wide else self.row_blocks()

    def plain_blocks(self) -> Iterator[np.ndarray]:
        """The same blocks of X as it is, in double."""
        return self._plain_features() if self.wide else self._plain_rows()

    def row_blocks(self) -> Iterator[np.ndarray]:
        """A, some rows at a time, in double."""
        start = 0
        for block in self._plain_rows():
            if self.free:
                block -= self.centre
            if not (self.cost == 1.0).all():
                block *= self.root[start : start + len(block), None]
            start += len(block)
            yield block

    def _plain_rows(self) -> Iterator[np.ndarray]:
        n, d = len(self.rows), self.rows.n_features
        size = max(MIN_DENSE_BLOCK, 2 * d, min(n, ENTRIES_PER_ROW_BLOCK // max(d, 1)))
        for start in range(0, n, size):
            self.poll()
            X = self.rows.X[self.rows.index[start : start + size]]
            yield np.asarray(X.todense() if is_sparse(X) else X, dtype=np.float64)  # a copy, by the index

    def feature_blocks(self) -> Iterator[np.ndarray]:
        """A', some features at a time, in double."""
        start = 0
        for block in self._plain_features():
            block -= self.centre[start : start + len(block), None]
            block *= self.root
            start += len(block)
            yield block

    def _plain_features(self) -> Iterator[np.ndarray]:
        n, d = len(self.rows), self.rows.n_features
        X = self.rows.X[self.rows.index]
        X = X.tocsc() if is_sparse(X) else X
        size = max(MIN_DENSE_BLOCK, 2 * n)
        for start in range(0, d, size):
            self.poll()
            part = X[:, start : start + size]
            yield np.array((part.todense() if is_sparse(part) else part).T, dtype=np.float64)

    def entry_sizes(self) -> np.ndarray:
        """The lengths of the columns of ``diag(sqrt(c)) X`` as it was given, or of its rows for wide data."""
        squares = np.zeros(self.order)
        moved = self.rows.moved_by if self.rows.moved_by is not None else np.zeros(self.rows.n_features)
        start = 0
        for block in self.plain_blocks():
            place = slice(start, start + len(block))
            given = block + (moved[place, None] if self.wide else moved)
            given *= self.root if self.wide else self.root[place, None]
            squares += np.einsum("ij,ij->j", given, given)
            start += len(block)
        return np.sqrt(squares)

    def gram_of_rows(self) -> np.ndarray:
        """``AA'`` in double."""
        return self._products(self.feature_blocks())

    def gram_of_features(self) -> np.ndarray:
        """``A'A`` in double."""
        if self.rows.X.dtype == np.float64:
            return self.rows.gram(self.cost, self.centre)
        return self._products(self.row_blocks())

    def _products(self, blocks: Iterator[np.ndarray]) -> np.ndarray:
        with one_blas_thread():
            first = next(blocks)
            out = first.T @ first
            for block in blocks:
                out += block.T @ block
        return np.asarray(out)

    def triangle(self, scale: np.ndarray | None = None) -> np.ndarray:
        """R with ``R'R = A'A``, or AA' of wide data, columns divided by ``scale``: by QR, nothing squared."""
        m = self.order
        R = np.zeros((0, m))
        with one_blas_thread():
            for block in self.blocks():
                stacked = np.vstack([R, block if scale is None else block / scale])
                R = interruptible(partial(_triangle_of, stacked), m, self.rows.cancel)
        return R

    def poll(self) -> None:
        """Raise an error if ``rows.cancel`` is set."""
        if self.rows.cancel[0]:
            raise Cancelled("cancelled")


def _triangle_of(A: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.qr(A, mode="r"))

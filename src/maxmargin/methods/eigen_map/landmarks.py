"""A panel that is filled once and then turned: its last columns need no triangular product of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import FeaturePanel, tall, times_triangle
from ...solving import row_blocks

LEADING = 64  # columns that are finished at once: with them the large eigenvalues leave the others


class LandmarkPanel(FeaturePanel):
    """``Phi = stored @ finish``, where ``finish`` is the identity but for the block that fills the panel.

    The last block is stored as ``R = K_new - Phi below'``, and its product with ``pivots^{-T}`` is left to
    the product that turns all features. In exact arithmetic that changes nothing; in floating point the Gram
    matrix of R is less precise than that of the features, by the condition of the pivots. Where it is not
    precise enough, ``finish`` computes it after all.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._first = 0  # of the columns that are not finished
        self._right: np.ndarray | None = None

    def _append_columns(self, points: Any, below: np.ndarray, pivots: np.ndarray) -> None:
        if self.size < LEADING or len(pivots) < self.room:
            super()._append_columns(points, below, pivots)
            return
        self._first, self._right = self.size, np.linalg.inv(pivots).T
        self._fill_columns(points, below, None)

    def finished(self, A: np.ndarray) -> np.ndarray:
        """``finish @ A``: Phi A is ``phi @ finished(A)``."""
        if self._right is None:
            return A
        return np.concatenate([A[: self._first], self._right @ A[self._first :]])

    def whole_gram(self, weight: np.ndarray) -> tuple[np.ndarray, float]:
        """``Phi' diag(weight) Phi`` in double, and how large the rounding of its entries is about."""
        G, first, right = tall.gram(self.phi, weight, self.pool), self._first, self._right
        if right is None:
            return G, 0.0
        rounding = float(np.finfo(self.kernel.dtype).eps * (G.diagonal()[first:] @ right**2).mean())
        G[first:] = right.T @ G[first:]
        G[:, first:] = G[:, first:] @ right
        return 0.5 * (G + G.T), rounding

    def finish(self) -> None:
        """Compute the last block's product after all."""
        columns, right = self.phi[:, self._first :], self._right

        def work(rows: slice) -> None:
            times_triangle(columns[rows].copy(), right, columns[rows])

        if right is not None:
            right = right.astype(columns.dtype)
            self.pool.map(work, row_blocks(len(columns)))
            self._right = None

"""Landmarks of a kernel: their features, and random pivots that choose them where the error is largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import FeaturePanel, tall, times_triangle
from ...solving import row_blocks

MIN_FINISHED_COLUMNS = 64  # columns finished at once, which take the large eigenvalues out of the rest
MIN_CANDIDATES, MAX_CANDIDATES = 16, 768  # candidates at a time
FIRST_CANDIDATES = 96  # in the first block: later residuals are smaller, so fewer candidates are rejected
PIVOT_MARGIN = 2.0  # rows with a residual within this factor of the least pivot count as spanned


class LandmarkPanel(FeaturePanel):
    """``Phi = stored @ finish``, where ``finish`` is the identity but for the block that fills the panel.

    The last block is stored as ``R = K_new - Phi below'``, and its product with ``pivots^{-T}`` is combined
    with the final rotation of all features. In exact arithmetic that changes nothing; in floating point the
    Gram matrix of R is less precise than that of the features, by the condition number of the pivots. If it
    is not precise enough, ``finish`` computes the product.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._first = 0  # of the columns that are not finished
        self._right: np.ndarray | None = None

    def _append_columns(self, points: Any, below: np.ndarray, pivots: np.ndarray) -> None:
        if self.size < MIN_FINISHED_COLUMNS or len(pivots) < self.room:
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
        """``Phi' diag(weight) Phi`` in double, and an estimate of the rounding error of its entries."""
        G, first, right = tall.gram(self.phi, weight, self.pool), self._first, self._right
        if right is None:
            return G, 0.0
        rounding = float(np.finfo(self.kernel.dtype).eps * (G.diagonal()[first:] @ right**2).mean())
        G[first:] = right.T @ G[first:]
        G[:, first:] = G[:, first:] @ right
        return 0.5 * (G + G.T), rounding

    def finish(self) -> None:
        """Compute the product of the last block."""
        columns, right = self.phi[:, self._first :], self._right

        def work(rows: slice) -> None:
            times_triangle(columns[rows].copy(), right, columns[rows])

        if right is not None:
            right = right.astype(columns.dtype)
            self.pool.map(work, row_blocks(len(columns)))
            self._right = None


def add_random_pivots(
    panel: FeaturePanel, diagonal: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Add random pivots until the panel is full or every row is in their span; returns their row numbers.

    ``diagonal`` is that of K, ``weight`` the multiplicity of each row.
    """
    residual = np.maximum(diagonal, 0.0)
    least = PIVOT_MARGIN * panel.least_pivot * residual
    pivots: list[np.ndarray] = []
    while panel.room:
        mass = np.where(residual > least, weight * residual, 0.0)
        sums = np.cumsum(mass)
        if not sums[-1] > 0.0:
            break
        many = (
            FIRST_CANDIDATES if panel.size == 0 and panel.room > 2 * FIRST_CANDIDATES else 3 * panel.room // 2
        )
        block = max(MIN_CANDIDATES, min(MAX_CANDIDATES, many))
        drawn = np.searchsorted(sums, sums[-1] * rng.random(block), side="right")
        drawn = np.minimum(drawn, np.flatnonzero(mass)[-1])
        added = panel.append(panel.kernel.points(drawn), least=rng.random(block) * residual[drawn])
        chosen = drawn[added]
        pivots.append(chosen)
        if not panel.room:
            break
        if len(chosen):
            residual -= panel.sqnorms(panel.size - len(chosen))
            np.maximum(residual, 0.0, out=residual)
        # A pivot has no residual. If none was accepted, the residuals of the candidates are rounding errors.
        residual[chosen if len(chosen) else drawn] = 0.0
    return np.concatenate([np.zeros(0, dtype=np.int64), *pivots])

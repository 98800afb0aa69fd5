"""Cholesky factors of large matrices, block by block: threads change no bit, and Ctrl-C is seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrs, dtrtri

from ...solving import FLOAT_EPS, RowPool, row_blocks

COLUMNS_PER_PANEL = 192
ROWS_PER_STRIP = 512  # updated by one thread
FIRST_SHIFT = 64 * FLOAT_EPS  # of the diagonal, relative to it
MAX_SHIFT = 1e-6  # a matrix that needs more than this is indefinite


class Factor:
    """``L L' = A + shift diag(A)``, with a shift of 0, or the smallest that rounding makes necessary."""

    def __init__(self, build: Callable[[], np.ndarray], pool: RowPool) -> None:
        """``build()`` returns A, which is overwritten; it is called again where a shift is needed."""
        self.shift = 0.0
        while True:
            self.L = build()
            self.L.flat[:: len(self.L) + 1] *= 1.0 + self.shift
            try:
                return _factorise(self.L, pool)
            except np.linalg.LinAlgError:
                self.shift = max(FIRST_SHIFT, 10.0 * self.shift)
                if self.shift > MAX_SHIFT:
                    raise

    def solve(self, right: np.ndarray) -> np.ndarray:
        """``(L L')^{-1} right``."""
        return np.asarray(dpotrs(self.L.T, right, lower=0)[0])


def _factorise(A: np.ndarray, pool: RowPool) -> None:
    """A's lower triangle becomes L; what lies above stays as it was."""
    n = len(A)
    for first in range(0, n, COLUMNS_PER_PANEL):
        here, below = slice(first, min(first + COLUMNS_PER_PANEL, n)), min(first + COLUMNS_PER_PANEL, n)
        A[here, here] = corner = np.linalg.cholesky(A[here, here])
        inverse = dtrtri(corner, lower=1)[0].T
        strips = [slice(below + s.start, below + s.stop) for s in row_blocks(n - below, ROWS_PER_STRIP)]

        def divide(rows: slice, here: slice = here, inverse: np.ndarray = inverse) -> None:
            A[rows, here] = A[rows, here] @ inverse

        def update(rows: slice, here: slice = here, below: int = below) -> None:
            A[rows, below : rows.stop] -= A[rows, here] @ A[below : rows.stop, here].T

        if below < n:
            pool.map(divide, strips)
            pool.map(update, strips)

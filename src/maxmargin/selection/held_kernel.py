"""The whole kernel matrix of a fit's rows in memory, at one gamma after the other.

Squared distances are computed once, and are mapped anew for each gamma of the rbf kernel. Where there is room
for one matrix only, the one at twice gamma is the square of the one at gamma, entry by entry; what is neither
is computed from the rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _native
from ..data import lazy_array
from ..kernels import (
    RBF,
    Kernel,
    KernelData,
    Laplacian,
    Precomputed,
    _SquaredDistance,
)

__all__ = ["HeldData", "HeldKernel", "HeldMatrix"]

ROWS = 64  # that are mapped at a time, in cache
SQUARINGS = 4  # at most, before values are computed anew: each doubles their relative error


@dataclass(frozen=True)
class HeldMatrix(Precomputed):
    """A symmetric kernel matrix of our own making."""

    positive: bool = False
    name: ClassVar[str] = "held"


@dataclass
class HeldData(KernelData):
    """Kernel values that are there already: nothing is computed but sums of them."""

    def fill(self, which: np.ndarray, others: np.ndarray, out: tuple[np.ndarray, np.ndarray, int]) -> None:
        """``rows[slots, first : first + len(others)] = between(which, others)``; out: rows, slots, first."""
        _native.gather_rows(self.X, self.index[which], self.index[others], *out, self.n_threads, self.cancel)

    def matmul(self, which: Any, others: Any, A: np.ndarray) -> np.ndarray:
        """``between(which, others) @ A``, from whole rows of the symmetric matrix."""
        sums = np.zeros((A.shape[1], len(self.X)))
        for column, change in zip(sums, np.ascontiguousarray(-A.T, dtype=np.float64), strict=True):
            _native.subtract_rows(self.X, self.index[others], change, column, self.n_threads, self.cancel)
        return sums[:, self.index[which]].T

    def products(self, rows: np.ndarray, others: np.ndarray, A: np.ndarray) -> np.ndarray:
        """``K[rows][:, others] @ A`` for rows and others of the whole matrix."""
        out = np.empty((len(rows), A.shape[1]))
        for first in range(0, len(rows), ROWS):
            some = slice(first, first + ROWS)
            block = np.empty((len(rows[some]), len(others)), dtype=self.X.dtype)
            places = np.arange(len(block))
            _native.gather_rows(self.X, rows[some], others, block, places, 0, 1, self.cancel)
            out[some] = block @ A.astype(block.dtype)
        return out


class HeldKernel:
    """The matrix of a kernel's values among the rows ``X[index]``, for a grid of its parameters in turn."""

    def __init__(self, X: Any, index: np.ndarray, n_threads: int, limit: int) -> None:
        self.X, self.index, self.n_threads = X, index, n_threads
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        n = len(index)
        self.K = lazy_array(n * n, dtype).reshape(n, n)
        self.with_distances = 2 * self.K.nbytes <= limit
        self.distances: np.ndarray | None = None
        self.kernel: Kernel | None = None
        self.n_values = self.n_squarings = 0

    @staticmethod
    def n_bytes(n: int, dtype: Any) -> int:
        """What one matrix takes."""
        return n * n * (4 if dtype == np.float32 else 8)

    def at(self, kernel: Kernel, several: bool = False) -> HeldData:
        """The values of a kernel whose parameters are numbers; ``several`` others of its kind will follow."""
        if kernel != self.kernel:
            squarings = self._squarings(kernel)
            if isinstance(kernel, RBF) and self.with_distances and (several or self.distances is not None):
                self._map_distances(float(kernel.gamma))
            elif squarings:
                for _ in range(squarings):
                    np.multiply(self.K, self.K, out=self.K)
                self.n_squarings += squarings
            else:
                self._compute(kernel)
            self.kernel = kernel
        return HeldData(HeldMatrix(kernel.positive), self.K, np.arange(len(self.K)), self.n_threads)

    def _squarings(self, kernel: Kernel) -> int:
        """How many squarings lead from the present gamma to that of the kernel; 0 where none do."""
        before = self.kernel
        if not isinstance(kernel, RBF | Laplacian) or not isinstance(before, type(kernel)):
            return 0
        steps = np.log2(float(kernel.gamma) / float(before.gamma))
        n = round(steps)
        exact = abs(steps - n) <= 4.0 * np.finfo(float).eps * max(1.0, abs(steps))
        return n if exact and 0 < n <= SQUARINGS - self.n_squarings else 0

    def _compute(self, kernel: Kernel) -> None:
        everyone = np.arange(len(self.K))
        data = KernelData(kernel, self.X, self.index, self.n_threads)
        data.fill(everyone, everyone, (self.K, everyone, 0))
        self.n_values, self.n_squarings = self.n_values + data.n_values, 0

    def _map_distances(self, gamma: float) -> None:
        """``K = exp(-gamma D)``."""
        if self.distances is None:
            self.distances = lazy_array(self.K.size, self.K.dtype).reshape(self.K.shape)
            _native.kernel_block(
                self.X,
                self.X,
                _SquaredDistance(),
                x_rows=self.index,
                z_rows=self.index,
                out=self.distances,
                n_threads=self.n_threads,
            )
            self.n_values += self.K.size
        D, scale = self.distances, self.K.dtype.type(-gamma)

        def work(first: int) -> None:
            some = slice(first, first + ROWS)
            np.multiply(D[some], scale, out=self.K[some])
            _native.exp(self.K[some], self.K[some])

        with ThreadPoolExecutor(self.n_threads) as executor:
            list(executor.map(work, range(0, len(D), ROWS)))

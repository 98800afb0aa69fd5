"""The kernel matrix of all rows, held for the folds of a grid, at one gamma after the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from .. import _native
from ..data import lazy_array
from ..kernels import RBF, Kernel, KernelData, Precomputed, _OfDistance, _SquaredDistance
from ..solving import row_blocks

__all__ = ["HeldData", "HeldKernel", "HeldMatrix"]

ROWS_PER_BLOCK = 64
MAX_SQUARINGS = 4  # of a kernel matrix in place: each doubles the relative rounding error


@dataclass(frozen=True)
class HeldMatrix(Precomputed):
    """A symmetric kernel matrix computed here."""

    positive: bool = False
    name: ClassVar[str] = "held"


@dataclass
class HeldData(KernelData):
    """Kernel values that are already computed; only sums of them are evaluated."""

    def fill(self, which: np.ndarray, others: np.ndarray, out: tuple[np.ndarray, np.ndarray, int]) -> None:
        """``rows[slots, first : first + len(others)] = between(which, others)``; out: rows, slots, first."""
        _native.gather_rows(self.X, self.index[which], self.index[others], *out, self.n_threads, self.cancel)

    def matmul(self, which: Any, others: Any, A: np.ndarray) -> np.ndarray:
        """``between(which, others) @ A``, from whole rows of the symmetric matrix."""
        sums = np.zeros((A.shape[1], len(self.X)))
        for column, change in zip(sums, np.ascontiguousarray(-A.T, dtype=np.float64), strict=True):
            _native.subtract_rows(self.X, self.index[others], change, column, self.n_threads, self.cancel)
        return sums[:, self.index[which]].T

    def products(self, rows: np.ndarray, others: np.ndarray, A: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``K[rows][:, others]`` times A (len(others), n_columns, n_values), for rows of the whole matrix.

        Each block of kernel values is read once, for all columns. Rows of one label take part in the same
        columns, so a label needs only these.
        """
        used = np.flatnonzero(A.any(axis=(1, 2)))
        used = used[np.argsort(labels[used], kind="stable")]
        starts = np.searchsorted(labels[used], np.arange(labels.max() + 2))
        parts = []
        for first, last in pairwise(starts.tolist()):
            some = A[used[first:last]]
            columns = np.flatnonzero(some.any(axis=(0, 2)))
            flat = some[:, columns].reshape(last - first, len(columns) * A.shape[2])
            parts.append((slice(first, last), columns, flat.astype(self.X.dtype)))
        out = np.zeros((len(rows), *A.shape[1:]))
        for here in row_blocks(len(rows), ROWS_PER_BLOCK):
            block = np.empty((here.stop - here.start, len(used)), dtype=self.X.dtype)
            places = np.arange(len(block))
            _native.gather_rows(self.X, rows[here], others[used], block, places, 0, 1, self.cancel)
            for own, columns, flat in parts:
                shape = len(block), len(columns), A.shape[2]
                out[here, columns] += (block[:, own] @ flat).reshape(shape)
        return out

    def lengths(self, which: np.ndarray) -> np.ndarray:
        """``sqrt(k(x, x))`` of the selected rows."""
        return np.sqrt(np.maximum(self.X.diagonal()[self.index[which]].astype(np.float64), 0.0))


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
        """The bytes of one matrix."""
        return n * n * (4 if dtype == np.float32 else 8)

    def at(self, kernel: Kernel, cancel: np.ndarray = _native.NEVER, several: bool = False) -> HeldData:
        """The matrix of a kernel with numeric parameters; ``several`` means that more gammas will follow."""
        if kernel != self.kernel:
            squarings = self._squarings(kernel)
            self.kernel = None  # until its matrix is complete: the time may run out
            if isinstance(kernel, RBF) and self.with_distances and (several or self.distances is not None):
                self._map_distances(float(kernel.gamma), cancel)
            elif squarings:
                for _ in range(squarings):
                    np.multiply(self.K, self.K, out=self.K)
                self.n_squarings += squarings
            else:
                self._compute(kernel, cancel)
            self.kernel = kernel
        single = self.K.dtype == np.float32  # rounded from the values of the rows
        source = KernelData(kernel, self.X, self.index, self.n_threads) if single else None
        every = np.arange(len(self.K))
        return HeldData(HeldMatrix(kernel.positive), self.K, every, self.n_threads, source=source)

    def _squarings(self, kernel: Kernel) -> int:
        """The number of squarings from the current gamma to the kernel's; 0 if squaring cannot reach it."""
        before = self.kernel
        if not isinstance(kernel, _OfDistance) or not isinstance(before, type(kernel)):
            return 0
        steps = np.log2(float(kernel.gamma) / float(before.gamma))
        n = round(steps)
        exact = abs(steps - n) <= 4.0 * np.finfo(float).eps * max(1.0, abs(steps))
        return n if exact and 0 < n <= MAX_SQUARINGS - self.n_squarings else 0

    def _compute(self, kernel: Kernel, cancel: np.ndarray) -> None:
        everyone = np.arange(len(self.K))
        data = KernelData(kernel, self.X, self.index, self.n_threads, cancel=cancel)
        data.fill(everyone, everyone, (self.K, everyone, 0))
        self.n_values, self.n_squarings = self.n_values + data.n_values, 0

    def _map_distances(self, gamma: float, cancel: np.ndarray) -> None:
        """``K = exp(-gamma D)``."""
        if self.distances is None:
            distances = lazy_array(self.K.size, self.K.dtype).reshape(self.K.shape)
            _native.kernel_block(
                self.X,
                self.X,
                _SquaredDistance(),
                x_rows=self.index,
                z_rows=self.index,
                out=distances,
                n_threads=self.n_threads,
                cancel=cancel,
            )
            self.distances = distances
            self.n_values += self.K.size
        D, scale = self.distances, self.K.dtype.type(-gamma)

        def work(first: int) -> None:
            some = slice(first, first + ROWS_PER_BLOCK)
            np.multiply(D[some], scale, out=self.K[some])
            _native.exp(self.K[some], self.K[some])

        with _native.ThreadPool(self.n_threads) as executor:
            list(executor.map(work, range(0, len(D), ROWS_PER_BLOCK)))

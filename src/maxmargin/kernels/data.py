"""Kernel values between the training rows and any points: one interface for vectors, matrices and objects.

*Points* are what a kernel is evaluated at: rows of a dense array or CSR matrix, entries of a 1-d array of
objects (strings, trees), or, for a precomputed kernel, column indices of its matrix.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from .. import _native
from .._native import is_sparse
from ..data import check_kernel_sums
from .algebra import Kernel
from .compiled import Compiled, _OfDistance
from .given import Precomputed

__all__ = ["KernelData", "join_points", "n_points", "points_of"]

POINTS_IN_DOUBLE = 4096  # converted at a time


def n_points(points: Any) -> int:
    """The number of points."""
    return int(points.shape[0])


def join_points(first: Any, second: Any) -> Any:
    """The points of both, the first ones first."""
    if is_sparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.concatenate([first, second])


def points_of(kernel: Kernel, X: Any, chosen: np.ndarray) -> Any:
    """The chosen rows of X, as points."""
    return chosen if isinstance(kernel, Precomputed) else X[chosen]


def _in_double(points: Any) -> Any:
    return points.astype(np.float64) if points.dtype == np.float32 else points


class DoubleRows:
    """The rows of a fit in double, converted once for all its columns when the first one needs them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows: KernelData | None = None

    def of(self, data: KernelData) -> KernelData:
        """All rows of ``data.X``, with their kernel values in double."""
        with self.lock:
            if self.rows is None:
                precomputed = isinstance(data.kernel, Precomputed)
                X = data.X if precomputed else data.X.astype(np.float64)
                every = np.arange(X.shape[0])
                self.rows = KernelData(data.kernel, X, every, data.n_threads, dtype=np.dtype(np.float64))
            return self.rows


@dataclass
class KernelData:
    """The rows ``X[index]`` of a fit, and kernel values against them.

    The caller may write to every array returned here; what a kernel function returns is copied, because the
    function may keep a reference. ``n_values`` counts the kernel values computed so far. Results are
    bit-identical for any ``n_threads``, and compiled kernels for any split of a matrix into blocks. (Products
    of at most four rows are computed another way, and may differ from those of many by rounding.) ``dtype``
    is the precision of the kernel values: that of X unless it is given. If X is a matrix of rounded kernel
    values, ``source`` is what they were computed from.
    """

    kernel: Kernel
    X: Any
    index: np.ndarray
    n_threads: int = 1
    n_values: int = 0
    cancel: np.ndarray = field(default_factory=lambda: _native.NEVER, repr=False)
    stats: _native.RowStats | None = field(default=None, repr=False)
    dtype: Any = None
    source: KernelData | None = field(default=None, repr=False)
    _filler: _native.RowFiller | None = field(default=None, repr=False)
    _double: DoubleRows = field(default_factory=DoubleRows, repr=False)

    def __post_init__(self) -> None:
        """Compute once the row statistics that every block needs."""
        if self.dtype is None:
            self.dtype = np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)
        if not self.compiled:
            return
        if self.stats is None:
            self.stats = _native.row_stats(self.X, n_threads=self.n_threads)
        if self._filler is None:
            self._filler = _native.RowFiller(self.X, self.kernel, self.stats)  # type: ignore[arg-type]

    @property
    def compiled(self) -> bool:
        """Whether the compiled core computes these values."""
        return isinstance(self.kernel, Compiled)

    def __len__(self) -> int:
        return len(self.index)

    def take(self, which: Any, **changes: Any) -> KernelData:
        """A selection of these rows, with other fields changed; it counts its own kernel values."""
        return replace(self, index=self.index[which], n_values=0, **changes)

    def in_double(self) -> KernelData:
        """The same rows with kernel values in double, as exact as their entries allow; counts go on."""
        if self.source is not None:
            double = self.source.in_double().take(self.index)
        elif self.dtype == np.float64:
            return self
        else:
            double = replace(self._double.of(self), index=self.index)
        return replace(double, n_threads=self.n_threads, cancel=self.cancel, n_values=self.n_values)

    def points(self, which: Any) -> Any:
        """The selected rows, as points."""
        return points_of(self.kernel, self.X, self.index[which])

    def block(self, which: Any, points: Any, out: np.ndarray | None = None) -> np.ndarray:
        """``K[i, j] = k(row which[i], points[j])``; ``which`` is an array of positions or a slice."""
        rows = self.index[which]
        self.n_values += len(rows) * n_points(points)
        if self.compiled:
            return _native.kernel_block(
                self.X,
                points,
                self.kernel,  # type: ignore[arg-type]
                x_rows=rows,
                x_stats=self.stats,
                out=out,
                n_threads=self.n_threads,
                cancel=self.cancel,
            )
        if isinstance(self.kernel, Precomputed):
            K = np.ascontiguousarray(self.X[np.ix_(rows, points)], dtype=self.dtype)
        else:
            K = self._evaluated(self.X[rows], points, self.dtype)
        if out is None:
            return K
        out[...] = K
        return out

    def _evaluated(self, points: Any, others: Any, dtype: Any) -> np.ndarray:
        """A copy of the values of a kernel that is not compiled; raises if some are not finite."""
        with np.errstate(over="ignore"):
            K = np.array(self.kernel(points, others, n_jobs=self.n_threads), dtype=dtype, order="C")
        check_kernel_sums(self.dtype, K)
        return K

    def between(self, which: Any, others: Any) -> np.ndarray:
        """``K[i, j] = k(row which[i], row others[j])``, without copying rows if the kernel is compiled."""
        if not self.compiled:
            return self.block(which, self.points(others))
        rows, columns = self.index[which], self.index[others]
        self.n_values += len(rows) * len(columns)
        return _native.kernel_block(
            self.X,
            self.X,
            self.kernel,  # type: ignore[arg-type]
            x_rows=rows,
            z_rows=columns,
            x_stats=self.stats,
            z_stats=self.stats,
            n_threads=self.n_threads,
            cancel=self.cancel,
        )

    def matmul(self, which: Any, others: Any, A: np.ndarray) -> np.ndarray:
        """``between(which, others) @ A`` in double, with only a part of the kernel values in memory."""
        rows, columns = self.index[which], self.index[others]
        if not self.compiled:
            step = max(1, (4 << 20) // max(1, len(columns)))
            positions, points = np.arange(len(self))[which], self.points(others)
            out = np.zeros((len(rows), A.shape[1]))
            with _native.one_blas_thread():
                for i in range(0, len(rows), step):
                    out[i : i + step] = self.block(positions[i : i + step], points) @ A
            return out
        self.n_values += len(rows) * len(columns)
        product = _native.kernel_matmul(
            self.X,
            self.X,
            A,
            self.kernel,  # type: ignore[arg-type]
            x_rows=rows,
            z_rows=columns,
            x_stats=self.stats,
            z_stats=self.stats,
            n_threads=self.n_threads,
            cancel=self.cancel,
        )
        return product.astype(np.float64)

    def outputs_in_double(self, which: np.ndarray, others: np.ndarray, a: np.ndarray) -> np.ndarray:
        """``in_double().between(which, others) @ a`` for a few rows: only rows named here are converted."""
        if self.source is not None:
            return self.source.outputs_in_double(self.index[which], self.index[others], a)
        rows, columns = self.index[which], self.index[others]
        sums, step = np.zeros(len(rows)), POINTS_IN_DOUBLE
        with _native.one_blas_thread():
            for i in range(0, len(columns), step):
                K = self._values_in_double(rows, columns[i : i + step])
                sums += K @ a[i : i + step]
        self.n_values += len(rows) * len(columns)
        return sums

    def _values_in_double(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if isinstance(self.kernel, Precomputed):
            return self.X[np.ix_(rows, columns)].astype(np.float64)
        points, others = _in_double(self.X[rows]), _in_double(self.X[columns])
        return np.asarray(self.kernel(points, others, n_jobs=self.n_threads), dtype=np.float64)

    def fill(self, which: np.ndarray, others: np.ndarray, out: tuple[np.ndarray, np.ndarray, int]) -> None:
        """``rows[slots, first : first + len(others)] = between(which, others)``; out: rows, slots, first."""
        if self._filler is not None:
            self.n_values += len(which) * len(others)
            self._filler.fill(self.index[which], self.index[others], out, self.n_threads, self.cancel)
            return
        rows, slots, first = out
        step = max(1, (4 << 20) // max(1, len(others)))
        for i in range(0, len(which), step):
            some = slice(i, i + step)
            rows[slots[some], first : first + len(others)] = self.between(which[some], others)

    def filler(self) -> _native.RowFiller | None:
        """The compiled object that fills kernel rows without Python; None if the kernel is not compiled."""
        return self._filler

    def gram(self, points: Any, others: Any = None) -> np.ndarray:
        """``K[i, j] = k(points[i], others[j])`` in double; ``others`` defaults to the points themselves."""
        others = points if others is None else others
        self.n_values += n_points(points) * n_points(others)
        if isinstance(self.kernel, Precomputed):
            return self.X[np.ix_(points, others)].astype(np.float64)
        if self.compiled:
            return _native.kernel_block(
                points.astype(np.float64),
                others.astype(np.float64),
                self.kernel,  # type: ignore[arg-type]
                n_threads=self.n_threads,
                cancel=self.cancel,
            )
        return self._evaluated(_in_double(points), _in_double(others), np.float64)

    def diagonal(self, points: Any) -> np.ndarray:
        """``k(z, z)`` for each point, in double."""
        if isinstance(self.kernel, Precomputed):
            return self.X[points, points].astype(np.float64)
        return np.array(self.kernel.diagonal(points), dtype=np.float64)

    def lengths(self, which: np.ndarray) -> np.ndarray:
        """``sqrt(k(x, x))`` of the selected rows, for a positive semi-definite kernel."""
        if isinstance(self.kernel, _OfDistance):
            return np.ones(len(which))
        step = 4096  # rows are copied
        parts = [self.diagonal(self.points(which[i : i + step])) for i in range(0, len(which), step)]
        return np.sqrt(np.maximum(np.concatenate([np.zeros(0), *parts]), 0.0))

"""Features of a growing set of support vectors in which the RKHS norm is the Euclidean norm."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..data import check_kernel_sums, lazy_array
from ..kernels import KernelData, join_points, n_points
from ..solving import RowPool, row_blocks

ROWS_PER_KERNEL_CALL = 8192
COLUMNS_PER_PRODUCT = 192  # of a block and a triangular matrix


@dataclass(frozen=True)
class Snapshot:
    """A copy of the part of a panel that is about to change."""

    size: int
    start: int
    points: Any
    ends: list[int]
    phi: np.ndarray
    factor: np.ndarray


class FeaturePanel:
    """``Phi = K(rows, Z) L^{-T}`` for points Z with ``K(Z, Z) = L L'``.

    With ``v = L' a``, f = K a = Phi v on the rows, and a' K(Z, Z) a = v'v. Points are only ever appended, so
    the first b columns of Phi and of L belong to the first b points, and a problem for a prefix of Z is a
    problem for ``Phi[:, :b]``. Phi has the precision of the kernel values; L is in double.
    """

    exact_gram = True  # whether ``gram`` is computed from the rows themselves

    def __init__(self, kernel: KernelData, capacity: int, pool: RowPool) -> None:
        self.kernel = kernel
        self.pool = pool
        self.points: Any = None
        self.size = 0
        self.ends: list[int] = []  # ends of the appended blocks, needed to recompute Phi with identical bits
        self._phi = lazy_array(len(kernel) * capacity, kernel.dtype).reshape(len(kernel), capacity)
        self._factor = np.zeros((capacity, capacity))
        self.blocks = row_blocks(len(kernel))
        # A point this close to the span of the others, relative to its norm, adds only rounding errors.
        self.least_pivot = 1e-4 if kernel.dtype == np.float32 else 1e-10

    @property
    def phi(self) -> np.ndarray:
        """Phi, (n_rows, size)."""
        return self._phi[:, : self.size]

    @property
    def storage(self) -> np.ndarray:
        """Contiguous memory whose first columns are Phi."""
        return self._phi

    @property
    def dtype(self) -> Any:
        """The precision of Phi."""
        return self._phi.dtype

    @property
    def room(self) -> int:
        """The number of points that can still be added."""
        return int(self._phi.shape[1]) - self.size

    @property
    def n_bytes(self) -> int:
        """The memory that a full Phi takes."""
        return int(self._phi.nbytes)

    @property
    def factor(self) -> np.ndarray:
        """L, (size, size), lower triangular."""
        return self._factor[: self.size, : self.size]

    # ---- growing ----

    def append(self, points: Any, least: np.ndarray | None = None) -> np.ndarray:
        """Add points, except those in the span of the others; return a mask of the points added.

        If ``least`` is given, a point is added only if its pivot, the squared distance from the span of the
        points before it, exceeds its entry in ``least``. The result depends only on the points added, not on
        those rejected, so the panel can be recomputed from its points with identical bits.
        """
        which = np.arange(n_points(points))
        least = np.zeros(len(which)) if least is None else least
        while True:
            below, pivots, kept = self._extended_factor(points[which], least[which])
            which = which[kept]
            if kept.all():
                break
        added = np.zeros(n_points(points), dtype=bool)
        added[which] = True
        if len(which):
            start, end = self.size, self.size + len(which)
            new = points[which]
            self._append_columns(new, below, pivots)
            self._factor[start:end, :start] = below
            self._factor[start:end, start:end] = pivots
            self.points = new if self.points is None else join_points(self.points, new)
            self.size = end
            self.ends.append(end)
        return added

    def cut(self, size: int) -> int:
        """Remove points from the last block boundary at or before ``size`` on; return how many remain."""
        while self.ends and self.ends[-1] > size:
            self.ends.pop()
        self.size = self.ends[-1] if self.ends else 0
        self.points = self.points[: self.size] if self.size else None
        return self.size

    def _extended_factor(self, points: Any, least: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The new rows of L, left of the diagonal block and in it, and which points they belong to."""
        q = n_points(points)
        left = np.zeros((q, self.size))
        if self.size:
            cross = self.kernel.gram(self.points, points)
            left = solve_triangular(self.factor, cross, lower=True, check_finite=False).T
        own = self.kernel.gram(points)
        check_kernel_sums(self.kernel.dtype, own, left)
        least = np.maximum(least, self.least_pivot * np.maximum(own.diagonal(), 1e-300))
        lower, added = _cholesky(own - left @ left.T, least, self.room)
        return left[added], lower, added

    def _append_columns(self, points: Any, below: np.ndarray, pivots: np.ndarray) -> None:
        """``Phi_new = (K_new - Phi below') pivots^{-T}``."""
        self._fill_columns(points, below, np.linalg.inv(pivots).T)

    def _fill_columns(self, points: Any, below: np.ndarray, right: np.ndarray | None) -> None:
        """``(K_new - Phi below') right`` into the next columns, some rows at a time; None is the identity."""
        start, q = self.size, len(below)
        right = None if right is None else right.astype(self._phi.dtype)
        left = np.ascontiguousarray(below.T, dtype=self._phi.dtype)
        memory = np.empty(min(ROWS_PER_KERNEL_CALL, len(self._phi)) * q, dtype=self._phi.dtype)
        for rows in row_blocks(len(self._phi), ROWS_PER_KERNEL_CALL):
            n = rows.stop - rows.start
            K = self.kernel.block(rows, points, out=memory[: n * q].reshape(n, q))

            def whiten(some: slice, rows: slice = rows, K: np.ndarray = K) -> None:
                here = slice(rows.start + some.start, rows.start + some.stop)
                block = K[some]
                if start:
                    block -= self._phi[here, :start] @ left
                times_triangle(block, right, self._phi[here, start : start + q])

            self.pool.map(whiten, row_blocks(len(K)))

    def fill(self, points: Any, factor: np.ndarray, ends: list[int]) -> FeaturePanel:
        """Fill an empty panel with points whose factor is known, in the same blocks as the original panel."""
        for end in ends:
            start = self.size
            new = points[start:end]
            self._append_columns(new, factor[start:end, :start], factor[start:end, start:end])
            self.size = end
        self._factor[: self.size, : self.size] = factor
        self.points, self.ends = points if self.size else None, list(ends)
        return self

    def on(self, kernel: KernelData, capacity: int | None = None) -> FeaturePanel:
        """A panel of the same points for other rows, filled in one block."""
        panel = FeaturePanel(kernel, self.size if capacity is None else capacity, self.pool)
        return panel.fill(self.points, self.factor, [self.size] if self.size else [])

    def whitened(self, K: np.ndarray) -> np.ndarray:
        """``K L^{-T}``: the features of rows whose kernel values with all points are K."""
        return np.asarray(solve_triangular(self.factor, K.T, lower=True, check_finite=False).T)

    def snapshot(self, size: int) -> Snapshot:
        """What ``restore`` needs if points change from ``size`` on, or from the block boundary before it."""
        start = max([end for end in self.ends if end <= size], default=0)
        changing = np.s_[start : self.size]
        return Snapshot(
            self.size,
            start,
            self.points,
            list(self.ends),
            self._phi[:, changing].copy(),
            self._factor[changing].copy(),
        )

    def restore(self, saved: Snapshot) -> None:
        """Go back to the points of a snapshot."""
        changing = np.s_[saved.start : saved.size]
        self._phi[:, changing] = saved.phi
        self._factor[changing] = saved.factor
        self.points, self.size, self.ends = saved.points, saved.size, list(saved.ends)

    # ---- products ----

    def dot(self, V: np.ndarray) -> np.ndarray:
        """``Phi[:, :b] @ V`` in double, where b is the number of rows of V."""
        out = np.empty((len(self._phi), V.shape[1]))
        b, W = len(V), np.ascontiguousarray(V, dtype=self._phi.dtype)

        def work(rows: slice) -> None:
            out[rows] = self._phi[rows, :b] @ W

        self.pool.map(work, self.blocks)
        return out

    def tdot(self, R: np.ndarray, b: int) -> np.ndarray:
        """``Phi[:, :b].T @ R``, (b, n_columns), in double."""

        def work(rows: slice) -> np.ndarray:
            block = np.ascontiguousarray(R[rows], dtype=self._phi.dtype)
            return (self._phi[rows, :b].T @ block).astype(np.float64)

        return np.asarray(self.pool.sum(work, self.blocks))

    def sqnorms(self, first: int = 0) -> np.ndarray:
        """Squared norms of the rows of ``Phi[:, first:]``, in double."""
        out = np.empty(len(self._phi))

        def work(rows: slice) -> None:
            block = self._phi[rows, first : self.size]
            out[rows] = np.einsum("ij,ij->i", block, block, dtype=np.float64)

        self.pool.map(work, self.blocks)
        return out

    def gram(self, which: np.ndarray, weight: np.ndarray, b: int, *, alone: bool = True) -> np.ndarray:
        """``Phi[which, :b]' diag(weight) Phi[which, :b]`` in double.

        ``alone`` means that no other Gram matrix is computed in parallel, so this one may use all threads.
        """
        root = np.sqrt(weight).astype(self._phi.dtype)

        def work(some: slice) -> np.ndarray:
            block = self._phi[which[some], :b]
            block *= root[some, None]
            return block.T @ block

        total = np.zeros((b, b))
        chunks = row_blocks(len(which), 4096 if b >= 512 else 2048)
        for first in range(0, len(chunks), 8):  # at most eight partial sums are in memory
            some = chunks[first : first + 8]
            for part in self.pool.map(work, some) if alone else map(work, some):
                total += part
        return total

    # ---- coefficients ----

    def coef(self, V: np.ndarray) -> np.ndarray:
        """``a = L^{-T} v`` for the first b points, where b is the number of rows of V."""
        b = len(V)
        return np.asarray(solve_triangular(self._factor[:b, :b].T, V, lower=False, check_finite=False))

    def solve_factor(self, G: np.ndarray) -> np.ndarray:
        """``L^{-1} g``, which turns a gradient with respect to a into one with respect to v."""
        b = len(G)
        return np.asarray(solve_triangular(self._factor[:b, :b], G, lower=True, check_finite=False))


def times_triangle(block: np.ndarray, right: np.ndarray | None, out: np.ndarray) -> None:
    """``out = block @ right`` for an upper triangular matrix; None means the identity."""
    if right is None:
        out[...] = block
        return
    for first in range(0, len(right), COLUMNS_PER_PRODUCT):
        last = min(first + COLUMNS_PER_PRODUCT, len(right))
        out[:, first:last] = block[:, :last] @ right[:last, first:last]


def _cholesky(rest: np.ndarray, least: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
    """L and a mask of the rows kept: the first, at most ``room``, whose pivots exceed ``least``."""
    q, c = len(rest), 0  # c columns are in use
    if q <= room:
        with contextlib.suppress(np.linalg.LinAlgError):
            lower = np.linalg.cholesky(rest)
            if (lower.diagonal() ** 2 > least).all():
                return lower, np.ones(q, dtype=bool)
    lower, kept = np.zeros((q, q)), np.zeros(q, dtype=bool)
    for i in range(q):
        pivot = rest[i, i] - lower[i, :c] @ lower[i, :c]
        if c == room:
            break
        if not pivot > least[i]:
            continue
        root = np.sqrt(pivot)
        lower[i:, c] = (rest[i:, i] - lower[i:, :c] @ lower[i, :c]) / root
        lower[i, c] = root
        kept[i], c = True, c + 1
    return np.tril(lower[kept, :c]), kept

"""Matrices with many rows and few columns: products and orthonormal bases, one block of rows at a time.

The blocks depend only on the shapes, so results do not depend on the threads. Ctrl-C works between blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .. import _native
from ..data import lazy_array
from ..solving import ROWS_PER_BLOCK, RowPool, row_blocks

MAX_PARTIAL_SUMS = 8  # held in memory at the same time


def dot(
    A: np.ndarray, W: np.ndarray, pool: RowPool, place: tuple[int, np.ndarray] | None = None
) -> np.ndarray:
    """``A @ W`` in the precision of A; place (n_rows, index) puts row i into row ``index[i]`` of n_rows.

    The other rows are 0.
    """
    n_rows, index = (len(A), None) if place is None else place
    out = lazy_array(n_rows * W.shape[1], A.dtype).reshape(n_rows, W.shape[1])
    if len(A) < n_rows:  # what an empty array happens to hold may overflow when it is cast
        out[:] = 0.0
    right = np.ascontiguousarray(W, dtype=A.dtype)

    def work(rows: slice) -> None:
        if index is None:
            np.matmul(A[rows], right, out=out[rows])
        else:
            out[index[rows]] = A[rows] @ right

    pool.map(work, row_blocks(len(A)))
    return out


def gram(A: np.ndarray, weight: np.ndarray, pool: RowPool) -> np.ndarray:
    """``A' diag(weight) A`` in double; sums within a block are in the precision of A."""
    root = None if (weight == 1.0).all() else np.sqrt(weight).astype(A.dtype)

    def work(rows: slice) -> np.ndarray:
        block = A[rows] if root is None else A[rows] * root[rows, None]
        return block.T @ block

    total = np.zeros((A.shape[1], A.shape[1]))
    blocks = row_blocks(len(A))
    for first in range(0, len(blocks), MAX_PARTIAL_SUMS):
        for part in pool.map(work, blocks[first : first + MAX_PARTIAL_SUMS]):
            total += part
    return total


def tdot(A: np.ndarray, B: np.ndarray, pool: RowPool) -> np.ndarray:
    """``A' B``."""
    total = np.zeros((A.shape[1], B.shape[1]))
    blocks = row_blocks(len(A))
    for first in range(0, len(blocks), MAX_PARTIAL_SUMS):
        for part in pool.map(lambda rows: A[rows].T @ B[rows], blocks[first : first + MAX_PARTIAL_SUMS]):
            total += part
    return total


def orthonormal(A: np.ndarray, pool: RowPool) -> np.ndarray:
    """The Q of a QR factorisation of A: factor each block, then the stacked R factors."""
    blocks = row_blocks(len(A), max(ROWS_PER_BLOCK, 4 * A.shape[1]))
    parts = pool.map(lambda rows: np.linalg.qr(A[rows]), blocks)
    if len(parts) == 1:
        return parts[0][0]
    above = orthonormal(np.concatenate([R for _, R in parts]), pool)
    ends = np.cumsum([len(R) for _, R in parts])

    def work(i: int) -> np.ndarray:
        Q, R = parts[i]
        return Q @ above[ends[i] - len(R) : ends[i]]

    return np.concatenate(pool.map(work, range(len(parts))))


Result = TypeVar("Result")

MAX_ORDER_UNINTERRUPTED = 400  # eigenvalues of a smaller matrix take a few hundredths of a second
POLL_SECONDS = 0.05


def eigh_descending(A: np.ndarray, cancel: np.ndarray = _native.NEVER) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues of A, in descending order, and their eigenvectors as columns."""
    with _native.one_blas_thread():
        values, vectors = interruptible(lambda: np.linalg.eigh(A), len(A), cancel)
    return values[::-1], vectors[:, ::-1]


def interruptible(decompose: Callable[[], Result], order: int, cancel: np.ndarray = _native.NEVER) -> Result:
    """Call ``decompose()``, for large matrices on another thread so that this one can react to Ctrl-C.

    NumPy's decompositions release the GIL. The thread cannot be stopped; after Ctrl-C it finishes by itself.
    """
    if order <= MAX_ORDER_UNINTERRUPTED:
        return decompose()
    results: list[Result] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            results.append(decompose())
        except Exception as error:
            errors.append(error)

    if (thread := _native.started_thread(work, daemon=True)) is None:
        return decompose()
    while thread.is_alive():
        thread.join(POLL_SECONDS)
        if cancel[0]:
            raise _native.Cancelled("cancelled")
    if errors:
        raise errors[0]
    return results[0]

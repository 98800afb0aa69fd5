"""Products and fingerprints of chosen rows, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import NEVER, as_matrix
from .blas import one_blas_thread

__all__ = [
    "hash_rows",
    "rows_dot",
    "rows_equal",
    "rows_gram",
    "rows_sqnorm",
    "rows_sum",
]


def hash_rows(X: Any, n_threads: int = 1) -> NDArray[Any]:
    """A 64-bit fingerprint of each row, the same for dense and CSR, float32 and float64."""
    out = np.empty(X.shape[0], dtype=np.uint64)
    _core.hash_rows(as_matrix(X), out, n_threads)
    return out


def rows_equal(X: Any, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Whether row ``left[p]`` holds the same values as row ``right[p]``."""
    out = np.empty(len(left), dtype=bool)
    _core.rows_equal(as_matrix(X), left, right, out)
    return out


def rows_dot(
    X: Any, index: NDArray[Any], w: NDArray[Any], n_threads: int = 1, cancel: NDArray[Any] = NEVER
) -> NDArray[Any]:
    """``X[index] @ w`` in double, for one vector or several as the columns of a matrix."""
    W = np.ascontiguousarray(np.atleast_2d(w.T), dtype=np.float64)
    out = np.empty((len(index), len(W)))
    _core.rows_dot(as_matrix(X), index, W, out, n_threads, cancel)
    return out if w.ndim == 2 else out[:, 0]


def rows_sum(
    X: Any, index: NDArray[Any], u: NDArray[Any], n_threads: int = 1, cancel: NDArray[Any] = NEVER
) -> NDArray[Any]:
    """``u @ X[index]`` in double; rows whose u is 0 cost nothing."""
    out = np.empty(X.shape[1])
    _core.rows_sum(as_matrix(X), index, np.ascontiguousarray(u, dtype=np.float64), out, n_threads, cancel)
    return out


def rows_sqnorm(
    X: Any, index: NDArray[Any], n_threads: int = 1, cancel: NDArray[Any] = NEVER
) -> NDArray[Any]:
    """Squared norms of the chosen rows, in double."""
    out = np.empty(len(index))
    _core.rows_sqnorm(as_matrix(X), index, out, n_threads, cancel)
    return out


def rows_gram(
    X: Any,
    index: NDArray[Any],
    weight: NDArray[Any],
    centre: NDArray[Any],
    n_threads: int = 1,
    cancel: NDArray[Any] = NEVER,
) -> NDArray[Any]:
    """``(X[index] - centre)' diag(weight) (X[index] - centre)``, with products in X's own precision.

    For sparse rows the centre must be 0 or their weighted mean.
    """
    out = np.empty((X.shape[1], X.shape[1]))
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    with one_blas_thread():
        _core.rows_gram(as_matrix(X), index, weight, centre, out, n_threads, cancel)
    return out

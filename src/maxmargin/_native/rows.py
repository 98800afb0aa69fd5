"""Products, fingerprints and statistics of selected rows, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import NEVER, as_matrix, as_real
from .blas import one_blas_thread
from .layout import is_sparse
from .threads import effective_n_threads

__all__ = [
    "RowStats",
    "checked_centre",
    "checked_sqnorms",
    "hash_rows",
    "row_stats",
    "rows_dot",
    "rows_equal",
    "rows_gram",
    "rows_sqnorm",
    "rows_sum",
    "step_of_both",
    "useful_centre",
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
    """``X[index] @ w`` in double, for one vector or for the columns of a matrix."""
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
    """Squared norms of the selected rows, in double."""
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


MIN_PRODUCTS_FOR_GRID = 1 << 27  # with fewer multiply-adds, searching for a common step does not pay off


@dataclass(frozen=True)
class RowStats:
    """Statistics of rows, computed once for repeated use.

    ``sqnorms[i] = ||x_i - centre||^2``. If all entries are integer multiples of a ``step`` (0 if there is
    none), products are computed in integers. ``row_stats(Z, like=row_stats(X))`` shares centre and step.
    """

    centre: np.ndarray | None
    sqnorms: np.ndarray
    step: float = 0.0


def row_stats(X: Any, like: RowStats | None = None, *, n_threads: int | None = None) -> RowStats:
    """The centre and step (X's own, or those of ``like``), and squared norms about the centre."""
    matrix, sqnorms = as_matrix(X), np.empty(X.shape[0])
    centre = like.centre if like is not None else None if is_sparse(X) else useful_centre(X, None)
    if centre is not None and is_sparse(X):
        raise ValueError(
            "sparse rows are never centred; compute their row_stats first, then the other rows' with like=."
        )
    if X.dtype == np.float32:
        _core.row_sqnorms_f32(matrix, checked_centre(X, centre), sqnorms)
    else:
        _core.row_sqnorms_f64(matrix, checked_centre(X, centre), sqnorms)
    threads = effective_n_threads(n_threads)
    step = _grid_step(X, None, threads) if like is None else _shared_step(X, None, like.step, threads)
    return RowStats(centre, sqnorms, step)


def useful_centre(Z: Any, z_rows: np.ndarray | None) -> np.ndarray | None:
    """A centre that makes squared norms much smaller, or None if there is none."""
    centre = np.empty(Z.shape[1])
    useful = _core.useful_centre_f32 if Z.dtype == np.float32 else _core.useful_centre_f64
    return centre if useful(as_matrix(Z), z_rows, centre) else None


def checked_centre(X: Any, centre: np.ndarray | None) -> np.ndarray | None:
    """The centre, if its shape matches X."""
    if centre is None:
        return None
    centre = as_real("a centre", centre, np.float64)
    if centre.shape != (X.shape[1],):
        raise ValueError(
            f"a centre must have shape ({X.shape[1]},), one entry for each feature; got {centre.shape}."
        )
    return centre


def checked_sqnorms(values: np.ndarray, n: int) -> np.ndarray:
    """Squared norms, if there is one for each of the n rows."""
    values = as_real("row statistics", values, np.float64)
    if values.shape != (n,):
        raise ValueError(f"row statistics must have shape ({n},); got {values.shape}.")
    return values


def _grid_step(X: Any, rows: np.ndarray | None, n_threads: int) -> float:
    find = _core.grid_step_f32 if X.dtype == np.float32 else _core.grid_step_f64
    return float(find(as_matrix(X), rows, n_threads))


def _shared_step(X: Any, rows: np.ndarray | None, step: float, n_threads: int) -> float:
    """The step, if the rows of X are multiples of it too; else 0."""
    check = _core.on_grid_f32 if X.dtype == np.float32 else _core.on_grid_f64
    return step if step > 0 and check(as_matrix(X), rows, step, n_threads) else 0.0


def step_of_both(sides: Any, known: list[RowStats], n_threads: int) -> float:
    """The common step of both sides, given as (matrix, row numbers, statistics); 0 if there is none."""
    if known:
        step = known[0].step if len({s.step for s in known}) == 1 else 0.0
    else:
        counts = [X.shape[0] if rows is None else len(rows) for X, rows, _ in sides]
        work = counts[0] * counts[1] * sides[0][0].shape[1]
        larger, rows, _ = sides[int(counts[1] > counts[0])]
        step = _grid_step(larger, rows, n_threads) if work >= MIN_PRODUCTS_FOR_GRID else 0.0
    for X, rows, stats in sides:
        step = step if stats is not None else _shared_step(X, rows, step, n_threads)
    return step

"""The one door to the compiled core: dtypes, layouts and shapes are checked here, nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from . import _core
from ._blas import one_blas_thread

__all__ = [
    "dual_cd_epoch",
    "hash_rows",
    "loss_conjugate",
    "loss_slope",
    "loss_value",
    "one_blas_thread",
    "rows_dot",
    "rows_equal",
    "rows_gram",
    "rows_sqnorm",
    "rows_sum",
    "simd_name",
]

simd_name = _core.simd_name


def _entrywise(core_map: Callable[..., None], name: str, values: ArrayLike) -> NDArray[Any]:
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.empty(values.shape)
    core_map(name, values.reshape(-1), out.reshape(-1))
    return out


def loss_value(name: str, margins: ArrayLike) -> NDArray[Any]:
    """The compiled loss of that name at each margin."""
    return _entrywise(_core.loss_value, name, margins)


def loss_slope(name: str, margins: ArrayLike) -> NDArray[Any]:
    """Its derivative in the margin."""
    return _entrywise(_core.loss_slope, name, margins)


def loss_conjugate(name: str, slopes: ArrayLike) -> NDArray[Any]:
    """Its convex conjugate at each slope."""
    return _entrywise(_core.loss_conjugate, name, slopes)


# ---- rows ----------------------------------------------------------------------------------------------------


def _view(X: Any) -> Any:
    if not sp.issparse(X):
        return X
    return X.data, X.indices, X.indptr, X.shape[1]


def _matrix(X: Any) -> Any:
    """The compiled view of X; it borrows the arrays."""
    view = _view(X)
    return _core.Matrix(*view) if isinstance(view, tuple) else _core.Matrix(view)


def hash_rows(X: Any, n_threads: int = 1) -> NDArray[Any]:
    """A 64-bit fingerprint of each row, the same for dense and CSR, float32 and float64."""
    out = np.empty(X.shape[0], dtype=np.uint64)
    _core.hash_rows(_matrix(X), out, n_threads)
    return out


def rows_equal(X: Any, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Whether row ``left[p]`` holds the same values as row ``right[p]``."""
    out = np.empty(len(left), dtype=bool)
    _core.rows_equal(_matrix(X), left, right, out)
    return out


def rows_dot(X: Any, index: NDArray[Any], w: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
    """``X[index] @ w`` in double, for one vector or several as the columns of a matrix."""
    W = np.ascontiguousarray(np.atleast_2d(w.T), dtype=np.float64)
    if W.shape[1] != X.shape[1]:
        raise ValueError(f"vectors of {W.shape[1]} entries do not fit rows of {X.shape[1]} features.")
    out = np.empty((len(index), len(W)))
    _core.rows_dot(_matrix(X), index, W, out, n_threads)
    return out if w.ndim == 2 else out[:, 0]


def rows_sum(X: Any, index: NDArray[Any], u: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
    """``u @ X[index]`` in double; rows whose u is 0 cost nothing."""
    out = np.empty(X.shape[1])
    _core.rows_sum(_matrix(X), index, np.ascontiguousarray(u, dtype=np.float64), out, n_threads)
    return out


def rows_sqnorm(X: Any, index: NDArray[Any]) -> NDArray[Any]:
    """Squared norms of the chosen rows, in double."""
    out = np.empty(len(index))
    _core.rows_sqnorm(_matrix(X), index, out)
    return out


def rows_gram(X: Any, index: NDArray[Any], weight: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
    """``X[index]' diag(weight) X[index]``."""
    chosen = X[index]
    if sp.issparse(chosen):
        return (chosen.T @ chosen.multiply(weight[:, None]).tocsr()).toarray().astype(np.float64)
    return (chosen.T @ (chosen * weight[:, None].astype(chosen.dtype))).astype(np.float64)


def dual_cd_epoch(problem: Any, descent: Any, state: Any, cancel: NDArray[Any]) -> None:
    """One epoch of dual coordinate descent on a ``MarginProblem``; ``state`` is changed in place."""
    _core.dual_cd_epoch(
        _matrix(problem.rows.X),
        problem.rows.index,
        problem.y,
        descent.upper,
        descent.ridge,
        descent.sqnorm,
        descent.bias_weight,
        state.a,
        state.w,
        state.bias,
        state.order,
        state.n_active,
        state.violation,
        state.seed,
        state.epoch,
        cancel,
    )

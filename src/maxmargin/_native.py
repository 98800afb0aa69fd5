"""The one door to the compiled core: dtypes, layouts and shapes are checked here, nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cython_blas

from . import _core
from ._blas import one_blas_thread
from .rows import is_sparse
from .threads import effective_n_threads

__all__ = [
    "CompiledKernel",
    "RowStats",
    "exp",
    "kernel_block",
    "kernel_matmul",
    "row_stats",
    "simd_name",
]

simd_name = _core.simd_name

# ---- kernels ----

_core.set_blas(cython_blas.__pyx_capi__["sgemm"], cython_blas.__pyx_capi__["dgemm"])


class CompiledKernel(Protocol):
    """What the kernel engine needs to know: a name it has a loop for, and numbers."""

    @property
    def native(self) -> tuple[str, float, float, float]:
        """Name, gamma, coef0, degree."""
        ...


@dataclass(frozen=True)
class RowStats:
    """What squared distances need of each row, computed once for rows that are used many times.

    ``sqnorms[i] = ||x_i - centre||^2``. Two sets of rows share a centre: ``row_stats(Z, like=row_stats(X))``.
    """

    centre: np.ndarray | None
    sqnorms: np.ndarray


def _view(X: Any) -> Any:
    """X as the core takes it: a C-contiguous array, or CSR parts in canonical form. Nothing is copied."""
    if not is_sparse(X):
        if X.ndim != 2 or X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
            raise TypeError(
                f"rows must be 2-d, C-contiguous, float32 or float64; got {X.dtype}, shape {X.shape}."
            )
        return X
    if X.format != "csr" or not X.has_canonical_format:
        raise TypeError(
            "sparse rows must be CSR with sorted indices and no duplicates; call sum_duplicates()."
        )
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return X.data, indices, indptr, X.shape[1]


def _subset(rows: Any, n_rows: int) -> np.ndarray | None:
    if rows is None:
        return None
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if rows.ndim != 1 or (rows.size and (rows.min() < 0 or rows.max() >= n_rows)):
        raise IndexError(f"row numbers must be a 1-d array within 0..{n_rows - 1}.")
    return rows


def _numbers(values: np.ndarray, n: int) -> np.ndarray:
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"row statistics must have shape ({n},); got {values.shape}.")
    return values


def _centre(Z: Any, z_rows: np.ndarray | None) -> np.ndarray | None:
    centre = np.empty(Z.shape[1])
    return centre if _core.useful_centre(Z, z_rows, centre) else None


def row_stats(X: Any, like: RowStats | None = None) -> RowStats:
    """The centre (X's own, or that of ``like``) and the squared norms of the rows of X about it."""
    view, sqnorms = _view(X), np.empty(X.shape[0])
    centre = like.centre if like is not None else None if is_sparse(X) else _centre(X, None)
    if centre is not None and is_sparse(X):
        raise ValueError(
            "sparse rows are never centred; take their row_stats first, and the other rows' like it."
        )
    if X.dtype == np.float32:
        _core.row_sqnorms_f32(view, centre, sqnorms)
    else:
        _core.row_sqnorms_f64(view, centre, sqnorms)
    return RowStats(centre, sqnorms)


def _arguments(
    X: Any, Z: Any, kernel: CompiledKernel, x_rows: Any, z_rows: Any, stats: Any
) -> tuple[list[Any], int, int]:
    """The arguments that kernel_block and kernel_matmul share, checked, and the shape of the result."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; they must have the same features."
        )
    if X.dtype != Z.dtype:
        raise TypeError(f"X and Z must share a dtype; got {X.dtype} and {Z.dtype}.")
    x_view, z_view = _view(X), _view(Z)
    x_rows, z_rows = _subset(x_rows, X.shape[0]), _subset(z_rows, Z.shape[0])
    x_stats, z_stats = stats
    known = [s for s in (x_stats, z_stats) if s is not None]
    if known:
        centre = known[0].centre
        if any(s.centre is not centre for s in known):
            raise ValueError("x_stats and z_stats have different centres; compute one with like= the other.")
        if centre is not None and (is_sparse(X) or is_sparse(Z)):
            raise ValueError(
                "sparse rows are never centred; take their row_stats first, the others' like it."
            )
    elif kernel.native[0] in ("rbf", "squared-distance") and not is_sparse(X) and not is_sparse(Z):
        centre = _centre(Z, z_rows)
    else:
        centre = None
    sqnorms = [
        None if s is None else _numbers(s.sqnorms, rows.shape[0]) for s, rows in ((x_stats, X), (z_stats, Z))
    ]
    n = X.shape[0] if x_rows is None else len(x_rows)
    m = Z.shape[0] if z_rows is None else len(z_rows)
    return [x_view, z_view, *kernel.native, x_rows, z_rows, *sqnorms, centre], n, m


def _output(out: Any, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    if out is None:
        return np.empty(shape, dtype=dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(f"out must be a writeable C-contiguous {np.dtype(dtype)} array of shape {shape}.")
    return out


def kernel_block(
    X: Any,
    Z: Any,
    kernel: CompiledKernel,
    *,
    x_rows: Any = None,
    z_rows: Any = None,
    x_stats: RowStats | None = None,
    z_stats: RowStats | None = None,
    out: np.ndarray | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """``K[i, j] = k(X[x_rows[i]], Z[z_rows[j]])`` for dense or CSR rows of one dtype.

    ``x_stats`` and ``z_stats`` (from :func:`row_stats`, over all rows of X and Z) save work when the same
    rows come again and again. The bits of the result do not depend on ``n_threads``.
    """
    arguments, n, m = _arguments(X, Z, kernel, x_rows, z_rows, (x_stats, z_stats))
    out = _output(out, (n, m), X.dtype)
    with one_blas_thread():
        _core.kernel_block(*arguments, out, n_threads or effective_n_threads())
    return out


def kernel_matmul(
    X: Any,
    Z: Any,
    A: np.ndarray,
    kernel: CompiledKernel,
    *,
    x_rows: Any = None,
    z_rows: Any = None,
    x_stats: RowStats | None = None,
    z_stats: RowStats | None = None,
    out: np.ndarray | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """``kernel_block(X, Z, kernel) @ A`` for A of shape (m, c), without ever holding the kernel matrix."""
    arguments, n, m = _arguments(X, Z, kernel, x_rows, z_rows, (x_stats, z_stats))
    A = np.ascontiguousarray(A, dtype=X.dtype)
    if A.ndim != 2 or A.shape[0] != m:
        raise ValueError(f"A must have shape ({m}, c), one row for each row of Z; got {A.shape}.")
    out = _output(out, (n, A.shape[1]), X.dtype)
    with one_blas_thread():
        _core.kernel_matmul(*arguments, A, out, n_threads or effective_n_threads())
    return out


def exp(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``out = e^x``, the loop the kernels use."""
    if out.shape != x.shape or out.dtype != x.dtype:
        raise ValueError(f"out must match x: shape {x.shape}, {x.dtype}; got shape {out.shape}, {out.dtype}.")
    _core.exp(x, out)
    return out

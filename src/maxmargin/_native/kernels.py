"""Kernel matrices, their products, and single kernel rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import NEVER, as_matrix, as_output, as_real, as_row_numbers
from .blas import one_blas_thread
from .grouped import GroupedMatrix
from .layout import is_sparse
from .rows import RowStats, checked_centre, checked_sqnorms, step_of_both, useful_centre
from .threads import effective_n_threads

__all__ = [
    "CompiledKernel",
    "InnerProduct",
    "RowFiller",
    "exp",
    "kernel_block",
    "kernel_grouped_matmul",
    "kernel_matmul",
    "simd_name",
]

simd_name = _core.simd_name
exp = _core.exp  # not wrapped: the binding checks its arguments, and a wrapper would dominate short arrays


DISTANCES = ("exponential", "rbf", "squared-distance")  # computed from products, so a centre helps


class CompiledKernel(Protocol):
    """What the core needs to know about a kernel: its name and its parameters."""

    @property
    def native(self) -> tuple[str, float, float, float]:
        """Name, gamma, coef0, degree."""
        ...


MIN_SHARED_PRODUCTS = 1 << 18  # multiply-adds of kernel values below which waking a thread takes longer


@dataclass(frozen=True)
class InnerProduct:
    """``<x, z>``, for products of rows that are not part of a model's kernel."""

    native: tuple[str, float, float, float] = ("linear", 1.0, 0.0, 1.0)


def _arguments(
    X: Any,
    Z: Any,
    kernel: CompiledKernel,
    x_rows: Any,
    z_rows: Any,
    stats: Any,
    n_threads: int = 1,
    max_few: int = 0,
) -> tuple[list[Any], int, int]:
    """The arguments that kernel_block and kernel_matmul share, checked, and the shape of the result.

    Up to ``max_few`` rows X need no centre.
    """
    x_matrix, z_matrix = as_matrix(X), as_matrix(Z)
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; both must have the same features."
        )
    if X.dtype != Z.dtype:
        raise TypeError(f"X and Z must share a dtype; got {X.dtype} and {Z.dtype}.")
    x_rows, z_rows = as_row_numbers(x_rows, X.shape[0]), as_row_numbers(z_rows, Z.shape[0])
    x_stats, z_stats = stats
    known = [s for s in (x_stats, z_stats) if s is not None]
    if known:
        centre = known[0].centre
        if any(s.centre is not centre for s in known):
            raise ValueError("x_stats and z_stats have different centres; compute one with like= the other.")
        if centre is not None and (is_sparse(X) or is_sparse(Z)):
            raise ValueError(
                "sparse rows are never centred; compute their row_stats first, then those of the other rows "
                "with like=."
            )
    elif kernel.native[0] in DISTANCES and X.shape[0] > max_few and not is_sparse(X) and not is_sparse(Z):
        centre = useful_centre(Z, z_rows)
    else:
        centre = None
    sqnorms = [
        None if s is None else checked_sqnorms(s.sqnorms, rows.shape[0])
        for s, rows in ((x_stats, X), (z_stats, Z))
    ]
    n = X.shape[0] if x_rows is None else len(x_rows)
    m = Z.shape[0] if z_rows is None else len(z_rows)
    step = 0.0
    if kernel.native[0] != "laplacian":
        step = step_of_both(((X, x_rows, x_stats), (Z, z_rows, z_stats)), known, n_threads)
    return (
        [x_matrix, z_matrix, *kernel.native, x_rows, z_rows, *sqnorms, checked_centre(X, centre), step],
        n,
        m,
    )


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
    cancel: np.ndarray = NEVER,
) -> np.ndarray:
    """``K[i, j] = k(X[x_rows[i]], Z[z_rows[j]])`` for dense or CSR rows of one dtype.

    ``x_stats`` and ``z_stats`` (from :func:`row_stats`, over all rows of X and Z) save work if the same rows
    are used repeatedly. The result is bit-identical for any ``n_threads``.
    """
    threads = effective_n_threads(n_threads)
    arguments, n, m = _arguments(X, Z, kernel, x_rows, z_rows, (x_stats, z_stats), threads)
    out = as_output(out, (n, m), X.dtype)
    with one_blas_thread():
        _core.kernel_block(*arguments, out, threads, cancel)
    return out


class RowFiller:
    """Fills kernel rows of one X repeatedly; what does not change is checked once."""

    def __init__(self, X: Any, kernel: CompiledKernel, stats: RowStats) -> None:
        none = np.zeros(0, dtype=np.int64)
        arguments, _, _ = _arguments(X, X, kernel, none, none, (stats, stats))
        self.source = _core.RowSource(arguments[0], *kernel.native, *arguments[9:])

    def fill(
        self,
        which: NDArray[Any],
        others: NDArray[Any],
        out: tuple[NDArray[Any], NDArray[Any], int],
        n_threads: int,
        cancel: NDArray[Any],
    ) -> None:
        """``rows[slots, first : first + len(others)] = k(X[which], X[others])``; out: rows, slots, first."""
        _core.kernel_fill(self.source, which, others, *out, n_threads, cancel)


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
    cancel: np.ndarray = NEVER,
) -> np.ndarray:
    """``kernel_block(X, Z, kernel) @ A`` for A of shape (m, c), without ever storing the kernel matrix."""
    threads = effective_n_threads(n_threads)
    arguments, n, m = _arguments(
        X, Z, kernel, x_rows, z_rows, (x_stats, z_stats), threads, _core.MAX_FEW_ROWS
    )
    A = as_real("A", A, X.dtype)
    if A.ndim != 2 or A.shape[0] != m:
        raise ValueError(f"A must have shape ({m}, c), one row for each row of Z; got {A.shape}.")
    out = as_output(out, (n, A.shape[1]), X.dtype)
    threads = threads if n * m * X.shape[1] >= MIN_SHARED_PRODUCTS else 1
    with one_blas_thread():
        _core.kernel_matmul(*arguments, A, out, threads, cancel)
    return out


def kernel_grouped_matmul(
    X: Any, Z: Any, A: GroupedMatrix, kernel: CompiledKernel, *, n_threads: int | None = None
) -> np.ndarray:
    """``kernel_matmul`` for a grouped A: the cost of a group is proportional to its number of columns."""
    threads = effective_n_threads(n_threads)
    arguments, n, m = _arguments(X, Z, kernel, None, None, (None, None), threads, _core.MAX_FEW_ROWS)
    starts, widths = as_real("starts", A.starts, np.int64), [len(columns) for columns in A.columns]
    if starts[0] != 0 or starts[-1] != m or len(starts) != 1 + len(widths):
        raise ValueError(f"the groups of A must cover {m} rows, one for each row of Z; got {starts}.")
    ends = starts.tolist()
    sizes = [end - start for start, end in itertools.pairwise(ends)]
    if [block.shape for block in A.blocks] != list(zip(sizes, widths)) or min(sizes, default=0) < 0:
        raise ValueError(
            "each block of A must have one row per row of its group and one column per column of its group."
        )
    if A.flat is None:
        columns, values = np.concatenate([*A.columns, []]), np.concatenate([*map(np.ravel, A.blocks), []])
        column_starts = np.cumsum([0, *widths], dtype=np.int64)
    else:
        column_starts, columns, values = A.flat
    columns, values = as_real("columns", columns, np.int64), as_real("A", values, X.dtype)
    if columns.size and (columns.min() < 0 or columns.max() >= A.n_columns):
        raise IndexError(f"columns must be within 0..{A.n_columns - 1}.")
    out = np.empty((n, A.n_columns), dtype=X.dtype)
    threads = threads if n * m * X.shape[1] >= MIN_SHARED_PRODUCTS else 1
    with one_blas_thread():
        _core.kernel_grouped_matmul(*arguments, starts, column_starts, columns, values, out, threads)
    return out

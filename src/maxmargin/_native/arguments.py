"""Convert arguments to what the core accepts: checked, named in errors, copied only if needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .layout import is_sparse
from .structure import matrix_of

__all__ = ["NEVER", "Cancelled", "as_matrix", "as_output", "as_real", "as_row_numbers"]

Cancelled = _core.Cancelled  # raised by work whose cancel flag another thread has set; a RuntimeError
NEVER = np.zeros(1, dtype=np.uint8)  # a cancel flag that is never set


def as_matrix(X: Any) -> Any:
    """X as a core matrix: a view of a C-contiguous array or of a canonical CSR matrix.

    Only parts of a CSR matrix that are not contiguous, or whose index arrays differ in dtype, are copied. Its
    structure is checked the first time that it is met.
    """
    if not is_sparse(X) and not isinstance(X, np.ndarray):
        raise TypeError(f"rows must be a NumPy array or a SciPy CSR matrix; got {type(X).__name__}.")
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(f"rows must be float32 or float64; got {X.dtype}.")
    if not is_sparse(X):
        if X.ndim != 2 or not X.flags.c_contiguous:
            raise TypeError(f"rows must be 2-d and C-contiguous; got shape {X.shape}, strides {X.strides}.")
        return _core.Matrix(X)
    matrix = matrix_of(X) if X.format == "csr" else None
    if matrix is None or not matrix.canonical:
        raise TypeError(
            "sparse rows must be CSR with sorted indices and no duplicates; call sum_duplicates()."
        )
    return matrix


def as_real(name: str, values: Any, dtype: Any) -> np.ndarray:
    """Read-only real values as a contiguous array of this dtype."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got an array of {values.dtype}.")
    return np.ascontiguousarray(values, dtype=dtype)


def as_row_numbers(rows: Any, n_rows: int) -> np.ndarray | None:
    """Valid row numbers; None means all rows."""
    if rows is None:
        return None
    rows = np.asarray(rows)
    if rows.size and rows.dtype.kind not in "iu":
        raise IndexError(f"row numbers must be integers; got an array of {rows.dtype}.")
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if rows.ndim != 1 or (rows.size and (rows.min() < 0 or rows.max() >= n_rows)):
        raise IndexError(f"row numbers must be a 1-d array within 0..{n_rows - 1}.")
    return rows


def as_output(out: Any, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """The caller's array if it is suitable, else an error; a new array for None."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype
    if not fits or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(f"out must be a writeable C-contiguous {np.dtype(dtype)} array of shape {shape}.")
    return out

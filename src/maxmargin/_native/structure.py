"""Sparse matrices whose index arrays point outside them are refused before anything follows the indices.

SciPy's constructors accept such matrices, and its own conversions crash on some of them. Nothing here changes
the caller's matrix.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .. import _core

__all__ = ["check_structure", "matrix_of", "sparse_rows"]

FLOATS = (np.float32, np.float64)
COMPRESSED_AXIS = {"csr": 0, "bsr": 0, "csc": 1}

# The checked views of CSR matrices that are alive, by id: a weak reference, the arrays, and the view.
_views: dict[int, tuple[Any, tuple[Any, ...], Any]] = {}


def check_structure(X: Any) -> None:
    """Raise ``ValueError`` if the index arrays of a sparse matrix do not fit its shape or each other.

    Every call reads the arrays again: they may have changed since the last one.
    """
    if X.ndim != 2:
        raise ValueError(f"rows must form a 2-d matrix; got a sparse array of {X.ndim} dimension(s).")
    if X.format in COMPRESSED_AXIS:
        _check_compressed(X)
    elif X.format == "coo":
        _check_coordinates(X)


def sparse_rows(X: Any) -> Any:
    """A matrix that was checked, as canonical CSR rows of floats: X itself if it is that already."""
    rows = _pruned(X.tocsr()).astype(X.dtype if X.dtype in FLOATS else np.float64, copy=False)
    if rows is not X:
        check_structure(rows)  # the one check of formats that are not named above
    if not matrix_of(rows).canonical:
        rows = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape, copy=True)
        rows.sum_duplicates()
    return rows


def matrix_of(X: Any) -> Any:
    """The core's view of CSR rows, checked when X or one of its arrays is new."""
    return _known_view(X) or _new_view(X)


def _known_view(X: Any) -> Any:
    """The view of these rows, if they were checked with the arrays that they have now."""
    known = _views.get(id(X))
    if known is None or known[0]() is not X or any(a is not b for a, b in zip(known[1], _parts(X))):
        return None
    return known[2]


def _parts(X: Any) -> tuple[Any, ...]:
    return X.data, X.indices, X.indptr, X.shape


def _new_view(X: Any) -> Any:
    """The core's view of CSR rows of floats, which the core checks."""
    try:
        view = _core.Matrix(*_aligned(X.data, X.indices, X.indptr), X.shape[1])
    except ValueError as error:
        raise _malformed(X, str(error)) from None
    key = id(X)
    _views[key] = weakref.ref(X, lambda _: _views.pop(key, None)), _parts(X), view
    return view


def _aligned(data: Any, indices: Any, indptr: Any) -> tuple[np.ndarray, ...]:
    """Contiguous arrays, with indices of one dtype."""
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return tuple(np.ascontiguousarray(part) for part in (data, indices, indptr))


def _check_compressed(X: Any) -> None:
    """CSR, CSC, and BSR, whose indices count blocks."""
    axis = COMPRESSED_AXIS[X.format]
    heights = X.blocksize if X.format == "bsr" else (1, 1)
    n_major, n_minor = X.shape[axis] // heights[axis], X.shape[1 - axis] // heights[1 - axis]
    for name in ("indices", "indptr"):
        _check_integers(X, name, getattr(X, name))
    if len(X.indptr) != n_major + 1:
        raise _malformed(X, f"indptr has {len(X.indptr)} entries instead of {n_major + 1}")
    if X.data.ndim != (3 if X.format == "bsr" else 1):
        raise _malformed(X, f"its values have shape {X.data.shape}")
    if X.format == "csr" and X.dtype in FLOATS:
        _new_view(X)
        return
    _, indices, indptr = _aligned(X.data, X.indices, X.indptr)
    if fault := _core.compressed_fault(indices, indptr, len(X.data), n_minor):
        raise _malformed(X, fault)


def _check_coordinates(X: Any) -> None:
    for axis, numbers in enumerate(X.coords):
        name = f"coords[{axis}]"
        _check_integers(X, name, numbers)
        if len(numbers) != len(X.data):
            raise _malformed(X, f"{name} has {len(numbers)} entries for {len(X.data)} values")
        numbers = np.ascontiguousarray(numbers, dtype=np.int64)
        if (place := _core.first_outside(numbers, X.shape[axis])) is not None:
            end = X.shape[axis] - 1
            raise _malformed(X, f"{name}[{place}] is {numbers[place]}, outside 0 .. {end}")


def _check_integers(X: Any, name: str, numbers: Any) -> None:
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        found = f"{numbers.dtype} of shape {numbers.shape}" if isinstance(numbers, np.ndarray) else numbers
        raise _malformed(X, f"{name} must be a 1-d array of integers, not {found}")


def _pruned(rows: Any) -> Any:
    """CSR rows without entries behind the last row, which SciPy allows; shares memory with them."""
    n = int(rows.indptr[-1])
    if n == len(rows.data) == len(rows.indices):
        return rows
    return type(rows)((rows.data[:n], rows.indices[:n], rows.indptr), shape=rows.shape, copy=False)


def _malformed(X: Any, fault: str) -> ValueError:
    return ValueError(
        f"X is not a valid sparse matrix: {fault} ({X.format.upper()}, shape {X.shape}). Its parts do not "
        "belong together; build it again, for example from coordinates with scipy.sparse.coo_array((values, "
        "(rows, columns)), shape=shape).tocsr()."
    )

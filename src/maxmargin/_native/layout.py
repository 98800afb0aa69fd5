"""The row formats that the compiled core accepts: C-contiguous or canonical CSR, float32 or float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .structure import check_structure, sparse_rows

__all__ = ["LAYOUT", "as_rows", "is_sparse", "same_features", "sqnorms"]


LAYOUT = {  # arguments for scikit-learn's validation that produce such rows
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "accept_large_sparse": True,
}


def is_sparse(X: object) -> bool:
    """Whether X is one of SciPy's sparse matrices or arrays."""
    return type(X) is not np.ndarray and bool(sp.issparse(X))  # the first test is much the faster one


def _float_dtype(dtype: Any) -> Any:
    return dtype if dtype in (np.float32, np.float64) else np.float64


def as_rows(X: Any, *, checked: bool = False) -> Any:
    """X in the core's layout, copied only if necessary and never changed.

    A malformed sparse matrix raises ``ValueError``, unless ``check_structure`` has just ``checked`` it.
    """
    if is_sparse(X):
        if not checked:
            check_structure(X)
        return sparse_rows(X)
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"rows must form a 2-d array; got {X.ndim} dimension(s). Use X.reshape(-1, 1) or X[None]."
        )
    return np.ascontiguousarray(X, dtype=_float_dtype(X.dtype))


def same_features(X: Any, Z: Any) -> tuple[Any, Any]:
    """X and Z as rows of a common dtype, the wider of the two; Z defaults to X."""
    x = as_rows(X)
    z = x if Z is None or Z is X else as_rows(Z)
    if x.shape[1] != z.shape[1]:
        raise ValueError(
            f"X has {x.shape[1]} features and Z has {z.shape[1]}; both must have the same features."
        )
    dtype = np.result_type(x.dtype, z.dtype)
    return x.astype(dtype, copy=False), z.astype(dtype, copy=False)


def sqnorms(rows: Any) -> np.ndarray:
    """``||x_i||^2`` in double, for dense or sparse rows."""
    if is_sparse(rows):
        return np.asarray(rows.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)

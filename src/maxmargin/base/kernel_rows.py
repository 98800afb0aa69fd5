"""The rows of a kernel method: feature vectors, rows of a kernel matrix, or arbitrary objects."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._native import Cancelled, effective_n_threads, is_sparse
from ..data import (
    Rows,
    WeightedRows,
    canonical,
    check_kernel_sums,
    check_scale,
    check_symmetric,
    check_weights,
)
from ..kernels import FromFunction, Kernel, KernelData, Precomputed, n_points
from ..solving import enclosing_deadline, row_blocks
from .decoded import forget

__all__ = [
    "canonical_rows",
    "check_precomputed",
    "expansion",
    "kernel_data",
    "kernel_tags",
    "object_array",
    "resolved_kernel",
    "set_kernel",
    "takes_objects",
]

ROWS_TOGETHER = 256  # of a kernel product, so that its parts have the bits of the whole
MAX_VALUES_UNCUT = 1 << 17  # kernel values, for each of these rows, between two looks at a deadline


def takes_objects(kernel: Kernel, X: Any) -> bool:
    """Whether X is a sequence of objects for a callable kernel rather than a matrix."""
    if not isinstance(kernel, FromFunction) or is_sparse(X):
        return False
    if hasattr(X, "ndim"):
        return bool(X.ndim == 1)
    return not hasattr(X, "shape") and (len(X) == 0 or not _is_vector(X[0]))


def _is_vector(item: Any) -> bool:
    return isinstance(item, list | tuple | np.ndarray) and all(isinstance(v, Real) for v in item)


def object_array(X: Any) -> np.ndarray:
    """A sequence as a 1-d array of objects, or of strings if all items are strings."""
    if isinstance(X, np.ndarray) and X.ndim == 1:
        objects = X
    elif all(isinstance(item, str) for item in X):
        objects = np.array(list(X))
    else:
        objects = np.empty(len(X), dtype=object)
        objects[:] = list(X)
    if len(objects) == 0:
        raise ValueError("Found an X with 0 sample(s) while a minimum of 1 is required.")
    return objects


def check_precomputed(kernel: Kernel, X: Any) -> None:
    """Raise if the kernel is precomputed and X is not a dense, square, symmetric matrix."""
    if isinstance(kernel, Precomputed):
        if is_sparse(X):
            raise ValueError("a precomputed kernel matrix must be dense; call X.toarray() first.")
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix to fit; got shape {X.shape}.")
        check_symmetric(X)


def canonical_rows(
    kernel: Kernel,
    X: Any,
    labels: np.ndarray,
    weight: np.ndarray,
    rng: np.random.Generator,
    *,
    merge_duplicates: bool = True,
    n_threads: int,
) -> WeightedRows:
    """The weighted multiset of (row, label) pairs that a fit is a function of.

    Objects and rows of a kernel matrix are not merged: those with a positive weight are shuffled.
    """
    check_weights(weight)
    if has_features(kernel, X):
        return canonical(X, labels, weight, merge_duplicates=merge_duplicates, n_threads=n_threads)
    kept = rng.permutation(np.flatnonzero(weight > 0.0))  # a prefix is a random sample, as in canonical order
    return WeightedRows(Rows(X, kept, n_threads), labels[kept], weight[kept])


def has_features(kernel: Kernel, X: Any) -> bool:
    """Whether the rows of X are feature vectors, not objects or rows of a kernel matrix."""
    return X.ndim == 2 and not isinstance(kernel, Precomputed)


def resolved_kernel(kernel: Kernel, data: WeightedRows, rng: np.random.Generator) -> Kernel:
    """The kernel with a named gamma, such as "scale", replaced by its value.

    Raises if k(x, x) overflows at the longest row: a model could be fitted in double, but not predict there.
    """
    X, index = data.rows.X, data.rows.index
    if not has_features(kernel, X):
        return kernel.resolve(X, rng, data.weight, index)
    sqnorms = data.rows.sqnorms()
    check_scale(X, sqnorms, 1.0)
    found = kernel.resolve(X, rng, data.weight, index)
    if not isinstance(found, FromFunction):  # whose values are checked where they are used
        longest = index[sqnorms.argmax()]
        with np.errstate(over="ignore", invalid="ignore"):
            check_kernel_sums(X.dtype, found.diagonal(X[longest : longest + 1]))
    return found


def set_kernel(model: Any, kernel: Kernel) -> None:
    """Set ``kernel_``, and ``gamma_`` if the kernel has a gamma."""
    forget(model, "gamma_")
    model.kernel_ = kernel
    if hasattr(kernel, "gamma"):
        model.gamma_ = float(kernel.gamma)


def kernel_data(kernel: Kernel, data: WeightedRows) -> KernelData:
    """The kernel values of the rows."""
    rows = data.rows
    return KernelData(kernel, rows.X, rows.index, rows.n_threads, cancel=rows.cancel)


def expansion(kernel: Kernel, X: Any, points: Any, coef: Any, n_jobs: int | None) -> np.ndarray:
    """``K(X, points) @ coef``; within a fit, such as a search, until its deadline."""
    n_threads, deadline = effective_n_threads(n_jobs), enclosing_deadline()
    if deadline is None:
        return kernel.matmul(X, points, coef, n_jobs=n_threads)
    parts = []
    for rows in row_blocks(n_points(X), max(MAX_VALUES_UNCUT // n_points(points), 1) * ROWS_TOGETHER):
        if deadline.has_cut or deadline.flag[0]:
            raise Cancelled("cancelled")
        some = X if n_points(X) == rows.stop - rows.start else X[rows]
        parts.append(kernel.matmul(some, points, coef, n_jobs=n_threads))
    return np.concatenate(parts)


def kernel_tags(tags: Any, kernel: Any) -> Any:
    """Complete scikit-learn's tags: sparse input is accepted, a precomputed kernel is pairwise."""
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
    return tags

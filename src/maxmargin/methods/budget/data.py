"""The rows of a budgeted fit: some held out, and support vectors of earlier fits among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...data import Rows, WeightedRows
from ...kernels import join_points, n_points


@dataclass(frozen=True)
class Start:
    """A model to go on from; ``support`` are its rows in the X of that time, or None."""

    points: Any
    coef: np.ndarray
    support: np.ndarray | None
    t: np.ndarray


def held_out_last(data: WeightedRows, share: float) -> tuple[WeightedRows, int]:
    """A share of the rows moved to the end, and their number; every class keeps a row to train on."""
    n = len(data.labels)
    _, first = np.unique(data.labels, return_index=True)
    free = np.setdiff1d(np.arange(n), first)
    n_held_out = min(int(share * n), len(free))
    if n_held_out == 0:
        return data, 0
    held_out = free[len(free) - n_held_out :]
    order = np.concatenate([np.setdiff1d(np.arange(n), held_out), held_out])
    return WeightedRows(data.rows.take(order), data.labels[order], data.weight[order]), n_held_out


def with_support(
    data: WeightedRows, points: Any, support: np.ndarray | None
) -> tuple[WeightedRows, np.ndarray, bool]:
    """The data with those points among its rows, where they are, and whether they were there already.

    Points that are no rows of X are put in front, with weight 0.
    """
    X = data.rows.X
    if (there := positions_of(data, points, support)) is not None:
        return data, there, True
    n_new = n_points(points)
    if points.ndim < X.ndim:  # numbers of columns of a precomputed kernel: they are in X, but have no weight
        joined, index = X, np.concatenate([points, data.rows.index])
    else:
        joined = join_points(as_in(X, points), X)
        index = np.concatenate([np.arange(n_new), data.rows.index + n_new])
    labels = np.concatenate([np.zeros(n_new, dtype=data.labels.dtype), data.labels])
    weight = np.concatenate([np.zeros(n_new), data.weight])
    rows = Rows(joined, index, data.rows.n_threads)
    return WeightedRows(rows, labels, weight), np.arange(n_new), joined is X


def positions_of(data: WeightedRows, points: Any, support: np.ndarray | None) -> np.ndarray | None:
    """Where the points are in the data, if they are the rows ``support`` of X; None if not all are there."""
    X = data.rows.X
    if support is None or not _are_rows(X, support, points):
        return None
    position = np.full(X.shape[0], -1)
    position[data.rows.index] = np.arange(len(data.rows))
    return position[support] if (position[support] >= 0).all() else None


def check_alike(points: Any, X: Any, precomputed: bool) -> None:
    """Refuse support vectors of an earlier fit that X has no kernel values with."""
    if precomputed:
        fits = points.ndim == 1 and (len(points) == 0 or points.max() < X.shape[0])
    else:
        fits = points.shape[1:] == X.shape[1:]
    if not fits:
        raise ValueError(
            f"warm_start goes on from support vectors of another kind: they have shape {points.shape}, X has "
            f"shape {X.shape}. Set warm_start=False to begin anew."
        )


def _are_rows(X: Any, support: np.ndarray, points: Any) -> bool:
    """Whether the points are those rows of X."""
    if points.ndim < X.ndim:  # numbers of columns of a precomputed kernel
        return True
    if len(support) and (support.max() >= X.shape[0] or support.min() < 0):
        return False
    rows = X[support]
    if X.ndim == 1:  # objects: arrays, say, of which == is no truth value
        return all(a is b or np.array_equal(a, b) for a, b in zip(rows, points))
    if is_sparse(rows) != is_sparse(points) or rows.shape != points.shape:
        return False
    different = rows != points
    return not (different.nnz if is_sparse(rows) else np.any(different))


def as_in(X: Any, points: Any) -> Any:
    """Points in the dtype and form of X."""
    if X.ndim == 1:
        return points
    if is_sparse(X) and not is_sparse(points):
        points = type(X)(points)
    elif is_sparse(points) and not is_sparse(X):
        points = points.toarray()
    return points.astype(X.dtype, copy=False)

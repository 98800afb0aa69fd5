"""The rows of a budgeted fit: some held out, and support vectors of earlier fits among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...data import Rows, WeightedRows
from ...kernels import join_points, n_points


@dataclass(frozen=True)
class SplitRows:
    """Rows to train on, followed by ``n_held_out`` rows that are not trained on."""

    data: WeightedRows
    n_held_out: int = 0

    @property
    def n_trained(self) -> int:
        """Rows to train on."""
        return len(self.data.labels) - self.n_held_out

    @property
    def held_out(self) -> np.ndarray:
        """Positions of the held-out rows."""
        return np.arange(self.n_trained, len(self.data.labels))


@dataclass(frozen=True)
class WarmStart:
    """An earlier model to start from; ``support`` are its rows in the X of that time, or None."""

    points: Any
    coef: np.ndarray
    support: np.ndarray | None
    t: np.ndarray


@dataclass(frozen=True)
class RowsWithSupport:
    """Rows that contain given support vectors, at ``positions``; ``in_x`` if all rows are rows of X."""

    data: WeightedRows
    positions: np.ndarray
    in_x: bool


def hold_out(data: WeightedRows, share: float) -> SplitRows:
    """Move a share of the rows to the end; every class keeps at least one training row."""
    n = len(data.labels)
    _, first = np.unique(data.labels, return_index=True)
    free = np.setdiff1d(np.arange(n), first)
    n_held_out = min(int(share * n), len(free))
    if n_held_out == 0:
        return SplitRows(data)
    held_out = free[len(free) - n_held_out :]
    order = np.concatenate([np.setdiff1d(np.arange(n), held_out), held_out])
    return SplitRows(WeightedRows(data.rows.take(order), data.labels[order], data.weight[order]), n_held_out)


def with_support(data: WeightedRows, points: Any, support: np.ndarray | None) -> RowsWithSupport:
    """The data with these points among its rows; missing points are added in front with weight 0."""
    X = data.rows.X
    if (there := positions_of(data, points, support)) is not None:
        return RowsWithSupport(data, there, in_x=True)
    n_new = n_points(points)
    if points.ndim < X.ndim:  # columns of a precomputed kernel: they are rows of X, but have no weight
        joined, index = X, np.concatenate([points, data.rows.index])
    else:
        joined = join_points(as_in(X, points), X)
        index = np.concatenate([np.arange(n_new), data.rows.index + n_new])
    labels = np.concatenate([np.zeros(n_new, dtype=data.labels.dtype), data.labels])
    weight = np.concatenate([np.zeros(n_new), data.weight])
    rows = Rows(joined, index, data.rows.n_threads)
    return RowsWithSupport(WeightedRows(rows, labels, weight), np.arange(n_new), in_x=joined is X)


def positions_of(data: WeightedRows, points: Any, support: np.ndarray | None) -> np.ndarray | None:
    """Positions of the points in the data, if they are rows ``support`` of X; None if some are missing."""
    X = data.rows.X
    if support is None or not _are_rows(X, support, points):
        return None
    position = np.full(X.shape[0], -1)
    position[data.rows.index] = np.arange(len(data.rows))
    return position[support] if (position[support] >= 0).all() else None


def check_same_kind(points: Any, X: Any, precomputed: bool) -> None:
    """Raise if kernel values between X and earlier support vectors cannot be computed."""
    if precomputed:
        fits = points.ndim == 1 and (len(points) == 0 or points.max() < X.shape[0])
    else:
        fits = points.shape[1:] == X.shape[1:]
    if not fits:
        raise ValueError(
            f"warm_start cannot use support vectors of another kind: they have shape {points.shape}, X has "
            f"shape {X.shape}. Set warm_start=False to start from scratch."
        )


def _are_rows(X: Any, support: np.ndarray, points: Any) -> bool:
    """Whether the points equal those rows of X."""
    if points.ndim < X.ndim:  # columns of a precomputed kernel
        return True
    if len(support) and (support.max() >= X.shape[0] or support.min() < 0):
        return False
    rows = X[support]
    if X.ndim == 1:  # objects: possibly arrays, for which == has no truth value
        return all(a is b or np.array_equal(a, b) for a, b in zip(rows, points))
    if is_sparse(rows) != is_sparse(points) or rows.shape != points.shape:
        return False
    different = rows != points
    return not (different.nnz if is_sparse(rows) else np.any(different))


def as_in(X: Any, points: Any) -> Any:
    """Points in the dtype and storage of X."""
    if X.ndim == 1:
        return points
    if is_sparse(X) and not is_sparse(points):
        points = type(X)(points)
    elif is_sparse(points) and not is_sparse(X):
        points = points.toarray()
    return points.astype(X.dtype, copy=False)

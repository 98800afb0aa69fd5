"""Data-driven values of gamma: the median heuristic and scikit-learn's scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .._native import as_rows, is_sparse
from ..data import check_sample_weight
from .algebra import Kernel

__all__ = ["depends_on_data", "median_gamma", "scale_gamma"]

MAX_SAMPLED_ROWS = 1000  # half a million pairs give the median to a fraction of a per cent
FEATURES_PER_BLOCK = 8192  # dense rows are converted to double this many features at a time


class _SquaredDistance:
    native = ("squared-distance", 0.0, 0.0, 0.0)


def _weights(X: Any, sample_weight: Any, index: np.ndarray | None) -> np.ndarray:
    n = X.shape[0] if index is None else len(index)
    return np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The median of ``np.repeat(values, weights)``, also for fractional weights."""
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weights[order])
    half = 0.5 * mass[-1]
    lower = np.searchsorted(mass, half)
    upper = lower + 1 if mass[lower] == half and lower + 1 < len(values) else lower
    return 0.5 * float(values[lower] + values[upper])


def median_gamma(
    X: Any,
    rng: np.random.Generator | int | None = 0,
    sample_weight: Any = None,
    index: np.ndarray | None = None,
) -> float:
    """The median of ``1 / ||x_i - x_j||^2`` over pairs of distinct rows.

    A pair counts ``w_i w_j`` times. From more than a thousand rows, a thousand are drawn with probability
    proportional to their weight: row i owns an interval of length w_i on a line, in the order given, and the
    draws are points on that line. So the result depends only on the caller's order and weights.

    Extra memory: 8 MB for the distances between the drawn rows, and these rows in double. Sparse rows stay
    sparse; dense rows are converted 8,192 features at a time, which takes 64 MB.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    rng : Generator, int or None, default=0
        Source of the draws; unused for up to a thousand rows.
    sample_weight : array-like of shape (n_samples,), optional
        A weight of 2 is a row given twice.
    index : int array, optional
        The rows of X to use, in this order; ``sample_weight`` refers to them.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import median_gamma
    >>> round(median_gamma(np.arange(20.0)[:, None]), 4)
    0.0278
    """
    X, rng = as_rows(X), np.random.default_rng(rng)
    w = check_sample_weight(sample_weight, X.shape[0] if index is None else len(index))
    rows = np.flatnonzero(w > 0)
    if len(rows) > MAX_SAMPLED_ROWS:
        ends = np.cumsum(w[rows])
        points = np.sort(rng.random(MAX_SAMPLED_ROWS)) * ends[-1]
        rows = rows[np.minimum(np.searchsorted(ends, points, side="right"), len(rows) - 1)]
        w = np.ones_like(w)
    upper = ~np.tri(len(rows), dtype=bool)
    distances = _squared_distances(X, rows if index is None else index[rows])[upper]
    apart = (distances >= np.finfo(np.float64).tiny) & np.isfinite(distances)
    if not apart.any():
        raise ValueError(
            f"gamma='median' needs at least two different rows at a finite distance; all {len(rows)} sampled "
            "rows are equal, too close or too far apart. Set gamma to a number, or scale the features."
        )
    if (w[rows] == 1.0).all():
        lower, higher = _middle(distances if apart.all() else distances[apart])
        return 0.5 * (1.0 / higher + 1.0 / lower)
    return weighted_median(1.0 / distances[apart], np.outer(w[rows], w[rows])[upper][apart])


def _middle(values: np.ndarray) -> tuple[float, float]:
    """The two values in the middle, which are the same one if the number of values is odd."""
    ranks = (len(values) - 1) // 2, len(values) // 2
    values = np.partition(values, ranks)
    return float(values[ranks[0]]), float(values[ranks[1]])


def _squared_distances(X: Any, rows: np.ndarray) -> np.ndarray:
    """Squared distances between all pairs of these rows, summed over blocks of features."""
    width = X.shape[1] if is_sparse(X) else min(FEATURES_PER_BLOCK, X.shape[1])
    total = np.zeros((len(rows), len(rows)))
    for start in range(0, X.shape[1], max(width, 1)):
        part = (X[rows] if is_sparse(X) else X[rows, start : start + width]).astype(np.float64)
        total += _native.kernel_block(part, part, _SquaredDistance())
    return total


def scale_gamma(X: Any, sample_weight: Any = None, index: np.ndarray | None = None) -> float:
    """``1 / (n_features * variance of all entries of X)``, weighted by row; 1 if the variance is 0.

    ``index`` lists the rows of X to use; ``sample_weight`` refers to them.
    """
    w = _weights(X, sample_weight, index)
    total = w.sum()
    if not 0.0 < total < np.inf:
        raise ValueError(
            f"gamma='scale' needs weights with a finite sum > 0; sample_weight sums to {total:g}. "
            "Give at least one row a weight > 0, or set gamma to a number."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        spread = X.shape[1] * _variance(X, w / total, np.arange(len(w)) if index is None else index)
    if spread == 0.0:
        return 1.0
    if not np.finfo(np.float64).tiny <= spread < np.inf:
        raise ValueError(
            f"gamma='scale' needs a variance that double precision can hold; that of X, times n_features, is "
            f"{spread:g}. Scale the features, or set gamma to a number."
        )
    return 1.0 / spread


def _variance(X: Any, w: np.ndarray, index: np.ndarray) -> float:
    blocks = [(index[start : start + 1024], w[start : start + 1024]) for start in range(0, len(w), 1024)]
    mean = sum(float(_row_sums(X[rows]) @ weight) for rows, weight in blocks) / X.shape[1]
    variance = sum(float(_square_deviations(X[rows], mean) @ weight) for rows, weight in blocks)
    return variance / X.shape[1]


def _row_sums(rows: Any) -> np.ndarray:
    return np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()


def _square_deviations(rows: Any, mean: float) -> np.ndarray:
    """``sum_k (x_k - mean)^2`` of each row; entries that are not stored are zeros."""
    if not is_sparse(rows):
        return np.square(rows.astype(np.float64) - mean).sum(axis=1)
    stored = rows.astype(np.float64)
    n_stored = np.diff(stored.indptr)
    stored.data = np.square(stored.data - mean)
    return np.asarray(stored.sum(axis=1)).ravel() + (rows.shape[1] - n_stored) * np.square(mean)


DATA_DEPENDENT_GAMMAS = ("median", "scale")


def depends_on_data(kernel: Kernel) -> bool:
    """Whether some gamma is a name, such as "scale", whose value depends on the rows."""
    parts = [getattr(kernel, name) for name in ("left", "right", "kernel") if hasattr(kernel, name)]
    return getattr(kernel, "gamma", None) in DATA_DEPENDENT_GAMMAS or any(map(depends_on_data, parts))

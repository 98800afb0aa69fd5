"""Scores that probabilities are fitted to, with labels and weights: checks, and ratios that stay finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@np.errstate(over="ignore")
def bounded_ratio(x: FloatArray, scale: float) -> FloatArray:
    """``x / scale``, bounded: a slope times it is never infinite, nor 0 times infinity."""
    return np.clip(x / scale, -1e150, 1e150)


def finite_scores(scores: ArrayLike, ndim: int) -> FloatArray:
    """Scores as an array of that many dimensions."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != ndim:
        shape = "(n,)" if ndim == 1 else "(n, n_classes)"
        raise ValueError(f"scores have shape {shape} here; got {values.shape}.")
    if not (np.abs(values) <= 1e300).all():
        raise ValueError("scores contain NaN, infinity or values beyond 1e300; scale the features.")
    return values


def checked_rows(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, ndim: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Scores, labels and weights as arrays of one length, rows of weight 0 left out."""
    values, labels = finite_scores(scores, ndim), np.asarray(y)
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if not values.shape[:1] == labels.shape == weight.shape:
        raise ValueError(
            "scores, y and sample_weight need one entry per row; "
            f"got shapes {values.shape}, {labels.shape} and {weight.shape}."
        )
    n_classes = 2 if ndim == 1 else values.shape[1]
    if not np.isin(labels, np.arange(n_classes)).all():
        raise ValueError(f"y must hold labels 0 .. {n_classes - 1}; got {np.unique(labels).tolist()[:5]}.")
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.sum() > 0:
        raise ValueError("sample_weight must be finite and >= 0, and not all of it 0.")
    kept = weight > 0
    return values[kept], labels[kept].astype(np.intp), weight[kept]

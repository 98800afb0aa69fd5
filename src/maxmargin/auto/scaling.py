"""Columns on one scale: centred, heavy-tailed ones bent by a logarithm first; sparse ones only scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._native import is_sparse

__all__ = ["VIEWS", "ColumnScaling", "scalings"]

VIEWS = ("standardised", "bent")
MIN_KURTOSIS = 6.0  # of a column that is bent; 3 is the normal distribution's, 9 the exponential's
MIN_SPARSE_TAIL = 4.0  # the largest value of a sparse column that is bent, over the mean of its values
ROWS_PER_BLOCK = 4096


@dataclass(frozen=True)
class ColumnScaling:
    """``(u - center) / scale``, where u is x or, in ``bent`` columns, ``asinh((x - origin) / unit)``.

    ``asinh`` is linear near 0 and a logarithm further out. For sparse rows ``origin`` and ``center`` are 0.
    """

    bent: np.ndarray
    origin: np.ndarray
    unit: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    def transform(self, X: Any) -> Any:
        """The scaled columns, float32 for float32 rows and float64 for others."""
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        if is_sparse(X):
            X = sparse.csr_array(X)
            column = X.indices
            u = X.data.astype(np.float64)
            u = np.where(self.bent[column], np.arcsinh(u / self.unit[column]), u) / self.scale[column]
            return sparse.csr_array((u.astype(dtype), X.indices, X.indptr), shape=X.shape)
        out = np.empty(X.shape, dtype=dtype)
        for first in range(0, len(X), ROWS_PER_BLOCK):
            some = slice(first, first + ROWS_PER_BLOCK)
            out[some] = (self._bend(X[some].astype(np.float64)) - self.center) / self.scale
        return out

    def _bend(self, X: np.ndarray) -> np.ndarray:
        which = np.flatnonzero(self.bent)
        if len(which):
            X[:, which] = np.arcsinh((X[:, which] - self.origin[which]) / self.unit[which])
        return X


def scalings(X: Any, weight: np.ndarray) -> dict[str, ColumnScaling]:
    """The ways to scale the rows: "standardised", and "bent" if a column has a heavy tail.

    The results depend on the order of the rows in the last bits; give them in canonical order.
    """
    share = weight / weight.sum()
    return _sparse_scalings(X, share) if is_sparse(X) else _dense_scalings(X, share)


def _dense_scalings(X: np.ndarray, share: np.ndarray) -> dict[str, ColumnScaling]:
    columns = [_column(X[:, j].astype(np.float64), share) for j in range(X.shape[1])]
    bent, origin, unit, center, scale, bent_center, bent_scale = (np.array(part) for part in zip(*columns))
    found = {
        "standardised": ColumnScaling(np.zeros_like(bent), 0.0 * origin, 0.0 * unit + 1.0, center, scale)
    }
    if bent.any():
        found["bent"] = ColumnScaling(bent, origin, unit, bent_center, bent_scale)
    return found


def _column(x: np.ndarray, share: np.ndarray) -> tuple[bool, float, float, float, float, float, float]:
    """Whether a column is bent, the origin and unit for that, center and scale without and with it."""
    center, scale, kurtosis = _moments(x, share)
    plain = (False, 0.0, 1.0, center, scale, center, scale)
    if kurtosis <= MIN_KURTOSIS or ((x == x.min()) | (x == x.max())).all():
        return plain
    origin = _median(x, share)
    distance = np.abs(x - origin)
    unit = _median(distance, share) or float(share @ distance)
    after = _moments(np.arcsinh((x - origin) / unit), share)
    return (True, origin, unit, center, scale, after[0], after[1])


def _sparse_scalings(X: Any, share: np.ndarray) -> dict[str, ColumnScaling]:
    """Divided by the largest absolute value; bent around 0, which stays 0."""
    d, size, of_row = X.shape[1], np.abs(X.data.astype(np.float64)), np.repeat(share, np.diff(X.indptr))
    largest, none = np.zeros(d), np.zeros(d)
    np.maximum.at(largest, X.indices, size)
    largest[largest == 0.0] = 1.0
    mass = np.bincount(X.indices, weights=of_row, minlength=d)
    mean = np.bincount(X.indices, weights=of_row * size / largest[X.indices], minlength=d) * largest
    unit = np.where(mass > 0.0, mean / np.where(mass > 0.0, mass, 1.0), 1.0)
    bent = largest > MIN_SPARSE_TAIL * unit
    found = {"standardised": ColumnScaling(np.zeros(d, dtype=bool), none, none + 1.0, none, largest)}
    if bent.any():
        scale = np.where(bent, np.arcsinh(largest / unit), largest)
        found["bent"] = ColumnScaling(bent, none, np.where(bent, unit, 1.0), none, scale)
    return found


def _moments(x: np.ndarray, share: np.ndarray) -> tuple[float, float, float]:
    """Mean, scale and kurtosis; the scale of mostly equal values is that of the others.

    It is the standard deviation over the root of the share of values that are not the minimum (or not the
    maximum, if that is more frequent), as in ``TablePreparation``.
    """
    size = float(np.abs(x).max(initial=0.0))
    if size == 0.0:
        return 0.0, 1.0, 0.0
    u = x / size
    mean = float(share @ u)
    variance = float(share @ (u - mean) ** 2)
    apart = min(float(share @ (x != x.min())), float(share @ (x != x.max())))
    if variance <= np.finfo(float).eps ** 2 or apart <= 0.0:
        return size * mean, 1.0, 0.0
    kurtosis = float(share @ (u - mean) ** 4) / variance**2
    return size * mean, size * float(np.sqrt(variance / apart)), kurtosis


def _median(x: np.ndarray, share: np.ndarray) -> float:
    order = np.argsort(x, kind="stable")
    return float(x[order][np.searchsorted(np.cumsum(share[order]), 0.5 - 1e-12)])

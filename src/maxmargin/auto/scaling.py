"""Columns on one scale: centred, heavy-tailed ones bent by a logarithm first; sparse ones only scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .._native import is_sparse, one_blas_thread
from ..solving import row_blocks

__all__ = ["VIEWS", "ColumnScaling", "scalings"]

VIEWS = ("standardised", "bent")
MIN_KURTOSIS = 6.0  # of a column that is bent; 3 is the normal distribution's, 9 the exponential's
MIN_SPARSE_TAIL = 4.0  # the largest value of a sparse column that is bent, over the mean of its values
ROWS_PER_BLOCK = 4096
MAX_ENTRIES = 1 << 18  # of the columns whose moments are computed together


@dataclass(frozen=True)
class ColumnScaling:
    """``(u - center) / scale``, where u is x or, in ``bent`` columns, ``asinh((x - origin) / unit)``.

    A full metric multiplies that by ``rotation`` from the right. ``asinh`` is linear near 0 and a logarithm
    further out. For sparse rows ``origin`` and ``center`` are 0.
    """

    bent: np.ndarray
    origin: np.ndarray
    unit: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    rotation: np.ndarray | None = None

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
            u = (self._bend(X[some].astype(np.float64)) - self.center) / self.scale
            out[some] = u if self.rotation is None else self._rotated(u)
        return out

    def restored(self, u: np.ndarray) -> np.ndarray:
        """Dense rows as they were before :meth:`transform`, but for rounding."""
        u = np.asarray(u, dtype=np.float64)
        if self.rotation is not None:
            with one_blas_thread():
                u = u @ np.linalg.inv(self.rotation)
        X = u * self.scale + self.center
        which = np.flatnonzero(self.bent)
        X[:, which] = self.origin[which] + self.unit[which] * np.sinh(X[:, which])
        return X

    def _rotated(self, u: np.ndarray) -> np.ndarray:
        with one_blas_thread():
            return u @ self.rotation

    def with_metric(self, metric: np.ndarray) -> ColumnScaling:
        """The same followed by a metric: a factor for each column, or a matrix."""
        if metric.ndim == 1:
            return replace(self, scale=self.scale / metric)
        return replace(self, rotation=metric)

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
    n, d = X.shape
    with np.errstate(over="ignore"):
        wide = ~np.isfinite(X.max(axis=0) - X.min(axis=0))
    if wide.any():
        raise ValueError(
            f"the features are too large: column {int(np.argmax(wide))} of X has values whose difference "
            "overflows. Scale it, for example with sklearn.preprocessing.MaxAbsScaler."
        )
    parts = [
        _columns(X[:, some].astype(np.float64), share) for some in row_blocks(d, max(1, MAX_ENTRIES // n))
    ]
    bent, origin, unit, center, scale, bent_center, bent_scale = map(np.concatenate, zip(*parts))
    found = {
        "standardised": ColumnScaling(np.zeros_like(bent), 0.0 * origin, 0.0 * unit + 1.0, center, scale)
    }
    if bent.any():
        found["bent"] = ColumnScaling(bent, origin, unit, bent_center, bent_scale)
    return found


def _columns(x: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, ...]:
    """Which columns are bent, the origin and unit for that, center and scale without and with it."""
    center, scale, kurtosis = _moments(x, share)
    two_valued = ((x == x.min(axis=0)) | (x == x.max(axis=0))).all(axis=0)
    bent = (kurtosis > MIN_KURTOSIS) & ~two_valued
    origin, unit, after, after_scale = np.zeros(len(bent)), np.ones(len(bent)), center.copy(), scale.copy()
    if bent.any():
        x = x[:, bent]
        origin[bent] = _medians(x, share)
        distance = np.abs(x - origin[bent])
        middle = _medians(distance, share)
        unit[bent] = np.where(middle > 0.0, middle, _weighted(distance, share))
        after[bent], after_scale[bent], _ = _moments(np.arcsinh((x - origin[bent]) / unit[bent]), share)
    return bent, origin, unit, center, scale, after, after_scale


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


def _moments(x: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, scale and kurtosis of each column; the scale of mostly equal values is that of the others.

    It is the standard deviation over the root of the share of values that are not the minimum (or not the
    maximum, if that is more frequent), as in ``TablePreparation``.
    """
    size = np.abs(x).max(axis=0)
    u = x / np.where(size > 0.0, size, 1.0)
    mean = _weighted(u, share)
    u -= mean
    u *= u
    variance = _weighted(u, share)
    apart = np.minimum(_weighted(x != x.min(axis=0), share), _weighted(x != x.max(axis=0), share))
    varies = (variance > np.finfo(float).eps ** 2) & (apart > 0.0)
    u *= u
    kurtosis = np.divide(_weighted(u, share), variance**2, out=np.zeros_like(mean), where=varies)
    deviation = np.sqrt(np.divide(variance, apart, out=np.ones_like(mean), where=varies))
    return size * mean, np.where(varies, size, 1.0) * deviation, kurtosis


def _weighted(x: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The weighted mean of each column."""
    return np.asarray((share[:, None] * x).sum(axis=0))


def _medians(x: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The weighted median of each column."""
    order = np.argsort(x, axis=0, kind="stable")
    middle = (np.cumsum(share[order], axis=0) < 0.5 - 1e-12).sum(axis=0)
    return np.asarray(np.take_along_axis(x, np.take_along_axis(order, middle[None], axis=0), axis=0)[0])

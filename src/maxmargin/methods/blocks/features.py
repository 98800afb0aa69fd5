"""BlockFeatures in which the norm of a model is the Euclidean norm of its coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from ... import _native
from ...kernels import Kernel, KernelData
from ...numerics import times_triangle
from ...solving import row_blocks

__all__ = ["BlockFeatures", "KernelFeatures", "LinearFeatures"]

ROWS_AT_ONCE = 8192  # whose features are in memory together


class BlockFeatures(Protocol):
    """``phi(x)``; f(x) = phi(x)'v."""

    @property
    def n_features(self) -> int:
        """The length of phi(x)."""
        ...

    def parts(self, X: Any, double: bool) -> Iterator[tuple[slice, np.ndarray]]:
        """The features of some rows at a time, in the precision of X or in double."""
        ...


@dataclass(frozen=True)
class KernelFeatures:
    """``phi(x) = L^{-1} k(Z, x)`` with ``K(Z, Z) = L L'``, for centres Z.

    With ``v = L' a``, f(x) = phi(x)'v = sum_j a_j k(x, z_j), and the squared norm of f is v'v.
    """

    kernel: Kernel
    centres: Any
    factor: np.ndarray  # L, lower triangular, in double
    cancel: np.ndarray = field(default_factory=lambda: _native.NEVER, repr=False)

    @classmethod
    def of(cls, kernel: Kernel, centres: Any) -> KernelFeatures:
        """The features of these centres; K(Z, Z) gets as little on its diagonal as rounding requires."""
        Z = centres.astype(np.float64)
        K, ridge = np.asarray(kernel(Z, Z, n_jobs=1)), 0.0
        while True:
            try:
                return cls(kernel, centres, np.linalg.cholesky(K + ridge * np.eye(len(K))))
            except np.linalg.LinAlgError:
                ridge = max(10.0 * ridge, 1e-14 * float(np.trace(K)))

    @property
    def n_features(self) -> int:
        """The number of centres."""
        return len(self.factor)

    def parts(self, X: Any, double: bool) -> Iterator[tuple[slice, np.ndarray]]:
        """The features of some rows at a time, in the precision of X or in double."""
        centres = self.centres.astype(np.float64) if double else self.centres
        right = np.linalg.inv(self.factor).T.astype(centres.dtype)
        memory = np.empty((min(ROWS_AT_ONCE, X.shape[0]), self.n_features), dtype=centres.dtype)
        for rows in row_blocks(X.shape[0], ROWS_AT_ONCE):
            some = X[rows].astype(centres.dtype, copy=False)
            phi = memory[: some.shape[0]]
            times_triangle(self._values(some, centres), right, phi)
            yield rows, phi

    def _values(self, X: Any, centres: Any) -> np.ndarray:
        rows = KernelData(self.kernel, X, np.arange(X.shape[0]), cancel=self.cancel)
        return rows.block(slice(None), centres)

    def __getstate__(self) -> dict[str, Any]:
        """Without the factor, which is larger than the centres and soon computed again."""
        return {"kernel": self.kernel, "centres": self.centres}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(vars(KernelFeatures.of(state["kernel"], state["centres"])))

    def coefficients(self, V: np.ndarray) -> np.ndarray:
        """``a = L^{-T} v``."""
        return np.asarray(solve_triangular(self.factor.T, V, lower=False, check_finite=False))

    def own(self, coef: np.ndarray) -> np.ndarray:
        """``v = L' a``."""
        return np.asarray(self.factor.T @ coef)


@dataclass(frozen=True)
class LinearFeatures:
    """``phi(x) = x``, followed by a 1 if there is an intercept."""

    n_columns: int
    intercept: bool

    @property
    def n_features(self) -> int:
        """The number of columns, and one more for an intercept."""
        return self.n_columns + self.intercept

    def parts(self, X: Any, double: bool) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows, some at a time."""
        dtype = np.float64 if double else X.dtype
        memory = np.ones((min(ROWS_AT_ONCE, X.shape[0]), self.n_features), dtype=dtype)
        for rows in row_blocks(X.shape[0], ROWS_AT_ONCE):
            some = X[rows]
            phi = memory[: some.shape[0]]
            phi[:, : self.n_columns] = some.toarray() if _native.is_sparse(some) else some
            yield rows, phi

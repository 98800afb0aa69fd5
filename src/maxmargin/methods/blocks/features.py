"""BlockFeatures in which the norm of a model is the Euclidean norm of its coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ... import _native
from ...kernels import Kernel, KernelData
from ...numerics import times_triangle
from ...solving import row_blocks
from .rows import RowBlock

__all__ = ["BlockFeatures", "KernelFeatures", "LinearFeatures", "check_cancelled"]

ROWS_AT_ONCE = 8192  # whose features are in memory together
MIN_ROWS_AT_ONCE = 256
MAX_PART_BYTES = 32 << 20  # of wide rows that are dense


def check_cancelled(block: RowBlock) -> None:
    """Raise if the work on the rows must end."""
    if block.cancel[0]:
        raise _native.Cancelled("cancelled")


class BlockFeatures(Protocol):
    """``phi(x)``; f(x) = phi(x)'v."""

    @property
    def n_features(self) -> int:
        """The length of phi(x)."""
        ...

    def parts(self, block: RowBlock, double: bool, dense: bool = True) -> Iterator[tuple[slice, Any]]:
        """The features of some rows at a time, in their precision or in double; CSR unless ``dense``."""
        ...


@dataclass(frozen=True)
class KernelFeatures:
    """``phi(x) = L^{-1} k(Z, x)`` with ``K(Z, Z) = L L'``, for centres Z.

    With ``v = L' a``, f(x) = phi(x)'v = sum_j a_j k(x, z_j), and the squared norm of f is v'v.
    """

    kernel: Kernel
    centres: Any
    factor: np.ndarray  # L, lower triangular, in double

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

    @cached_property
    def inverse(self) -> np.ndarray:
        """``L^{-T}``."""
        return np.linalg.inv(self.factor).T

    def parts(self, block: RowBlock, double: bool, dense: bool = True) -> Iterator[tuple[slice, np.ndarray]]:
        """The features of some rows at a time, in their precision or in double; always dense."""
        centres = self.centres.astype(np.float64) if double else self.centres
        right = self.inverse.astype(centres.dtype)
        memory = np.empty((min(ROWS_AT_ONCE, len(block)), self.n_features), dtype=centres.dtype)
        for rows in row_blocks(len(block), ROWS_AT_ONCE):
            some = block.X[rows].astype(centres.dtype, copy=False)
            phi = memory[: some.shape[0]]
            values = KernelData(self.kernel, some, np.arange(some.shape[0]), cancel=block.cancel)
            times_triangle(values.block(slice(None), centres), right, phi)
            check_cancelled(block)
            yield rows, phi

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
    """``phi(x) = x - centre``, followed by a 1 if there is an intercept; sparse rows have no centre."""

    n_columns: int
    intercept: bool
    centre: np.ndarray | None = None  # in the precision of the rows, so that all passes see one problem

    @property
    def n_features(self) -> int:
        """The number of columns, and one more for an intercept."""
        return self.n_columns + self.intercept

    def parts(self, block: RowBlock, double: bool, dense: bool = True) -> Iterator[tuple[slice, Any]]:
        """The rows, some at a time."""
        dtype = np.dtype(np.float64 if double else block.X.dtype)
        if _native.is_sparse(block.X) and not dense:
            yield from self._sparse_parts(block, dtype)
            return
        at_once = max(MIN_ROWS_AT_ONCE, min(ROWS_AT_ONCE, MAX_PART_BYTES // (8 * self.n_features)))
        memory = np.ones((min(at_once, len(block)), self.n_features), dtype=dtype)
        for rows in row_blocks(len(block), at_once):
            check_cancelled(block)
            some = block.X[rows]
            phi = memory[: some.shape[0]]
            phi[:, : self.n_columns] = some.toarray() if _native.is_sparse(some) else some
            if self.centre is not None:
                phi[:, : self.n_columns] -= self.centre
            yield rows, phi

    def _sparse_parts(self, block: RowBlock, dtype: Any) -> Iterator[tuple[slice, Any]]:
        for rows in row_blocks(len(block), ROWS_AT_ONCE):
            check_cancelled(block)
            some = block.X[rows].astype(dtype, copy=False)
            ones = sparse.csr_array(np.ones((some.shape[0], 1), dtype=dtype))
            yield rows, sparse.hstack([some, ones], format="csr") if self.intercept else some

"""The gradient of a kernel expansion in closed form, and its average outer product.

    f_t(x) = sum_j a_jt k(x, z_j),      M = (1 / sum_i w_i) sum_i w_i sum_t grad f_t(x_i) grad f_t(x_i)'.

Every compiled kernel, and every sum, product and multiple of them, has a derivative of the form

    d k(x, z) / dx = p(x, z) z - q(x, z) (x - z) - s(x, z) sign(x - z),

so the gradients of a block of rows are matrix products with the points z, one for each column t (for the L1
distance one for each feature).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from .. import _native
from .._native import as_rows, is_sparse
from .algebra import Kernel, Product, Scaled, Sum
from .compiled import RBF, Exponential, Laplacian, Linear, Polynomial, Sigmoid

__all__ = ["average_outer_product", "check_gradient", "gradient_blocks"]

COLUMNS_PER_SIGN = 4  # of A, for which the signs of differences are computed once
MAX_NUMBERS_PER_BLOCK = 1 << 21  # of kernel values, or of the gradients of one column, at a time


@dataclass(frozen=True)
class Slopes:
    """The factors p, q and s of the derivative, each (n, m); None stands for 0."""

    product: np.ndarray | None = None
    difference: np.ndarray | None = None
    sign: np.ndarray | None = None

    def times(self, factor: np.ndarray | float) -> Slopes:
        """All three times a number or a matrix."""
        return Slopes(*(None if part is None else part * factor for part in self.parts))

    def plus(self, other: Slopes) -> Slopes:
        """The sums, part by part."""
        return Slopes(*map(_added, self.parts, other.parts))

    @property
    def parts(self) -> tuple[np.ndarray | None, ...]:
        """p, q and s."""
        return self.product, self.difference, self.sign


def _added(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right


@singledispatch
def slopes(kernel: Kernel, X: Any, Z: Any) -> Slopes:
    """The derivative of a kernel in its first argument, between rows in double."""
    raise NotImplementedError(kernel.name)


def check_gradient(kernel: Kernel) -> None:
    """Raise unless the kernel has a derivative here."""
    for part in ("left", "right", "kernel"):
        if hasattr(kernel, part):
            check_gradient(getattr(kernel, part))
    if slopes.dispatch(type(kernel)) is slopes.dispatch(object):
        raise ValueError(
            f"the kernel {kernel.name!r} has no gradient in the columns of X. Fit with a linear, polynomial, "
            "rbf, sigmoid, laplacian or exponential kernel, or a sum, product or multiple of these; or use "
            "sklearn.inspection.permutation_importance, which needs predictions only."
        )


@slopes.register
def _(kernel: Linear, X: Any, Z: Any) -> Slopes:
    return Slopes(product=np.ones((X.shape[0], Z.shape[0])))


@slopes.register
def _(kernel: Polynomial, X: Any, Z: Any) -> Slopes:
    _, gamma, coef0, degree = kernel.native
    base = gamma * Linear()(X, Z) + coef0
    with np.errstate(divide="ignore", invalid="ignore"):  # below degree 1 the slope is infinite at 0
        power = base ** (degree - 1.0)
    return Slopes(product=gamma * degree * np.where(np.isfinite(power), power, 0.0))


@slopes.register
def _(kernel: Sigmoid, X: Any, Z: Any) -> Slopes:
    return Slopes(product=kernel.native[1] * (1.0 - kernel(X, Z) ** 2))


@slopes.register
def _(kernel: RBF, X: Any, Z: Any) -> Slopes:
    return Slopes(difference=2.0 * kernel.native[1] * kernel(X, Z))


@slopes.register
def _(kernel: Laplacian, X: Any, Z: Any) -> Slopes:
    return Slopes(sign=kernel.native[1] * kernel(X, Z))


@slopes.register
def _(kernel: Exponential, X: Any, Z: Any) -> Slopes:
    """``gamma k / ||x - z||`` with ||x - z|| = -log(k) / gamma; 0 at x = z, where the kernel has a peak."""
    gamma, K = kernel.native[1], kernel(X, Z)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = gamma**2 * K / -np.log(K)
    return Slopes(difference=np.where((K > 0.0) & (K < 1.0), slope, 0.0))


@slopes.register
def _(kernel: Scaled, X: Any, Z: Any) -> Slopes:
    return slopes(kernel.kernel, X, Z).times(kernel.factor)


@slopes.register
def _(kernel: Sum, X: Any, Z: Any) -> Slopes:
    return slopes(kernel.left, X, Z).plus(slopes(kernel.right, X, Z))


@slopes.register
def _(kernel: Product, X: Any, Z: Any) -> Slopes:
    left, right = (slopes(part, X, Z) for part in (kernel.left, kernel.right))
    return left.times(kernel.right(X, Z)).plus(right.times(kernel.left(X, Z)))


def gradient_blocks(kernel: Kernel, X: Any, Z: Any, A: np.ndarray) -> Iterator[tuple[slice, int, np.ndarray]]:
    """``(rows, t, G)`` with ``G[i] = grad f_t(x_i)`` for blocks of rows of X and every column t of A.

    The arithmetic is double, and the order of all sums is fixed: the bits do not depend on threads.
    """
    check_gradient(kernel)
    X, Z, A = as_rows(X), as_rows(Z), np.asarray(A, dtype=np.float64)
    n, d, m = X.shape[0], X.shape[1], Z.shape[0]
    Z = Z.astype(np.float64)
    step = max(1, MAX_NUMBERS_PER_BLOCK // max(d, m, 1))
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        x = X[rows].astype(np.float64)
        with _native.one_blas_thread():
            yield from ((rows, t, G) for t, G in _block(slopes(kernel, x, Z), x, Z, A))


def _block(parts: Slopes, x: Any, Z: Any, A: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    dense = x.toarray() if is_sparse(x) else x
    weight = _added(parts.product, parts.difference)  # of z
    for t in range(A.shape[1]):
        G, own = np.zeros(dense.shape), np.flatnonzero(A[:, t])
        if weight is not None:
            G += (weight[:, own] * A[own, t]) @ Z[own]
        if parts.difference is not None:
            G -= (parts.difference @ A[:, t])[:, None] * dense
        if parts.sign is not None:
            if t % COLUMNS_PER_SIGN == 0:  # few columns at a time bound the memory, several save signs
                signs = _sign_products(parts.sign, dense, Z, A[:, t : t + COLUMNS_PER_SIGN])
            G -= signs[:, t % COLUMNS_PER_SIGN]
        yield t, G


def _sign_products(S: np.ndarray, x: np.ndarray, Z: Any, A: np.ndarray) -> np.ndarray:
    """``sum_j S_ij sign(x_i - z_j) a_jt``, (n, n_columns, d), one product for each feature."""
    out = np.empty((len(x), A.shape[1], x.shape[1]))
    Z = Z.toarray() if is_sparse(Z) else Z
    for k in range(x.shape[1]):
        out[:, :, k] = (S * np.sign(x[:, k, None] - Z[:, k])) @ A
    return out


def average_outer_product(
    kernel: Kernel, X: Any, Z: Any, A: np.ndarray, *, weight: np.ndarray | None = None, full: bool = False
) -> np.ndarray:
    """The average over rows of X of the squared gradients, summed over columns: M, or its diagonal.

    Parameters
    ----------
    kernel : Kernel
        With numbers for its parameters.
    X : rows at which the gradient is taken
    Z : the points of the expansion
    A : ndarray of shape (n_points, n_columns)
    weight : ndarray of shape (n_rows,), optional
    full : bool, default=False
        The matrix (n_features, n_features); else its diagonal, (n_features,).
    """
    X = as_rows(X)
    n, d = X.shape
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    total = np.zeros((d, d) if full else d)
    for rows, _, G in gradient_blocks(kernel, X, Z, A):
        total += (weight[rows, None] * G).T @ G if full else weight[rows] @ (G * G)
    return total / max(float(weight.sum()), np.finfo(np.float64).tiny)

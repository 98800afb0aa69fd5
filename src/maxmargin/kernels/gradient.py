"""The gradient of a kernel expansion in closed form, and its average outer product.

    f_t(x) = sum_j a_jt k(x, z_j),      M = (1 / sum_i w_i) sum_i w_i sum_t grad f_t(x_i) grad f_t(x_i)'.

Every compiled kernel, and every sum, product and multiple of them, has a derivative of the form

    d k(x, z) / dx = p(x, z) z - q(x, z) (x - z) - s(x, z) sign(x - z),

so the gradients of a block of rows are matrix products with the points z, one for each column t (for the L1
distance one for each feature). A kernel of some columns only has such a derivative in these columns, so a sum
may have several, each of columns of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from .. import _native
from .._native import as_rows, is_sparse
from .algebra import Kernel, Product, Scaled, Sum
from .compiled import RBF, Exponential, Laplacian, Linear, Polynomial, Sigmoid
from .on_columns import OnColumns

__all__ = ["average_outer_product", "check_gradient", "gradient_blocks"]

COLUMNS_PER_SIGN = 4  # of A, for which the signs of differences are computed once
MAX_NUMBERS_PER_BLOCK = (
    1 << 21
)  # of the slopes of all parts of a kernel, or of the gradients of one column, at a time


@dataclass(frozen=True)
class Slopes:
    """The factors p, q and s of the derivative in some columns, each (n, m); None stands for 0 or all."""

    product: np.ndarray | None = None
    difference: np.ndarray | None = None
    sign: np.ndarray | None = None
    columns: tuple[int, ...] | None = None

    def times(self, factor: np.ndarray | float) -> Slopes:
        """All three times a number or a matrix."""
        product, difference, sign = (None if part is None else part * factor for part in self.parts)
        return Slopes(product, difference, sign, self.columns)

    def plus(self, other: Slopes) -> Slopes:
        """The sums, part by part, of slopes in the same columns."""
        product, difference, sign = map(_added, self.parts, other.parts)
        return Slopes(product, difference, sign, self.columns)

    @property
    def parts(self) -> tuple[np.ndarray | None, ...]:
        """p, q and s."""
        return self.product, self.difference, self.sign


def _added(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right


def _joined(every: Iterable[Slopes]) -> list[Slopes]:
    """The sum of slopes, one for each set of columns."""
    found: dict[tuple[int, ...] | None, Slopes] = {}
    for each in every:
        found[each.columns] = found[each.columns].plus(each) if each.columns in found else each
    return list(found.values())


def slopes(kernel: Kernel, X: Any, Z: Any) -> list[Slopes]:
    """The derivative of a kernel in its first argument, between rows in double, as a sum."""
    if isinstance(kernel, Scaled):
        return [each.times(kernel.factor) for each in slopes(kernel.kernel, X, Z)]
    if isinstance(kernel, OnColumns):
        inner = slopes(kernel.kernel, kernel.of(X), kernel.of(Z))
        return [replace(each, columns=_outer(each.columns, kernel.columns)) for each in inner]
    if isinstance(kernel, Sum):
        return _joined([*slopes(kernel.left, X, Z), *slopes(kernel.right, X, Z)])
    if isinstance(kernel, Product):
        left, right = kernel.left(X, Z), kernel.right(X, Z)
        by_left = [each.times(right) for each in slopes(kernel.left, X, Z)]
        return _joined([*by_left, *(each.times(left) for each in slopes(kernel.right, X, Z))])
    return [_slopes_of(kernel, X, Z)]


def _outer(inner: tuple[int, ...] | None, columns: Sequence[int]) -> tuple[int, ...]:
    """Positions among some columns, as positions among all."""
    return tuple(columns) if inner is None else tuple(columns[k] for k in inner)


@singledispatch
def _slopes_of(kernel: Kernel, X: Any, Z: Any) -> Slopes:
    """Those of a kernel that is not made of others."""
    raise NotImplementedError(kernel.name)


def check_gradient(kernel: Kernel) -> None:
    """Raise unless the kernel has a derivative here."""
    parts = [getattr(kernel, name) for name in ("left", "right", "kernel") if hasattr(kernel, name)]
    for part in parts:
        check_gradient(part)
    if not parts and _slopes_of.dispatch(type(kernel)) is _slopes_of.dispatch(object):
        raise ValueError(
            f"the kernel {kernel.name!r} has no gradient in the columns of X. Fit with a linear, polynomial, "
            "rbf, sigmoid, laplacian or exponential kernel, or a sum, product or multiple of these; or use "
            "sklearn.inspection.permutation_importance, which needs predictions only."
        )


@_slopes_of.register
def _(kernel: Linear, X: Any, Z: Any) -> Slopes:
    return Slopes(product=np.ones((X.shape[0], Z.shape[0])))


@_slopes_of.register
def _(kernel: Polynomial, X: Any, Z: Any) -> Slopes:
    _, gamma, coef0, degree = kernel.native
    base = gamma * Linear()(X, Z) + coef0
    with np.errstate(divide="ignore", invalid="ignore"):  # below degree 1 the slope is infinite at 0
        power = base ** (degree - 1.0)
    return Slopes(product=gamma * degree * np.where(np.isfinite(power), power, 0.0))


@_slopes_of.register
def _(kernel: Sigmoid, X: Any, Z: Any) -> Slopes:
    return Slopes(product=kernel.native[1] * (1.0 - kernel(X, Z) ** 2))


@_slopes_of.register
def _(kernel: RBF, X: Any, Z: Any) -> Slopes:
    return Slopes(difference=2.0 * kernel.native[1] * kernel(X, Z))


@_slopes_of.register
def _(kernel: Laplacian, X: Any, Z: Any) -> Slopes:
    return Slopes(sign=kernel.native[1] * kernel(X, Z))


@_slopes_of.register
def _(kernel: Exponential, X: Any, Z: Any) -> Slopes:
    """``gamma k / ||x - z||`` with ||x - z|| = -log(k) / gamma; 0 at x = z, where the kernel has a peak."""
    gamma, K = kernel.native[1], kernel(X, Z)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = gamma**2 * K / -np.log(K)
    return Slopes(difference=np.where((K > 0.0) & (K < 1.0), slope, 0.0))


def gradient_blocks(kernel: Kernel, X: Any, Z: Any, A: np.ndarray) -> Iterator[tuple[slice, int, np.ndarray]]:
    """``(rows, t, G)`` with ``G[i] = grad f_t(x_i)`` for blocks of rows of X and every column t of A.

    The arithmetic is double, and the order of all sums is fixed: the bits do not depend on threads.
    """
    check_gradient(kernel)
    X, Z, A = as_rows(X), as_rows(Z), np.asarray(A, dtype=np.float64)
    n, d, m = X.shape[0], X.shape[1], Z.shape[0]
    Z = Z.astype(np.float64)
    n_parts = len(slopes(kernel, X[:1].astype(np.float64), Z[:1])) if n and m else 1
    step = max(1, MAX_NUMBERS_PER_BLOCK // (max(d, m, 1) * n_parts))
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        x = X[rows].astype(np.float64)
        with _native.one_blas_thread():
            yield from ((rows, t, G) for t, G in _block(slopes(kernel, x, Z), x, Z, A))


def _block(every: list[Slopes], x: Any, Z: Any, A: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Few columns of A at a time bound the memory, several save signs."""
    dense = x.toarray() if is_sparse(x) else x
    for first in range(0, A.shape[1], COLUMNS_PER_SIGN):
        some = A[:, first : first + COLUMNS_PER_SIGN]
        signs = [
            None if each.sign is None else _sign_products(each.sign, *_columns(each, dense, Z), some)
            for each in every
        ]
        for t in range(some.shape[1]):
            G = np.zeros(dense.shape)
            for each, own_signs in zip(every, signs):
                part = _gradient(each, *_columns(each, dense, Z), some[:, t])
                if own_signs is not None:
                    part -= own_signs[:, t]
                G[:, slice(None) if each.columns is None else list(each.columns)] += part
            yield first + t, G


def _columns(each: Slopes, x: np.ndarray, Z: Any) -> tuple[np.ndarray, Any]:
    if each.columns is None:
        return x, Z
    return x[:, list(each.columns)], Z[:, list(each.columns)]


def _gradient(each: Slopes, x: np.ndarray, Z: Any, a: np.ndarray) -> np.ndarray:
    """The part of the gradients that products and differences make, for one column of A."""
    G, own = np.zeros(x.shape), np.flatnonzero(a)
    weight = _added(each.product, each.difference)  # of z
    if weight is not None:
        G += (weight[:, own] * a[own]) @ Z[own]
    if each.difference is not None:
        G -= (each.difference @ a)[:, None] * x
    return G


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

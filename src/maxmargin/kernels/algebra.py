"""The kernel interface, and sums, products and multiples of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._native import GroupedMatrix
from ..data import check_number, checked_input

__all__ = ["Kernel", "Matrix", "Product", "Scaled", "Sum", "n_rows"]

Matrix = np.ndarray | GroupedMatrix


class Kernel(ABC):
    """A function k(x, z) of two rows; ``k1 + k2``, ``k1 * k2`` and ``2.0 * k`` are kernels too.

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Kernel, Linear
    >>> isinstance(Linear() + 0.5 * RBF(gamma=1.0), Kernel)
    True
    """

    name: ClassVar[str]
    positive: bool = False  # whether every kernel matrix is known to be positive semi-definite

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``; Z defaults to X."""

    @abstractmethod
    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with named parameter values, such as ``gamma="scale"``, replaced by numbers from X.

        ``index`` lists the rows of X to use, in the caller's order; all rows by default.
        """
        return self

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``K(X, Z) @ A``, one block of rows at a time; at most about 32 MB of K are in memory."""
        X, Z = checked_input(X), checked_input(Z)
        A, n = A if isinstance(A, GroupedMatrix) else np.asarray(A), n_rows(X)
        step = max(1, (4 << 20) // max(1, n_rows(Z)))
        blocks = [self(X[i : i + step], Z, n_jobs=n_jobs) @ A for i in range(0, n, step)]
        return np.concatenate(blocks) if blocks else np.zeros((0, *A.shape[1:]))

    def __add__(self, other: Kernel) -> Kernel:
        """``k1(x, z) + k2(x, z)``."""
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        """``k1(x, z) k2(x, z)``, or ``factor k(x, z)``."""
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(other, self) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, factor: float) -> Kernel:
        """``factor k(x, z)``."""
        return self.__mul__(factor)


def n_rows(X: Any) -> int:
    """The length of an array, a sparse matrix or any other sequence."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """True if both kernels are positive semi-definite."""
        return self.left.positive and self.right.positive

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with numbers in place of words."""
        parts = (part.resolve(X, rng, sample_weight, index) for part in (self.left, self.right))
        return type(self)(*parts)


@dataclass(frozen=True)
class Sum(_Pair):
    """``k1(x, z) + k2(x, z)``.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Linear
    >>> Linear() + RBF(gamma=1.0)
    Sum(left=Linear(), right=RBF(gamma=1.0))
    """

    name: ClassVar[str] = "sum"

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        return self.left(X, Z, n_jobs=n_jobs) + self.right(X, Z, n_jobs=n_jobs)

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        return self.left.diagonal(X) + self.right.diagonal(X)

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``K1 @ A + K2 @ A``."""
        return self.left.matmul(X, Z, A, n_jobs=n_jobs) + self.right.matmul(X, Z, A, n_jobs=n_jobs)


@dataclass(frozen=True)
class Product(_Pair):
    """``k1(x, z) k2(x, z)``.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Linear
    >>> Linear() * RBF(gamma=1.0)
    Product(left=Linear(), right=RBF(gamma=1.0))
    """

    name: ClassVar[str] = "product"

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        return self.left(X, Z, n_jobs=n_jobs) * self.right(X, Z, n_jobs=n_jobs)

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        return self.left.diagonal(X) * self.right.diagonal(X)


@dataclass(frozen=True)
class Scaled(Kernel):
    """``factor k(x, z)``, factor > 0.

    Parameters
    ----------
    factor : float
        Not negative.
    kernel : Kernel

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> 2.0 * Linear()
    Scaled(factor=2.0, kernel=Linear())
    """

    factor: float
    kernel: Kernel
    name: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        """Raise unless the parameters are numbers in range."""
        check_number("the factor of a kernel", self.factor, above=0.0)
        object.__setattr__(self, "factor", float(self.factor))

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """True if the scaled kernel is positive semi-definite."""
        return self.kernel.positive

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        return self.factor * self.kernel(X, Z, n_jobs=n_jobs)

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with numbers in place of words."""
        return Scaled(self.factor, self.kernel.resolve(X, rng, sample_weight, index))

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        return self.factor * self.kernel.diagonal(X)

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``factor (K @ A)``."""
        return self.factor * self.kernel.matmul(X, Z, A, n_jobs=n_jobs)

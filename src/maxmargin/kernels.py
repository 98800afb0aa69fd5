"""Kernels: frozen descriptions that compute their own matrices, and sums, products and multiples of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from . import _native
from ._native import effective_n_threads
from .bandwidth import median_gamma, scale_gamma
from .checks import check_number
from .grouped import GroupedMatrix
from .layout import as_rows, same_features, sqnorms

__all__ = [
    "RBF",
    "FromFunction",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "kernel_from_name",
]

Gamma = float | str
Matrix = np.ndarray | GroupedMatrix
_GAMMA_WORDS = ("auto", "median", "scale")


class Kernel(ABC):
    """A function k(x, z) of two rows; ``k1 + k2``, ``k1 * k2`` and ``2.0 * k`` are kernels too."""

    name: ClassVar[str]
    positive: bool = False  # whether every kernel matrix is known to be positive semi-definite

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``; Z is X when it is not given."""

    @abstractmethod
    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with every parameter a number, found from the rows X where it was a word.

        ``index`` names the rows of X that count, in an order of the caller's; all of them by default.
        """
        return self

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``K(X, Z) @ A``, a block of rows at a time: about 32 MB of K are held."""
        A, n = A if isinstance(A, GroupedMatrix) else np.asarray(A), _n_rows(X)
        step = max(1, (4 << 20) // max(1, _n_rows(Z)))
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


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _check_gamma(gamma: Any) -> None:
    if isinstance(gamma, str) and gamma in _GAMMA_WORDS:
        return
    try:
        check_number("gamma", gamma, above=0.0)
    except ValueError:
        raise ValueError(
            f"gamma must be a finite number > 0 or one of {list(_GAMMA_WORDS)}; got {gamma!r}."
        ) from None


class _Compiled(Kernel):
    """A kernel with a loop of its own in the core."""

    @property
    def native(self) -> tuple[str, float, float, float]:
        """Name, gamma, coef0 and degree, as the core takes them."""
        gamma = getattr(self, "gamma", 1.0)
        if isinstance(gamma, str):
            raise ValueError(
                f"gamma={gamma!r} depends on the data; call resolve(X, rng) first, or give a number."
            )
        return (
            self.name,
            float(gamma),
            float(getattr(self, "coef0", 0.0)),
            float(getattr(self, "degree", 1.0)),
        )

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        return _native.kernel_block(*same_features(X, Z), self, n_threads=effective_n_threads(n_jobs))

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``K(X, Z) @ A`` tile by tile; K is never held."""
        x, z = same_features(X, Z)
        n_threads = effective_n_threads(n_jobs)
        if isinstance(A, GroupedMatrix):
            return _native.kernel_grouped_matmul(x, z, A, self, n_threads=n_threads)
        columns = np.asarray(A)
        matrix = columns[:, None] if columns.ndim == 1 else columns
        product = _native.kernel_matmul(x, z, matrix, self, n_threads=n_threads)
        return product[:, 0] if columns.ndim == 1 else product


class _WithGamma(_Compiled):
    """A compiled kernel whose gamma may be a word until it has seen data."""

    gamma: Gamma

    def __post_init__(self) -> None:
        """Refuse parameters that are not numbers in range."""
        _check_gamma(self.gamma)
        for name in ("coef0", "degree"):
            if hasattr(self, name):
                check_number(name, getattr(self, name))

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with numbers in place of words."""
        if not isinstance(self.gamma, str):
            return self
        rows = as_rows(X)
        if self.gamma == "median":
            gamma = median_gamma(rows, rng, sample_weight, index)
        else:
            gamma = 1.0 / rows.shape[1] if self.gamma == "auto" else scale_gamma(rows, sample_weight, index)
        return replace(self, gamma=gamma)  # type: ignore[type-var]


@dataclass(frozen=True)
class Linear(_Compiled):
    """``<x, z>``."""

    name: ClassVar[str] = "linear"
    positive: ClassVar[bool] = True  # type: ignore[misc]

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        rows = as_rows(X)
        return sqnorms(rows).astype(rows.dtype)


@dataclass(frozen=True)
class Polynomial(_WithGamma):
    """``(gamma <x, z> + coef0)^degree``. Positive semi-definite for a whole degree and coef0 >= 0."""

    degree: float = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        """Refuse parameters that are not numbers in range."""
        super().__post_init__()
        check_number("degree", self.degree, above=0.0)

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """For a whole degree and coef0 >= 0."""
        return float(self.degree).is_integer() and self.coef0 >= 0.0

    @np.errstate(over="ignore")
    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        _, gamma, coef0, degree = self.native
        rows = as_rows(X)
        return ((gamma * sqnorms(rows) + coef0) ** degree).astype(rows.dtype)


@dataclass(frozen=True)
class RBF(_WithGamma):
    """``exp(-gamma ||x - z||^2)``; exactly 1 for equal rows."""

    gamma: Gamma = "median"
    name: ClassVar[str] = "rbf"
    positive: ClassVar[bool] = True  # type: ignore[misc]

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        rows = as_rows(X)
        return np.ones(rows.shape[0], dtype=rows.dtype)


@dataclass(frozen=True)
class Laplacian(_WithGamma):
    """``exp(-gamma ||x - z||_1)``; exactly 1 for equal rows."""

    gamma: Gamma = "median"
    name: ClassVar[str] = "laplacian"
    positive: ClassVar[bool] = True  # type: ignore[misc]

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        rows = as_rows(X)
        return np.ones(rows.shape[0], dtype=rows.dtype)


@dataclass(frozen=True)
class Sigmoid(_WithGamma):
    """``tanh(gamma <x, z> + coef0)``.

    Not positive semi-definite: the SVM problem it gives need not be convex, and a duality gap need not close.
    """

    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "sigmoid"

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        _, gamma, coef0, _ = self.native
        rows = as_rows(X)
        return np.tanh(gamma * sqnorms(rows) + coef0).astype(rows.dtype)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix itself: X is already K, with one column for each training row."""

    name: ClassVar[str] = "precomputed"

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        K = np.asarray(X)
        if K.ndim != 2:
            raise ValueError(f"a precomputed kernel must be a 2-d matrix; got {K.ndim} dimension(s).")
        return K

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        K = self(X)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"only a square precomputed kernel has a diagonal; got shape {K.shape}.")
        return K.diagonal()

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``X @ A``."""
        return self(X) @ A


@dataclass(frozen=True)
class FromFunction(Kernel):
    """A Python function ``function(X, Z) -> matrix`` of any two sequences: arrays, strings, trees."""

    function: Callable[[Any, Any], Any]
    name: ClassVar[str] = "callable"

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        Z = X if Z is None else Z
        K, shape = np.asarray(self.function(X, Z)), (_n_rows(X), _n_rows(Z))
        if K.shape != shape:
            raise ValueError(
                f"the kernel function must return a matrix of shape {shape}; it returned {K.shape}."
            )
        return K.astype(K.dtype if K.dtype in (np.float32, np.float64) else np.float64, copy=False)

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        return np.array([self(X[i : i + 1])[0, 0] for i in range(_n_rows(X))], dtype=np.float64)


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """Sums and products of positive kernels are."""
        return self.left.positive and self.right.positive

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with numbers in place of words."""
        parts = (part.resolve(X, rng, sample_weight, index) for part in (self.left, self.right))
        return type(self)(*parts)


@dataclass(frozen=True)
class Sum(_Pair):
    """``k1(x, z) + k2(x, z)``."""

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
    """``k1(x, z) k2(x, z)``."""

    name: ClassVar[str] = "product"

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        return self.left(X, Z, n_jobs=n_jobs) * self.right(X, Z, n_jobs=n_jobs)

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        return self.left.diagonal(X) * self.right.diagonal(X)


@dataclass(frozen=True)
class Scaled(Kernel):
    """``factor k(x, z)``, factor > 0."""

    factor: float
    kernel: Kernel
    name: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        """Refuse parameters that are not numbers in range."""
        check_number("the factor of a kernel", self.factor, above=0.0)
        object.__setattr__(self, "factor", float(self.factor))

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """As the kernel."""
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


_BY_NAME: dict[str, type[Kernel]] = {
    k.name: k for k in (Laplacian, Linear, Polynomial, Precomputed, RBF, Sigmoid)
}
_ALIASES = {"poly": "polynomial"}  # scikit-learn's spelling


def kernel_from_name(
    kernel: Any, *, gamma: Gamma | None = None, degree: float | None = None, coef0: float | None = None
) -> Kernel:
    """A kernel from its name, a callable ``k(X, Z) -> matrix``, or a kernel.

    ``gamma``, ``degree`` and ``coef0`` reach the kernels that have them; None leaves the kernel's default.
    """
    if isinstance(kernel, Kernel):
        return kernel
    name = _ALIASES.get(kernel, kernel) if isinstance(kernel, str) else None
    if name in _BY_NAME:
        cls = _BY_NAME[name]
        known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        given = {"gamma": gamma, "degree": degree, "coef0": coef0}
        return cls(**{key: value for key, value in given.items() if key in known and value is not None})
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(kernel)
    raise ValueError(f"kernel must be a Kernel, a callable or one of {sorted(_BY_NAME)}; got {kernel!r}.")

"""Kernels that the compiled core implements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import _native
from .._native import GroupedMatrix, as_rows, same_features, sqnorms
from ..data import check_number
from .algebra import Kernel, Matrix
from .bandwidth import median_gamma, scale_gamma

__all__ = ["RBF", "Compiled", "Exponential", "Gamma", "Laplacian", "Linear", "Polynomial", "Sigmoid"]

Gamma = float | str
_GAMMA_WORDS = ("auto", "median", "scale")


def _check_gamma(gamma: Any) -> None:
    if isinstance(gamma, str) and gamma in _GAMMA_WORDS:
        return
    try:
        check_number("gamma", gamma, above=0.0)
    except ValueError:
        raise ValueError(
            f"gamma must be a finite number > 0 or one of {list(_GAMMA_WORDS)}; got {gamma!r}."
        ) from None


class Compiled(Kernel):
    """A kernel that the compiled core implements."""

    @property
    def native(self) -> tuple[str, float, float, float]:
        """Name, gamma, coef0 and degree, in the order that the core expects."""
        gamma = getattr(self, "gamma", 1.0)
        if isinstance(gamma, str):
            raise ValueError(
                f"gamma={gamma!r} depends on the data; call resolve(X, rng) first, or set gamma to a number."
            )
        return (
            self.name,
            float(gamma),
            float(getattr(self, "coef0", 0.0)),
            float(getattr(self, "degree", 1.0)),
        )

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        return _native.kernel_block(*same_features(X, Z), self, n_threads=_native.effective_n_threads(n_jobs))

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``K(X, Z) @ A`` tile by tile; K is never stored."""
        x, z = same_features(X, Z)
        n_threads = _native.effective_n_threads(n_jobs)
        if isinstance(A, GroupedMatrix):
            return _native.kernel_grouped_matmul(x, z, A, self, n_threads=n_threads)
        columns = np.asarray(A)
        matrix = columns[:, None] if columns.ndim == 1 else columns
        product = _native.kernel_matmul(x, z, matrix, self, n_threads=n_threads)
        return product[:, 0] if columns.ndim == 1 else product


class _WithGamma(Compiled):
    """A compiled kernel whose gamma may be a name, such as "scale", until ``resolve`` computes it."""

    gamma: Gamma

    def __post_init__(self) -> None:
        """Raise unless the parameters are numbers in range."""
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
        return replace(self, gamma=self.from_squares(gamma))  # type: ignore[type-var]

    def from_squares(self, gamma: Any) -> Any:
        """This kernel's gamma, given a number or an array of numbers that multiply squared distances."""
        return gamma


class _OfDistance(_WithGamma):
    """A decreasing function of a distance: exactly 1 for equal rows, and positive semi-definite."""

    positive: ClassVar[bool] = True  # type: ignore[misc]

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        rows = as_rows(X)
        return np.ones(rows.shape[0], dtype=rows.dtype)


@dataclass(frozen=True)
class Linear(Compiled):
    """``<x, z>``.

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> Linear()([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[1.]])
    """

    name: ClassVar[str] = "linear"
    positive: ClassVar[bool] = True  # type: ignore[misc]

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        rows = as_rows(X)
        return sqnorms(rows).astype(rows.dtype)


@dataclass(frozen=True)
class Polynomial(_WithGamma):
    """``(gamma <x, z> + coef0)^degree``. Positive semi-definite for an integer degree and coef0 >= 0.

    Parameters
    ----------
    degree : float
    gamma : float or {"median", "scale", "auto"}
        One over a squared distance; a word is resolved from the rows of a fit.
    coef0 : float
        Added to the inner product.

    Examples
    --------
    >>> from maxmargin.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0)([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[4.]])
    """

    degree: float = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        """Raise unless the parameters are numbers in range."""
        super().__post_init__()
        check_number("degree", self.degree, above=0.0)

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """True for an integer degree and coef0 >= 0."""
        return float(self.degree).is_integer() and self.coef0 >= 0.0

    @np.errstate(over="ignore")
    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        _, gamma, coef0, degree = self.native
        rows = as_rows(X)
        return ((gamma * sqnorms(rows) + coef0) ** degree).astype(rows.dtype)


@dataclass(frozen=True)
class RBF(_OfDistance):
    """``exp(-gamma ||x - z||^2)``; exactly 1 for equal rows.

    Parameters
    ----------
    gamma : float or {"median", "scale", "auto"}
        One over a squared distance; a word is resolved from the rows of a fit.

    Examples
    --------
    >>> from maxmargin.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[0.607]])
    """

    gamma: Gamma = "median"
    name: ClassVar[str] = "rbf"


@dataclass(frozen=True)
class Laplacian(_OfDistance):
    """``exp(-gamma ||x - z||_1)``; exactly 1 for equal rows.

    Parameters
    ----------
    gamma : float or {"median", "scale", "auto"}
        One over a squared distance; a word is resolved from the rows of a fit.

    Examples
    --------
    >>> from maxmargin.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[0.607]])
    """

    gamma: Gamma = "median"
    name: ClassVar[str] = "laplacian"


@dataclass(frozen=True)
class Exponential(_OfDistance):
    """``exp(-gamma ||x - z||_2)``; exactly 1 for equal rows.

    Its gamma multiplies a distance, not a squared one. So "median", "scale" and "auto" are the square roots
    of what they are for the other kernels: "median" is one over the median distance between rows.

    Parameters
    ----------
    gamma : float or {"median", "scale", "auto"}
        One over a squared distance; a word is resolved from the rows of a fit.

    Examples
    --------
    >>> from maxmargin.kernels import Exponential
    >>> Exponential(gamma=0.5)([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[0.607]])
    """

    gamma: Gamma = "median"
    name: ClassVar[str] = "exponential"

    def from_squares(self, gamma: Any) -> Any:
        """The square root."""
        return gamma**0.5


@dataclass(frozen=True)
class Sigmoid(_WithGamma):
    """``tanh(gamma <x, z> + coef0)``.

    Not positive semi-definite in general: the SVM problem may be non-convex, and its gap may not close.

    Parameters
    ----------
    gamma : float or {"median", "scale", "auto"}
        One over a squared distance; a word is resolved from the rows of a fit.
    coef0 : float
        Added to the inner product.

    Examples
    --------
    >>> from maxmargin.kernels import Sigmoid
    >>> Sigmoid(gamma=1.0)([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[0.762]])
    """

    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "sigmoid"

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        _, gamma, coef0, _ = self.native
        rows = as_rows(X)
        return np.tanh(gamma * sqnorms(rows) + coef0).astype(rows.dtype)

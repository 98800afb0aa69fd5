"""User-supplied kernels: a precomputed matrix, or a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..data import checked_input
from .algebra import Kernel, Matrix, n_rows

__all__ = ["FromFunction", "Precomputed"]


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix itself: X is already K, with one column for each training row.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelSVC
    >>> from maxmargin.kernels import RBF
    >>> X = np.arange(20.0)[:, None]
    >>> KernelSVC(kernel="precomputed").fit(RBF(gamma=0.1)(X), X[:, 0] > 9).kernel_
    Precomputed()
    """

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
    """A Python function ``function(X, Z) -> matrix`` of any two sequences: arrays, strings, trees.

    Parameters
    ----------
    function : callable
        ``k(X, Z)`` returns the matrix of kernel values; X and Z may be sequences of any objects.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import FromFunction
    >>> shared = FromFunction(lambda A, B: np.array([[float(len(set(a) & set(b))) for b in B] for a in A]))
    >>> shared(["oak", "elm"], ["yak"])
    array([[2.],
           [0.]])
    """

    function: Callable[[Any, Any], Any]
    name: ClassVar[str] = "callable"

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        X = checked_input(X)
        Z = X if Z is None else checked_input(Z)
        K, shape = np.asarray(self.function(X, Z)), (n_rows(X), n_rows(Z))
        if K.shape != shape:
            raise ValueError(
                f"the kernel function must return a matrix of shape {shape}; it returned {K.shape}."
            )
        return K.astype(K.dtype if K.dtype in (np.float32, np.float64) else np.float64, copy=False)

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        X = checked_input(X)
        return np.array([self(X[i : i + 1])[0, 0] for i in range(n_rows(X))], dtype=np.float64)

"""The linear system of least squares and ridge: factorised once for all columns that share their rows.

With A of `squares_data.py` and a ridge of 1 or 0, tall data ask for ``(A'A + ridge)^{-1}``, wide data for
``(AA' + ridge)^{-1}``. Three ways, each an object with `solve` for such a system of the smaller order:

    CholeskySystem    ridge, up to LARGEST_FACTOR
    SpectralSystem    singular values and vectors: no penalty, where the rank must be known; paths over C
    KrylovSystem      conjugate gradients on A'A, of any size
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import qr, solve_triangular, svd
from scipy.linalg.lapack import dpotri, dpotrs

from .._native import one_blas_thread
from .newton_system import scaled_cholesky
from .result import FLOAT_EPS
from .squares_data import SquaresData

LARGEST_FACTOR = 3000  # order of the largest matrix that is factorised by Cholesky
LARGEST_SPECTRUM = 1000  # and by singular values
CG_STEPS = 100  # conjugate gradients between two certificates
CG_TARGET = 3e-2  # by which they reduce the gradient


class System(Protocol):
    """``solve(g)`` applies the inverse; ``gain(w, g, e)`` bounds what a step can gain without a penalty."""

    @property
    def wide(self) -> bool:
        """Whether the unknowns are the rows' coefficients rather than the features'."""

    def solve(self, g: np.ndarray) -> np.ndarray:
        """The solution for one right side."""

    def gain(self, w: np.ndarray, g: np.ndarray, e: np.ndarray, reach: float) -> float:
        """A bound on the gain of moving w by ``reach`` times its length: g = A'e, e the weighted residual."""


def system_for(data: SquaresData, ridge: float) -> System:
    """The system that suits the size; a ridge needs no rank."""
    if ridge > 0.0 and data.order <= LARGEST_FACTOR:
        return CholeskySystem(data, ridge)
    if data.order <= LARGEST_SPECTRUM:
        return spectral_system(data, ridge)
    return KrylovSystem(data, ridge)


class CholeskySystem:
    """The factor of a matrix scaled to a unit diagonal, so that features may be of any size."""

    def __init__(self, data: SquaresData, ridge: float) -> None:
        self.data, self.ridge, self.wide = data, ridge, data.wide
        matrix = data.gram()
        matrix.flat[:: data.order + 1] += ridge
        with one_blas_thread():
            self.factor, self.scale = scaled_cholesky(matrix)

    def solve(self, g: np.ndarray) -> np.ndarray:
        """The solution for one right side."""
        return np.asarray(self.scale * dpotrs(self.factor, self.scale * g, lower=1)[0])

    def gain(self, w: np.ndarray, g: np.ndarray, e: np.ndarray, reach: float) -> float:
        """Not asked for: a ridge has a dual bound."""
        raise NotImplementedError

    def unleveraged(self) -> np.ndarray:
        """``1 - h``, h the diagonal of ``A (A'A + ridge)^{-1} A'``: what is left of each residual."""
        with one_blas_thread():
            if self.wide:
                inverse = dpotri(self.factor, lower=1)[0]
                return np.asarray(self.ridge * self.scale**2 * inverse.diagonal())
            parts = []
            for block in self.data.row_blocks():
                image = solve_triangular(self.factor, (block * self.scale).T, lower=True, check_finite=False)
                parts.append(1.0 - np.einsum("ji,ji->i", image, image))
            return np.concatenate(parts)


@dataclass(frozen=True)
class SpectralSystem:
    """``scale V diag(s^2 + ridge) V' scale``, with a basis of the null space where there is one."""

    wide: bool
    V: np.ndarray
    s: np.ndarray
    scale: np.ndarray
    null: np.ndarray
    ridge: float
    cut: float  # singular values up to this one count as 0

    @property
    def rank(self) -> int:
        """Singular values that are not 0 up to rounding."""
        return int(np.count_nonzero(self.s))

    def solve(self, g: np.ndarray) -> np.ndarray:
        """The shortest solution for one right side."""
        kept = self.s**2 + self.ridge
        with one_blas_thread():
            inner = (self.V.T @ (g / self.scale)) * np.divide(
                1.0, kept, out=np.zeros_like(kept), where=kept > 0
            )
            w = (self.V @ inner) / self.scale
            return np.asarray(w - self.null @ (self.null.T @ w))

    def gain(self, w: np.ndarray, g: np.ndarray, e: np.ndarray, reach: float) -> float:
        """Exact along directions that count, up to their own error; along others slope times length."""
        kept = self.s > 0.0
        error = self.cut / self.s[kept] * np.linalg.norm(e)  # of a direction, times what it is multiplied by
        with one_blas_thread():
            along = self.V.T @ (e if self.wide else g / self.scale)
        if self.wide:
            inner, slope = along[kept], self.cut * np.linalg.norm(along[~kept])
        else:
            inner, slope = along[kept] / self.s[kept], np.linalg.norm(along[~kept])
        length = reach * np.linalg.norm(w if self.wide else self.scale * w)
        return float(0.5 * np.sum((np.abs(inner) + error) ** 2) + length * slope)

    def unleveraged(self, data: SquaresData) -> np.ndarray:
        """``1 - h`` as of `CholeskySystem`; of a ridge."""
        shrunk = self.ridge / (self.s**2 + self.ridge)
        with one_blas_thread():
            if self.wide:
                return np.asarray(self.V**2 @ shrunk)
            root = self.V / np.sqrt(self.s**2 + self.ridge)
            return np.concatenate([1.0 - ((block @ root) ** 2).sum(axis=1) for block in data.row_blocks()])


def spectral_system(data: SquaresData, ridge: float) -> SpectralSystem:
    """Singular values of A by QR, so that none is squared; tall data without a penalty in units of their own.

    Of several solutions `solve` gives the shortest, in the units of X.
    """
    scale = np.ones(data.order) if data.wide or ridge > 0.0 else data.scale()
    R = data.triangle(scale)
    with one_blas_thread():
        _, s, Vt = svd(R, full_matrices=True, check_finite=False)
        s = np.concatenate([s, np.zeros(data.order - len(s))])
        cut = 4 * FLOAT_EPS * max(len(data.rows), data.rows.n_features) * float(s[0])
        s[s <= cut] = 0.0
        null = np.zeros((data.order, 0))
        if not data.wide and ridge == 0.0 and not s.all():
            null = qr(Vt[s == 0.0].T / scale[:, None], mode="economic", pivoting=True)[0]
    return SpectralSystem(data.wide, np.ascontiguousarray(Vt.T), s, scale, null, ridge, cut)


@dataclass(frozen=True)
class KrylovSystem:
    """Conjugate gradients on ``A'A + ridge``: products with the rows only, and nothing to hold."""

    data: SquaresData
    ridge: float
    wide: bool = False

    def solve(self, g: np.ndarray) -> np.ndarray:
        """A step that reduces the gradient, within the span of the rows: so the limit is the shortest."""
        x, residual = np.zeros_like(g), g.copy()
        direction, square = residual.copy(), float(g @ g)
        target = CG_TARGET**2 * square
        for _ in range(CG_STEPS):
            if square <= target or square == 0.0:
                break
            along = self.data.centred(self.data.rows.dot(direction))
            image = self.data.combine(along) + self.ridge * direction
            length = square / float(direction @ image)
            x += length * direction
            residual -= length * image
            before, square = square, float(residual @ residual)
            direction = residual + (square / before) * direction
        return x

    def gain(self, w: np.ndarray, g: np.ndarray, e: np.ndarray, reach: float) -> float:
        """The slope times the length of the way; from w = 0 no length is known."""
        slope = float(np.linalg.norm(g))
        return float(reach * np.linalg.norm(w) * slope) if w.any() or slope == 0.0 else np.inf

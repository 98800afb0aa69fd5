"""The linear system of least squares and ridge: factorised once for all columns that share their rows.

With A of `data.py` and a ridge of 1 or 0, tall data need ``(A'A + ridge)^{-1}`` and wide data
``(AA' + ridge)^{-1}``. There are three ways, each an object with `solve` for the system of the smaller order:

    CholeskySystem    ridge, up to MAX_CHOLESKY_ORDER
    SpectralSystem    singular values and vectors: no penalty, where the rank must be known; paths over C
    KrylovSystem      conjugate gradients on A'A, of any size
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpotri, dpotrs

from ..._native import one_blas_thread
from ...numerics import interruptible
from ...solving import FLOAT_EPS
from ..linear import scaled_cholesky
from .data import SquaresData
from .hidden_directions import hidden_directions

MAX_CHOLESKY_ORDER = 3000  # of a matrix that is factorised by Cholesky
MAX_SPECTRAL_ORDER = 1000  # of a matrix that is factorised by singular values
ENTRY_ROUNDING = 8 * FLOAT_EPS  # relative error of a short sum, or of an entry of a scaled matrix
CG_STEPS_PER_CERTIFICATE = 100  # at most
CG_GRADIENT_REDUCTION = 3e-2  # the factor by which conjugate gradients reduce the gradient


@dataclass(frozen=True)
class Unleveraged:
    """``rest = 1 - h``, h the leverage of each row, and its rounding errors.

    ``blur`` is its error; that of the row's residual is ``residual`` times ``||a / scale||`` for wide data,
    and times the sizes of target and output for tall data.
    """

    rest: np.ndarray
    blur: np.ndarray
    residual: np.ndarray


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
    if ridge > 0.0 and data.order <= MAX_CHOLESKY_ORDER:
        return CholeskySystem(data, ridge)
    if data.order <= MAX_SPECTRAL_ORDER:
        return spectral_system(data, ridge)
    return KrylovSystem(data, ridge)


class CholeskySystem:
    """The factor of a matrix scaled to a unit diagonal, so that features may be of any size.

    If the rows' coefficients are the unknowns and there is an intercept, no right-hand side has a component
    along ``sqrt(c)``. The eigenvalue of that direction is the ridge; the trace is added to it, because
    otherwise it would dominate the inverse at a large C.
    """

    def __init__(self, data: SquaresData, ridge: float, wide: bool | None = None) -> None:
        self.data, self.ridge = data, ridge
        self.wide = data.wide if wide is None else wide
        matrix = data.gram_of_rows() if self.wide else data.gram_of_features()
        self.apart = float(matrix.trace()) if self.wide and data.free else 0.0
        matrix.flat[:: len(matrix) + 1] += ridge
        if self.apart > 0.0:
            matrix += (self.apart / data.total) * np.outer(data.root, data.root)
        with one_blas_thread():
            self.factor, self.scale = scaled_cholesky(matrix)

    def solve(self, g: np.ndarray) -> np.ndarray:
        """The solution for one right side."""
        return np.asarray(self.scale * dpotrs(self.factor, self.scale * g, lower=1)[0])

    def gain(self, w: np.ndarray, g: np.ndarray, e: np.ndarray, reach: float) -> float:
        """Not needed: a ridge has a dual bound."""
        raise NotImplementedError

    def unleveraged(self) -> Unleveraged:
        """From the diagonal of the inverse, or as 1 minus the leverages."""
        share = self.data.cost / self.data.total if self.data.free else np.zeros(len(self.data.rows))
        with one_blas_thread():
            if self.wide:
                return self._from_inverse(share)
            rest = np.concatenate([1.0 - part for part in self._leverages()]) - share
        size = np.full(len(rest), ENTRY_ROUNDING * np.sqrt(self.data.rows.n_features))
        return Unleveraged(rest, size, size)

    def _from_inverse(self, share: np.ndarray) -> Unleveraged:
        inverse = dpotri(self.factor, lower=1)[0]
        diagonal = inverse.diagonal().copy()
        squares = np.einsum("ij,ij->i", inverse, inverse) + np.einsum("ij,ij->j", inverse, inverse)
        squares -= diagonal**2  # of the rows of the inverse, of which the upper half is 0
        known = self.ridge * share / (self.ridge + self.apart)
        size = ENTRY_ROUNDING * np.sqrt(len(share))
        blur = self.ridge * self.scale**2 * size * squares + ENTRY_ROUNDING * known
        residual = self.scale * size * np.sqrt(squares) / self.data.root
        return Unleveraged(self.ridge * self.scale**2 * diagonal - known, blur, residual)

    def _leverages(self) -> Iterator[np.ndarray]:
        """The diagonal of ``A (A'A + ridge)^{-1} A'``, some rows at a time."""
        for block in self.data.row_blocks():
            block *= self.scale
            image = solve_triangular(self.factor, block.T, lower=True, overwrite_b=True, check_finite=False)
            yield np.einsum("ji,ji->i", image, image)


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
    hidden: np.ndarray  # what residuals can lose along directions that count as 0, but differ

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
        """Exact along directions that count, up to their own error, and along hidden ones; along others slope
        times length.
        """
        kept = self.s > 0.0
        error = self.cut / self.s[kept] * np.linalg.norm(e)  # of a direction, times what it is multiplied by
        with one_blas_thread():
            along = self.V.T @ (e if self.wide else g / self.scale)
        if self.wide:
            inner, slope = along[kept], self.cut * np.linalg.norm(along[~kept])
        else:
            inner, slope = along[kept] / self.s[kept], np.linalg.norm(along[~kept])
        length = reach * np.linalg.norm(w if self.wide else self.scale * w)
        hidden = 0.5 * float(np.sum(np.square(self.hidden.T @ e)))
        return float(0.5 * np.sum((np.abs(inner) + error) ** 2) + length * slope) + hidden


def spectral_system(data: SquaresData, ridge: float) -> SpectralSystem:
    """Singular values of A by QR, so that none is squared; tall data without a penalty in units of their own.

    Of several solutions `solve` gives the shortest, in the units of X.
    """
    scale = np.ones(data.order) if data.wide or ridge > 0.0 else data.scale()
    R = data.triangle(scale)
    with one_blas_thread():
        _, s, Vt = interruptible(lambda: np.linalg.svd(R), len(R), data.rows.cancel)
        s = np.concatenate([s, np.zeros(data.order - len(s))])
        cut = 4 * FLOAT_EPS * max(len(data.rows), data.rows.n_features) * float(s[0])
        offset = data.centre / (1.0 if data.wide else scale)  # subtracting it rounds
        cut += 2 * FLOAT_EPS * np.sqrt(data.total) * float(np.linalg.norm(offset))
        s[s <= cut] = 0.0
        V = np.ascontiguousarray(Vt.T)
        null, hidden = np.zeros((data.order, 0)), np.zeros((len(data.rows), 0))
        if ridge == 0.0:
            hidden = hidden_directions(data, V, s, scale)
        if not data.wide and ridge == 0.0 and not s.all():
            null = qr(Vt[s == 0.0].T / scale[:, None], mode="economic", pivoting=True)[0]
    return SpectralSystem(data.wide, V, s, scale, null, ridge, cut, hidden)


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
        target = CG_GRADIENT_REDUCTION**2 * square
        for _ in range(CG_STEPS_PER_CERTIFICATE):
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

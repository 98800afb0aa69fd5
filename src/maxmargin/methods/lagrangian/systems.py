"""The linear system of the Lagrangian SVM, in three forms: features, a kernel matrix, eigen features.

    G = K + 1 1',    R = diag(1/c_i),    u = (G + R)^{-1} z

are the residuals, times their costs c_i, of a ridge regression of z in which the intercept is a feature of
value 1. The multipliers of the SVM are a = y u, and HH' + R = diag(y) (G + R) diag(y): so one system serves
all columns of a code that have the same rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ... import _native
from ...data import Rows
from ...solving import LINEAR_ROUNDING, RowPool, kernel_errors, linear_size
from .cholesky import Factor

__all__ = ["EigenSystem", "FeatureSystem", "KernelSystem", "RidgeSystem", "WideSystem"]


class RidgeSystem(Protocol):
    """``(G + R)^{-1}``, and functions f = sum_i u_i (k(x_i, .) + 1) as vectors of coefficients."""

    @property
    def cost(self) -> np.ndarray:
        """The c_i."""

    def factorise(self) -> None:
        """Factorise now rather than at the first call of ``solve``, so that threads can share the factor."""

    def solve(self, z: np.ndarray) -> np.ndarray:
        """``(G + R)^{-1} z``."""

    def combine(self, u: np.ndarray) -> np.ndarray:
        """The coefficients of the function that u stands for."""

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """``G u``: the values of that function at all rows."""

    def sqnorm(self, coef: np.ndarray, scores: np.ndarray) -> float:
        """``u' G u``, which is ||w||^2 + b^2."""

    def score_errors(self, coef: np.ndarray) -> np.ndarray | float:
        """How far rounding can move the scores."""

    def norm_error(self, u: np.ndarray, coef: np.ndarray) -> float:
        """How far rounding can move ``u' G u``, where ``coef = combine(u)``."""


class FeatureSystem:
    """Rows of features, dense or CSR: coefficients are (w, b), and one matrix of order d + 1 is factorised.

    With M = I + [X 1]' C [X 1] and C = diag(c), (G + R)^{-1} = C - C [X 1] M^{-1} [X 1]' C.
    """

    def __init__(self, rows: Rows, cost: np.ndarray) -> None:
        self.rows, self.cost = rows, cost

    def _matrix(self) -> np.ndarray:
        border = self.rows.sum(self.cost)[:, None]
        M = np.block([[self.rows.gram(self.cost), border], [border.T, self.cost.sum()]])
        M.flat[:: len(M) + 1] += 1.0
        return M

    @cached_property
    def _factor(self) -> Factor:
        with RowPool(self.rows.n_threads, self.rows.cancel) as pool:
            return Factor(self._matrix, pool)

    def factorise(self) -> None:
        """Factorise M."""
        _ = self._factor

    def _invert(self, right: np.ndarray) -> np.ndarray:
        """``M^{-1} right``."""
        return self._factor.solve(right)

    def solve(self, z: np.ndarray) -> np.ndarray:
        """The residuals of the regression, times their costs."""
        return self.cost * (z - self.scores(self._invert(self.combine(self.cost * z))))

    def combine(self, u: np.ndarray) -> np.ndarray:
        """``[X 1]' u``."""
        return np.append(self.rows.sum(u), u.sum())

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """``X w + b``."""
        return self.rows.dot(coef[:-1]) + coef[-1]

    def sqnorm(self, coef: np.ndarray, scores: np.ndarray) -> float:
        """``||w||^2 + b^2``."""
        return float(coef @ coef)

    @cached_property
    def _largest_norm(self) -> float:
        return float(np.sqrt(self.rows.sqnorms().max(initial=0.0)))

    def score_errors(self, coef: np.ndarray) -> np.ndarray | float:
        """The same bound for all rows."""
        return LINEAR_ROUNDING * linear_size(self._largest_norm, coef[:-1], float(coef[-1]))

    def norm_error(self, u: np.ndarray, coef: np.ndarray) -> float:
        """By errors of the sums ``[X 1]' u``."""
        error = LINEAR_ROUNDING * (self._largest_norm + 1.0) * float(np.abs(u).sum())
        return error * (2.0 * float(np.linalg.norm(coef)) + error)


class WideSystem(FeatureSystem):
    """More features than rows: a matrix of the order of the rows is factorised, in double."""

    def __init__(self, rows: Rows, cost: np.ndarray) -> None:
        super().__init__(rows, cost)
        if rows.X.dtype != np.float64:
            rows = replace(rows, X=rows.X[rows.index].astype(np.float64), index=np.arange(len(rows)))
        self._kernel = KernelSystem(rows.products() + 1.0, cost, rows.n_threads, rows.cancel)

    def factorise(self) -> None:
        """Factorise ``G + R``."""
        self._kernel.factorise()

    def solve(self, z: np.ndarray) -> np.ndarray:
        """``(G + R)^{-1} z``."""
        return self._kernel.solve(z)


class EigenSystem(FeatureSystem):
    """Features D with ``D' C D = diag(l)``: M is an arrow matrix, solved in as many steps as it has rows."""

    def __init__(self, rows: Rows, cost: np.ndarray, eigenvalues: np.ndarray) -> None:
        super().__init__(rows, cost)
        self.diagonal = 1.0 + eigenvalues
        self.border = rows.sum(cost)
        self.ratio = self.border / self.diagonal
        self.tip = 1.0 + float(cost.sum()) - float(self.border @ self.ratio)

    def factorise(self) -> None:
        """Nothing to factorise."""

    def _invert(self, right: np.ndarray) -> np.ndarray:
        b = (right[-1] - self.ratio @ right[:-1]) / self.tip
        return np.append(right[:-1] / self.diagonal - b * self.ratio, b)


class KernelSystem:
    """A matrix G = K + 1 1' that is held: coefficients are u itself."""

    def __init__(
        self, G: np.ndarray, cost: np.ndarray, n_threads: int = 1, cancel: np.ndarray = _native.NEVER
    ) -> None:
        self.G, self.cost, self.n_threads, self.cancel = G, cost, n_threads, cancel

    @cached_property
    def _all(self) -> Factor:
        return self.factor(np.arange(len(self.cost)))

    def factor(self, which: np.ndarray) -> Factor:
        """Of ``G + R`` for some of the rows."""

        def build() -> np.ndarray:
            every = len(which) == len(self.cost)
            A = self.G.copy() if every else self.G[np.ix_(which, which)]
            A.flat[:: len(A) + 1] += 1.0 / self.cost[which]
            return A

        try:
            with RowPool(self.n_threads, self.cancel) as pool:
                return Factor(build, pool)
        except np.linalg.LinAlgError:
            raise ValueError(
                "the kernel matrix has eigenvalues below -1 / (C times a weight), so the problem has no "
                "solution. Lower C, use a positive kernel, or set n_components, which drops eigenvectors "
                "with negative eigenvalues."
            ) from None

    def factorise(self) -> None:
        """Factorise G + R."""
        _ = self._all

    def first(self, n: int) -> KernelSystem:
        """The system of the first rows, with costs scaled up so that they represent all; G is not copied."""
        cost = self.cost[:n] * (self.cost.sum() / self.cost[:n].sum())
        return KernelSystem(self.G[:n, :n], cost, self.n_threads, self.cancel)

    def solve(self, z: np.ndarray) -> np.ndarray:
        """``(G + R)^{-1} z``."""
        return self._all.solve(z)

    def combine(self, u: np.ndarray) -> np.ndarray:
        """``u``."""
        return u

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """``G u``."""
        return self.G @ coef

    def sqnorm(self, coef: np.ndarray, scores: np.ndarray) -> float:
        """``u' G u``."""
        return float(coef @ scores)

    def score_errors(self, coef: np.ndarray) -> np.ndarray | float:
        """Of sums whose terms cancel where u is large and the function is small."""
        return kernel_errors(coef, self._lengths, self._lengths)

    def norm_error(self, u: np.ndarray, coef: np.ndarray) -> float:
        """Errors of the scores are taken to be independent: their sum would be far too pessimistic."""
        return float(np.linalg.norm(u * self.score_errors(coef)))

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.sqrt(np.abs(self.G.diagonal()))

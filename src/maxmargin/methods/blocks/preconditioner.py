"""The Hessian of a sample, with which conjugate gradients need few passes.

Up to some thousands of features it is one matrix for all columns, and factored. Beyond, systems with each
column's own are solved by conjugate gradients in memory; their diagonal has more weight the fewer rows the
sample has for a feature, because it then knows little of how features go together.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._native import one_blas_thread
from .rows import RowBlock
from .sums import BlockProblem, SampleHessian, pooled_hessian

__all__ = ["MAX_PRECONDITIONER_ORDER", "Preconditioner", "ratio"]

MAX_PRECONDITIONER_ORDER = 4000  # that is factored: a matrix of 128 MB
MAX_PRODUCTS = 60  # with the sample's Hessian, which take no pass
RESIDUAL_SHARE = 0.1


class Preconditioner:
    """About ``(H_t + alpha I)^{-1}`` with H_t the Hessian of column t on a sample."""

    def __init__(self, problem: BlockProblem, V: np.ndarray, sample: RowBlock, columns: np.ndarray) -> None:
        p = problem.features.n_features
        self.is_factored = p <= MAX_PRECONDITIONER_ORDER
        ridge = np.full(p, problem.alpha)
        with one_blas_thread():
            H = pooled_hessian(sample, problem, V, not self.is_factored)
            own = np.diagonal(H) if self.is_factored else H
            if problem.free_intercept:
                ridge[-1] = 1e-12 * float(own[-1]) if own[-1] > 0.0 else problem.alpha
            if self.is_factored:
                H[np.diag_indices_from(H)] += ridge + 1e-14 * float(np.trace(H))
                self.factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
                return
            self.hessian = SampleHessian.at(problem, V, sample, columns)
            self.ridge, self.diagonal = ridge[:, None], (H + ridge)[:, None]
            self.share = len(sample) / (len(sample) + p)  # of the Hessian, beside its diagonal

    def __call__(self, R: np.ndarray) -> np.ndarray:
        """The product with each column of R."""
        with one_blas_thread():
            if self.is_factored:
                return np.asarray(cho_solve(self.factor, R, check_finite=False))
            return self._solved(R)

    def _product(self, S: np.ndarray) -> np.ndarray:
        away = (1.0 - self.share) * (self.diagonal - self.ridge)
        return self.share * self.hessian.times(S) + (away + self.ridge) * S

    def _solved(self, R: np.ndarray) -> np.ndarray:
        D, R = np.zeros_like(R), R.copy()
        S = R / self.diagonal
        rho = (R * S).sum(axis=0)
        enough = RESIDUAL_SHARE**2 * rho
        for _ in range(MAX_PRODUCTS):
            if (rho <= enough).all():
                break
            Q = self._product(S)
            rate = ratio(rho, (S * Q).sum(axis=0))
            D += rate * S
            R -= rate * Q
            Z = R / self.diagonal
            rho, before = (R * Z).sum(axis=0), rho
            S = Z + ratio(rho, before) * S
        return D


def ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a / b``, and 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)

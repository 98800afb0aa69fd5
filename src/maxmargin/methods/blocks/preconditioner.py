"""The Hessian of a sample, shared by all columns, with which conjugate gradients need few passes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._native import one_blas_thread
from .rows import RowBlock
from .sums import BlockProblem, pooled_hessian

__all__ = ["MAX_PRECONDITIONER_ORDER", "Preconditioner"]

MAX_PRECONDITIONER_ORDER = 4000  # beyond it only the diagonal is used: a matrix of 128 MB


class Preconditioner:
    """``(H + alpha I)^{-1}`` with H the mean of the columns' Hessians on a sample."""

    def __init__(self, problem: BlockProblem, V: np.ndarray, sample: RowBlock) -> None:
        p = problem.features.n_features
        self.is_diagonal = p > MAX_PRECONDITIONER_ORDER
        with one_blas_thread():
            H = pooled_hessian(sample, problem, V, self.is_diagonal)
            ridge = np.full(p, problem.alpha)
            own = H if self.is_diagonal else np.diagonal(H)
            if problem.free_intercept:
                ridge[-1] = 1e-12 * float(own[-1]) if own[-1] > 0.0 else problem.alpha
            if self.is_diagonal:
                self.diagonal = H + ridge
            else:
                H[np.diag_indices_from(H)] += ridge + 1e-14 * float(np.trace(H))
                self.factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, R: np.ndarray) -> np.ndarray:
        """The product with each column of R."""
        if self.is_diagonal:
            return R / self.diagonal[:, None]
        with one_blas_thread():
            return np.asarray(cho_solve(self.factor, R, check_finite=False))

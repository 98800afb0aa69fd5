"""Left-out margins, if no other sample changes its kind: the span of the support vectors.

A sample is of one of three kinds: a_i = 0, free, or at its bound (hinge). If all samples but the one left
out keep their kinds, free samples keep margin 1, and the change follows from a linear system. Let A
be the kernel matrix of the free samples, bordered by ones for a free intercept. The margin of a sample with
dual variable a_i falls by a_i S_i^2, where S_i is the distance from its feature vector to the (affine) span
of the other free samples:

    S_i^2 = 1 / (A^{-1})_ii for a free sample,     k_ii - v_i' A^{-1} v_i for one at its bound.

For the squared hinge all support vectors are free and A = K + diag(1/c): the residual of a sample left out is
a_i / (A^{-1})_ii.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..kernels import KernelData
from .kinds import DoesNotApply, FloatArray

__all__ = ["SupportProblem", "margins_left_out"]

MAX_FREE_SUPPORT_VECTORS = 4000  # the order of a dense matrix in memory
COLUMNS_PER_SOLVE = 512
RELATIVE_RIDGE = 1e-12  # times the mean diagonal, for points in the span of others
BOUND_SLACK = 1e-8  # relative distance below which a dual variable is at its bound


@dataclass(frozen=True)
class SupportProblem:
    """A two-class problem and its solution.

    ``duals`` and ``cost`` belong to one observation; ``counts`` are the observations of each row, which all
    have the same dual variable. ``constant`` is added to the kernel: 1 for a penalised intercept.
    ``bordered`` marks a free intercept.
    """

    kernel: KernelData
    margins: FloatArray
    duals: FloatArray
    cost: FloatArray
    counts: FloatArray
    squared: bool = False
    constant: float = 0.0
    bordered: bool = False


class _Bordered:
    """``A^{-1}`` for A = K, or K bordered by ones, through a Cholesky factor of K."""

    def __init__(self, K: FloatArray, bordered: bool) -> None:
        K[np.diag_indices_from(K)] += RELATIVE_RIDGE * max(float(K.trace()) / max(len(K), 1), 1e-100)
        self.factor = cho_factor(K, lower=True)
        self.bordered = bordered
        self.ones = cho_solve(self.factor, np.ones(len(K)))
        self.total = float(self.ones.sum())

    def diagonal(self) -> FloatArray:
        """``(A^{-1})_ii`` of the samples."""
        n = len(self.ones)
        diagonal = np.empty(n)
        for start in range(0, n, COLUMNS_PER_SOLVE):
            some = np.arange(start, min(start + COLUMNS_PER_SOLVE, n))
            unit = np.zeros((n, len(some)))
            unit[some, np.arange(len(some))] = 1.0
            diagonal[some] = cho_solve(self.factor, unit)[some, np.arange(len(some))]
        return diagonal - self.ones**2 / self.total if self.bordered else diagonal

    def quadratic(self, V: FloatArray) -> FloatArray:
        """``v' A^{-1} v`` of each row, followed by a 1 where A is bordered."""
        plain = np.einsum("ij,ji->i", V, cho_solve(self.factor, V.T))
        if not self.bordered:
            return plain
        return plain - (V @ self.ones - 1.0) ** 2 / self.total


def margins_left_out(problem: SupportProblem) -> FloatArray:
    """Each sample's margin when one observation of its row is left out and no other changes its kind.

    Parameters
    ----------
    problem : SupportProblem

    Returns
    -------
    ndarray of shape (n_rows,)
        ``-inf`` where no free sample is left to fix the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelSVC, bounds
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = KernelSVC(gamma=1.0).fit(X, X[:, 0] > 0)
    >>> bounds.report(model, X, X[:, 0] > 0)["span"].value < 0.2  # is computed from these margins
    True
    """
    support = problem.duals > 0.0
    free = support & (problem.squared | (problem.duals < (1.0 - BOUND_SLACK) * problem.cost))
    if free.sum() > MAX_FREE_SUPPORT_VECTORS:
        raise DoesNotApply(
            f"there are {int(free.sum())} free support vectors, and its dense matrix is limited to "
            f"{MAX_FREE_SUPPORT_VECTORS}."
        )
    which, out = np.flatnonzero(free), problem.margins.copy()
    K = _kernel(problem, which, which)
    if problem.squared:
        out[which] = _squared(problem, which, K)
        return out
    system = _Bordered(K, problem.bordered) if len(which) else None
    if system is not None:
        alone = problem.counts[which] == 1.0  # equal observations stay in each other's span
        with np.errstate(divide="ignore"):
            spans = 1.0 / np.maximum(system.diagonal(), 0.0)
        out[which] -= problem.duals[which] * np.where(alone, spans, 0.0)
    at_bound = np.flatnonzero(support & ~free)
    for start in range(0, len(at_bound), COLUMNS_PER_SOLVE):
        some = at_bound[start : start + COLUMNS_PER_SOLVE]
        spans = problem.kernel.lengths(some) ** 2 + problem.constant
        if system is not None:
            spans = np.maximum(spans - system.quadratic(_kernel(problem, some, which)), 0.0)
        out[some] -= problem.duals[some] * spans
    return out


def _kernel(problem: SupportProblem, some: np.ndarray, others: np.ndarray) -> FloatArray:
    return problem.kernel.between(some, others).astype(np.float64) + problem.constant


def _squared(problem: SupportProblem, which: np.ndarray, K: FloatArray) -> FloatArray:
    """With r = 1/c for one observation, that of a row of w is r/w, and r/(w-1) when one is left out."""
    if not len(which):
        return np.empty(0)
    counts, cost = problem.counts[which], problem.cost[which]
    ridge = 1.0 / (counts * cost)
    K[np.diag_indices_from(K)] += ridge
    with np.errstate(divide="ignore"):
        span = 1.0 / np.maximum(_Bordered(K, problem.bordered).diagonal(), 0.0)
    without = problem.duals[which] * counts * span  # the residual with all observations of the row left out
    kept = np.multiply(span - ridge, (counts - 1.0) * cost, out=np.zeros_like(span), where=counts > 1.0)
    return 1.0 - without / (1.0 + np.maximum(kept, 0.0))

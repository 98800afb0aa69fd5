"""The last refit: all rows, kept as features where memory allows, streamed past where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..kernel_data import KernelData
from .budget_problem import BudgetProblem
from .feature_panel import AT_ONCE, FeaturePanel
from .growth_sample import column_costs
from .reduced_newton import ReducedProblem, Refit, refit
from .row_pool import row_blocks


class StreamedPanel(FeaturePanel):
    """A panel that keeps the features of its first rows only: the others' are computed for each product.

    Its Gram matrices are those of the rows it keeps, scaled to all: a Newton step with them is still a
    descent step, and the gradient and the gap are exact.
    """

    exact_gram = False

    def __init__(self, kernel: KernelData, sample: FeaturePanel, n_kept: int) -> None:
        super().__init__(kernel, 0, sample.pool)
        self.points, self.size, self._factor = sample.points, sample.size, sample.factor
        self.kept = sample.on(kernel.take(slice(0, n_kept)))
        self.n_kept = n_kept

    def _streamed(self) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows that are not kept, with their kernel values."""
        for some in row_blocks(len(self.kernel) - self.n_kept, AT_ONCE):
            rows = slice(some.start + self.n_kept, some.stop + self.n_kept)
            yield rows, self.kernel.block(rows, self.points)

    def dot(self, V: np.ndarray) -> np.ndarray:
        """``K(rows, Z) L^{-T} V``."""
        out = np.empty((len(self.kernel), V.shape[1]))
        out[: self.n_kept] = self.kept.dot(V)
        a = self.coef(V).astype(self.kernel.dtype)
        for rows, K in self._streamed():
            parts = self.pool.map(_product(K, a), row_blocks(len(K), AT_ONCE // 8))
            out[rows] = np.concatenate(parts)
        return out

    def tdot(self, R: np.ndarray, b: int) -> np.ndarray:
        """``L^{-1} K(Z, rows) R``."""
        total = np.zeros((b, R.shape[1]))
        for rows, K in self._streamed():
            r = R[rows].astype(K.dtype)
            total += self.pool.sum(_transposed_product(K, r), row_blocks(len(K), AT_ONCE // 8))
        return self.solve_factor(total) + self.kept.tdot(R[: self.n_kept], b)

    def gram(self, which: np.ndarray, weight: np.ndarray, b: int, *, alone: bool = True) -> np.ndarray:
        """The Gram matrix of those among the rows that are kept, scaled to the weight of all."""
        known = which < self.n_kept
        total = float(weight[known].sum())
        scale = float(weight.sum()) / total if total > 0.0 else 0.0
        return self.kept.gram(which[known], scale * weight[known], b, alone=alone)


def _product(K: np.ndarray, a: np.ndarray) -> Callable[[slice], np.ndarray]:
    return lambda some: K[some] @ a


def _transposed_product(K: np.ndarray, r: np.ndarray) -> Callable[[slice], np.ndarray]:
    return lambda some: (K[some].T @ r[some]).astype(np.float64)


def refit_on_all_rows(
    problem: BudgetProblem,
    sample: FeaturePanel,
    n_trained: int,
    start: tuple[np.ndarray, float],
    limits: tuple[int, float],
) -> Refit:
    """Coefficients of the sample's support vectors on the first ``n_trained`` rows of the problem.

    ``start`` holds the sample's coefficients and alpha, ``limits`` the bytes for features and the
    tolerance.
    """
    (V, alpha), (cache_bytes, tol) = start, limits
    kernel = problem.kernel.take(slice(0, n_trained))
    n_kept = cache_bytes // (max(sample.size, 1) * kernel.dtype.itemsize)
    fits = n_kept >= n_trained
    panel = sample.on(kernel) if fits else StreamedPanel(kernel, sample, n_kept)
    targets = problem.targets[:n_trained].astype(np.float64)
    cost = column_costs(targets, problem.weight[:n_trained], n_trained)
    reduced = ReducedProblem(panel, targets, cost, problem.loss, alpha)
    result = refit(reduced, V, panel.dot(V), tol, exact=True)
    problem.kernel.n_values += kernel.n_values
    return result

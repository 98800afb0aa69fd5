"""The last refit: all rows, kept as features where memory allows, streamed past where it does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernel_data import KernelData
from .budget_problem import BudgetProblem
from .feature_panel import AT_ONCE, FeaturePanel
from .growth_sample import column_costs
from .reduced_newton import ReducedProblem, Refit, refit
from .row_pool import row_blocks

LEAST_AT_ONCE = 256  # rows whose kernel values are computed in one call, however small the cache


class StreamedPanel(FeaturePanel):
    """A panel that keeps no features of its own: kernel values are computed again for each product.

    Its Gram matrices are those of the sample that the support vectors were grown on, scaled to all rows: a
    Newton step with them is still a descent step, and the gradient and the gap are exact.
    """

    exact_gram = False

    def __init__(
        self, kernel: KernelData, sample: FeaturePanel, n_sampled: int, at_once: int = AT_ONCE
    ) -> None:
        super().__init__(kernel, 0, sample.pool)
        self.sample, self.n_sampled, self.at_once = sample, n_sampled, at_once
        self.points, self.size, self._factor = sample.points, sample.size, sample.factor

    def dot(self, V: np.ndarray) -> np.ndarray:
        """``K(rows, Z) L^{-T} V``."""
        out = np.empty((len(self.kernel), V.shape[1]))
        a = self.coef(V).astype(self.kernel.dtype)
        for rows in row_blocks(len(self.kernel), self.at_once):
            out[rows] = self._times(self.kernel.block(rows, self.points), a)
        return out

    def _times(self, K: np.ndarray, a: np.ndarray) -> np.ndarray:
        return np.concatenate(self.pool.map(lambda some: K[some] @ a, row_blocks(len(K), AT_ONCE // 8)))

    def tdot(self, R: np.ndarray, b: int) -> np.ndarray:
        """``L^{-1} K(Z, rows) R``."""
        total = np.zeros((b, R.shape[1]))
        for rows in row_blocks(len(self.kernel), self.at_once):
            K, r = self.kernel.block(rows, self.points), R[rows].astype(self.kernel.dtype)
            parts = row_blocks(len(K), AT_ONCE // 8)
            total += self.pool.sum(_transposed_product(K, r), parts)
        return self.solve_factor(total)

    def gram(self, which: np.ndarray, weight: np.ndarray, b: int, *, alone: bool = True) -> np.ndarray:
        """The Gram matrix of the sampled ones among the rows, scaled to the weight of all.

        That of the rows themselves where they are no more than the sample.
        """
        if len(which) <= self.n_sampled:
            return self._gram_of_few(which, weight, b)
        known = which < self.n_sampled
        total = float(weight[known].sum())
        scale = float(weight.sum()) / total if total > 0.0 else 0.0
        return self.sample.gram(which[known], scale * weight[known], b, alone=alone)

    def _gram_of_few(self, which: np.ndarray, weight: np.ndarray, b: int) -> np.ndarray:
        total = np.zeros((b, b))
        for some in row_blocks(len(which), self.at_once):
            K = self.kernel.block(which[some], self.points).astype(np.float64)
            K *= np.sqrt(weight[some])[:, None]
            total += K.T @ K
        return self.solve_factor(self.solve_factor(total).T)


def _transposed_product(K: np.ndarray, r: np.ndarray) -> Callable[[slice], np.ndarray]:
    return lambda some: (K[some].T @ r[some]).astype(np.float64)


def refit_on_all_rows(
    problem: BudgetProblem,
    sample: FeaturePanel,
    n_sampled: int,
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
    panel: FeaturePanel
    room = (cache_bytes - sample.n_bytes) // max(1, sample.size * kernel.dtype.itemsize)  # in rows
    if n_trained <= room:
        panel = sample.on(kernel)
    else:
        panel = StreamedPanel(kernel, sample, n_sampled, int(np.clip(room, LEAST_AT_ONCE, AT_ONCE)))
    targets = problem.targets[:n_trained].astype(np.float64)
    cost = column_costs(targets, problem.weight[:n_trained], n_trained)
    reduced = ReducedProblem(panel, targets, cost, problem.loss, alpha)
    result = refit(reduced, V, panel.dot(V), tol, exact=True)
    problem.kernel.n_values += kernel.n_values
    return result

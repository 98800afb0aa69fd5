"""The last refit: all rows, kept as features where memory allows, streamed past where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...kernels import KernelData
from ...numerics import AT_ONCE, FeaturePanel
from ...solving import row_blocks
from .growth_sample import column_costs
from .problem import BudgetProblem
from .reduced_newton import ReducedProblem, Refit, refit

LEAST_AT_ONCE = 256  # rows whose kernel values are computed in one call, however small the cache


class StreamedPanel(FeaturePanel):
    """A panel that has the features of its first rows only: the others' are computed for each product.

    ``kept`` holds features of the first ``n_kept`` rows, and perhaps of some that are not ours. Gram matrices
    are those of the rows it keeps, scaled to all: a Newton step with them is still a descent step, and the
    gradient and the gap are exact.
    """

    exact_gram = False

    def __init__(self, kernel: KernelData, kept: FeaturePanel, n_kept: int, at_once: int) -> None:
        super().__init__(kernel, 0, kept.pool)
        self.kept, self.n_kept, self.at_once = kept, n_kept, at_once
        self.points, self.size, self._factor = kept.points, kept.size, kept.factor

    def _streamed(self) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows that are not kept, with their kernel values."""
        for some in row_blocks(len(self.kernel) - self.n_kept, self.at_once):
            rows = slice(some.start + self.n_kept, some.stop + self.n_kept)
            yield rows, self.kernel.block(rows, self.points)

    def dot(self, V: np.ndarray) -> np.ndarray:
        """``K(rows, Z) L^{-T} V``."""
        out = np.empty((len(self.kernel), V.shape[1]))
        out[: self.n_kept] = self.kept.dot(V)[: self.n_kept]
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
        here = np.zeros((len(self.kept.kernel), R.shape[1]))
        here[: self.n_kept] = R[: self.n_kept]
        return self.solve_factor(total) + self.kept.tdot(here, b)

    def gram(self, which: np.ndarray, weight: np.ndarray, b: int, *, alone: bool = True) -> np.ndarray:
        """The Gram matrix of those among the rows that are kept, scaled to the weight of all.

        That of the rows themselves where they are no more than are kept.
        """
        if len(which) <= self.n_kept:
            return self._gram_of_few(which, weight, b)
        known = which < self.n_kept
        total = float(weight[known].sum())
        scale = float(weight.sum()) / total if total > 0.0 else 0.0
        return self.kept.gram(which[known], scale * weight[known], b, alone=alone)

    def _gram_of_few(self, which: np.ndarray, weight: np.ndarray, b: int) -> np.ndarray:
        known = which < self.n_kept
        result = self.kept.gram(which[known], weight[known], b, alone=False)
        which, weight, total = which[~known], weight[~known], np.zeros((b, b))
        for some in row_blocks(len(which), self.at_once):
            K = self.kernel.block(which[some], self.points).astype(np.float64)
            K *= np.sqrt(weight[some])[:, None]
            total += K.T @ K
        return result + self.solve_factor(self.solve_factor(total).T)


def _product(K: np.ndarray, a: np.ndarray) -> Callable[[slice], np.ndarray]:
    return lambda some: K[some] @ a


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
    room = (cache_bytes - sample.n_bytes) // max(1, sample.size * kernel.dtype.itemsize)  # in rows
    panel: FeaturePanel
    if n_trained <= room:
        panel = sample.on(kernel)
    else:
        at_once = int(np.clip(room, LEAST_AT_ONCE, AT_ONCE))
        kept, n_kept = sample, n_sampled
        if room - at_once > 2 * n_sampled:
            n_kept = room - at_once
            kept = sample.on(kernel.take(slice(0, n_kept)))
        panel = StreamedPanel(kernel, kept, n_kept, at_once)
    targets = problem.targets[:n_trained].astype(np.float64)
    cost = column_costs(targets, problem.weight[:n_trained], n_trained)
    reduced = ReducedProblem(panel, targets, cost, problem.loss, alpha)
    result = refit(reduced, V, panel.dot(V), tol, exact=True)
    problem.kernel.n_values += kernel.n_values
    return result

"""What a pass computes for a block: losses, gradients, curvatures, and the dual's sums.

For column t with targets y_it in {-1, 0, +1}, costs c_it = w_i / n_t and margins m_it = y_it f_t(x_i), a pass
at V sums over the rows

    c_it loss(m_it),    c_it u_it y_it phi_i,    c_it loss''(m_it) phi_i phi_i',    u_it = -loss'(m_it) >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...codes import Code
from ...data import label_numbers
from ...losses import SmoothLoss
from ...solving import row_blocks
from .features import BlockFeatures, check_cancelled
from .rows import RowBlock

__all__ = [
    "BlockProblem",
    "NewtonSums",
    "NewtonTask",
    "ProductSums",
    "ProductTask",
    "SampleHessian",
    "newton_sums",
    "pooled_hessian",
    "product_sums",
]

MAX_UNCUT_PRODUCTS = 1 << 31  # of numbers, in one matrix product: a deadline cuts between two
UNKNOWN_LABELS = (
    "y has labels {labels} that an earlier pass over the same blocks did not show, only {classes}."
)


@dataclass(frozen=True)
class BlockProblem:
    """Minimise over the columns v_t of V the sum over t of

        alpha/2 ||v_t||^2 + (1/n_t) sum_i w_i loss(y_it phi(x_i)'v_t).

    n_t is the weight of the rows that take part in column t. With ``free_intercept`` the last feature, which
    is 1, is not penalised.
    """

    features: BlockFeatures
    code: Code
    classes: np.ndarray
    class_weight: np.ndarray  # multiplies the weights of each class's rows
    totals: np.ndarray  # n_t
    loss: SmoothLoss
    alpha: float
    free_intercept: bool = False
    total_costs: np.ndarray | float = 1.0  # of all rows in each column
    by_column: bool = False  # whether each column has to reach the tolerance, or all together

    def penalty(self, V: np.ndarray) -> np.ndarray:
        """``alpha/2 ||v||^2`` of each column."""
        return 0.5 * self.alpha * np.square(self.penalised(V)).sum(axis=0)

    def penalised(self, V: np.ndarray) -> np.ndarray:
        """The part of V, or of a gradient, that the norm counts."""
        return V[:-1] if self.free_intercept else V

    def columns(self, block: RowBlock) -> tuple[np.ndarray, np.ndarray]:
        """Targets and costs of the rows of a block, (n_rows, n_columns)."""
        labels = label_numbers(block.y, self.classes, UNKNOWN_LABELS)
        targets = self.code.targets(labels).astype(np.float64)
        weight = block.weight * self.class_weight[labels]
        return targets, np.where(targets != 0.0, weight[:, None], 0.0) / self.totals


@dataclass(frozen=True)
class NewtonTask:
    """A pass at V. ``step`` is what led there: losses are computed along it, at V - (1 - s) step."""

    problem: BlockProblem
    V: np.ndarray
    step: np.ndarray | None = None
    shares: tuple[float, ...] = ()  # s
    with_hessians: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # columns
    double: bool = False
    double_hessians: bool = False


@dataclass
class NewtonSums:
    """Sums over rows; those of g and u, and of what is a function of u, are apart for targets +1 and -1."""

    costs: np.ndarray  # c, ``total_costs`` if the rows are those of the first pass, (n_columns,)
    losses: np.ndarray  # (n_columns,)
    along: np.ndarray  # losses along the step, (n_shares, n_columns)
    gradients: np.ndarray  # g, (2, n_features, n_columns)
    slopes: np.ndarray  # c u, (2, n_columns)
    squares: np.ndarray  # c u^2, (2, n_columns)
    entropies: np.ndarray  # -c loss*(-u) = c (loss(m) + u m), (2, n_columns)
    n_active: np.ndarray  # rows with a slope in some column, (1,)
    hessians: np.ndarray  # (n, n_features, n_features) of the columns asked for

    @classmethod
    def zero(cls, task: NewtonTask) -> NewtonSums:
        """The sums over no rows."""
        p, T = task.V.shape
        sizes = [(T,), (T,), (len(task.shares), T), (2, p, T), (2, T), (2, T), (2, T), (1,)]
        sizes.append((len(task.with_hessians), p, p))
        return cls(*(np.zeros(size) for size in sizes))

    def copy(self) -> NewtonSums:
        """The same sums in other memory."""
        return NewtonSums(*(each.copy() for each in vars(self).values()))

    def plus(self, other: NewtonSums) -> NewtonSums:
        """The sum of both, in this one's memory."""
        for mine, others in zip(vars(self).values(), vars(other).values(), strict=True):
            mine += others
        return self


def newton_sums(block: RowBlock, task: NewtonTask) -> NewtonSums:
    """The sums over the rows of one block."""
    problem, sums = task.problem, NewtonSums.zero(task)
    loss: SmoothLoss = problem.loss
    targets, costs = problem.columns(block)
    sums.costs += costs.sum(axis=0)
    dense = len(task.with_hessians) > 0
    for rows, phi in problem.features.parts(block, task.double, dense):
        y, c = targets[rows], costs[rows]
        f = (phi @ task.V.astype(phi.dtype)).astype(np.float64)
        if task.step is not None and task.shares:
            df = (phi @ task.step.astype(phi.dtype)).astype(np.float64)
            for k, share in enumerate(task.shares):
                sums.along[k] += (c * loss.value(y * (f - (1.0 - share) * df))).sum(axis=0)
        value, u = loss.value(y * f), -loss.slope(y * f)
        sums.losses += (c * value).sum(axis=0)
        sums.n_active += np.count_nonzero((c * u).any(axis=1))
        for sign, side in enumerate((y > 0.0, y < 0.0)):
            own = np.where(side, c * u, 0.0)
            sums.slopes[sign] += own.sum(axis=0)
            sums.squares[sign] += (own * u).sum(axis=0)
            sums.entropies[sign] += (np.where(side, c * value, 0.0) + own * y * f).sum(axis=0)
            sums.gradients[sign] += phi.T @ (own * y).astype(phi.dtype)
        _add_hessians(sums, phi, c * loss.curvature(y * f), task, block)
    return sums


def _add_hessians(
    sums: NewtonSums, phi: np.ndarray, curvature: np.ndarray, task: NewtonTask, block: RowBlock
) -> None:
    n_rows = max(MAX_UNCUT_PRODUCTS // max(phi.shape[1], 1) ** 2, 1)
    for k, t in enumerate(task.with_hessians):
        active = np.flatnonzero(curvature[:, t])
        for rows in row_blocks(len(active), n_rows):
            check_cancelled(block)
            some = active[rows]
            part = phi[some].astype(np.float64 if task.double_hessians else phi.dtype, copy=False)
            part *= np.sqrt(curvature[some, t]).astype(part.dtype)[:, None]
            sums.hessians[k] += part.T @ part


@dataclass(frozen=True)
class ProductTask:
    """Products of the Hessians at V with one direction in each column."""

    problem: BlockProblem
    V: np.ndarray
    directions: np.ndarray
    double: bool = False


@dataclass
class ProductSums:
    """``H_t d_t``, (n_features, n_columns)."""

    products: np.ndarray

    def copy(self) -> ProductSums:
        """The same sums in other memory."""
        return ProductSums(self.products.copy())

    def plus(self, other: ProductSums) -> ProductSums:
        """The sum of both, in this one's memory."""
        self.products += other.products
        return self


def product_sums(block: RowBlock, task: ProductTask) -> ProductSums:
    """The sums over the rows of one block."""
    problem, total = task.problem, np.zeros(task.V.shape)
    loss = problem.loss
    targets, costs = problem.columns(block)
    for rows, phi in problem.features.parts(block, task.double, dense=False):
        y = targets[rows]
        f = (phi @ task.V.astype(phi.dtype)).astype(np.float64)
        d = (phi @ task.directions.astype(phi.dtype)).astype(np.float64)
        total += phi.T @ (costs[rows] * loss.curvature(y * f) * d).astype(phi.dtype)
    return ProductSums(total)


@dataclass(frozen=True)
class SampleHessian:
    """The Hessians of some columns over rows in memory, for products with one vector each."""

    parts: list[tuple[Any, np.ndarray]]  # features of some rows, and the rows' curvatures

    @classmethod
    def at(cls, problem: BlockProblem, V: np.ndarray, block: RowBlock, columns: np.ndarray) -> SampleHessian:
        """Those at V; sparse features, of which there are many, are kept."""
        targets, costs = problem.columns(block)
        found = []
        for rows, phi in problem.features.parts(block, double=False, dense=False):
            y = targets[rows]
            f = (phi @ V.astype(phi.dtype)).astype(np.float64)
            curvature = (costs[rows] * problem.loss.curvature(y * f))[:, columns]
            found.append((phi if is_sparse(phi) else phi.copy(), curvature))
        return cls(found)

    def times(self, D: np.ndarray) -> np.ndarray:
        """``H_t d_t`` for each of the columns."""
        total = np.zeros_like(D)
        for phi, curvature in self.parts:
            f = (phi @ D.astype(phi.dtype)).astype(np.float64)
            total += phi.T @ (curvature * f).astype(phi.dtype)
        return total


def pooled_hessian(block: RowBlock, problem: BlockProblem, V: np.ndarray, diagonal: bool) -> np.ndarray:
    """The mean over the columns of the Hessians at V, over the rows of a block; or its diagonal."""
    p = problem.features.n_features
    total = np.zeros(p) if diagonal else np.zeros((p, p))
    targets, costs = problem.columns(block)
    for rows, phi in problem.features.parts(block, double=False, dense=not diagonal):
        y = targets[rows]
        f = (phi @ V.astype(phi.dtype)).astype(np.float64)
        curvature = (costs[rows] * problem.loss.curvature(y * f)).mean(axis=1).astype(phi.dtype)
        if diagonal:
            total += (phi.power(2) if is_sparse(phi) else np.square(phi)).T @ curvature
        else:
            part = phi * np.sqrt(curvature)[:, None]
            total += part.T @ part
    return total

"""Cross-validation in passes: each column once for every fold, fitted without the fold's rows.

A row's fold is a function of its entries, so equal rows stay together, and neither their order nor the blocks
matter. All folds of one problem share its features, which cost most of a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from ..._native import hash_rows
from ...data import label_numbers, mixed
from ...decoders import Decoder, decision_values, predicted_classes
from .fit import BlockPlan
from .rows import RowBlock
from .sums import UNKNOWN_LABELS, BlockProblem

__all__ = [
    "FoldPlan",
    "FoldProblem",
    "FoldWeightsTask",
    "Folds",
    "HeldOutTask",
    "ScoredFolds",
    "fold_problem",
    "fold_weights",
    "held_out",
]

SALT = np.uint64(0x5851F42D4C957F2D)  # folds are not those that a sample of the rows was drawn by


@dataclass(frozen=True)
class Folds:
    """Which fold a row belongs to."""

    n_folds: int
    seed: int

    def of(self, X: Any) -> np.ndarray:
        """The fold of each row."""
        drawn = mixed(hash_rows(X), np.uint64(self.seed) ^ SALT)
        return np.asarray(drawn % np.uint64(self.n_folds)).astype(np.intp)


@dataclass
class WeightSums:
    """A sum of weights over rows."""

    total: np.ndarray

    def copy(self) -> WeightSums:
        """The same weights in other memory."""
        return WeightSums(self.total.copy())

    def plus(self, other: WeightSums) -> WeightSums:
        """The sum of both, in this one's memory."""
        self.total += other.total
        return self


@dataclass(frozen=True)
class FoldWeightsTask:
    """WeightSums of the classes in each fold."""

    classes: np.ndarray
    folds: Folds


def fold_weights(block: RowBlock, task: FoldWeightsTask) -> WeightSums:
    """Those of one block, (n_folds, n_classes)."""
    labels = label_numbers(block.y, task.classes, UNKNOWN_LABELS)
    total = np.zeros((task.folds.n_folds, len(task.classes)))
    np.add.at(total, (task.folds.of(block.X), labels), block.weight)
    return WeightSums(total)


@dataclass(frozen=True)
class FoldProblem(BlockProblem):
    """A problem's columns for some folds, one after the other, each with the costs of the rows outside.

    ``parts`` are the problems with each fold's own weights of the classes; ``class_weight`` and ``totals``
    are theirs.
    """

    folds: Folds = Folds(1, 0)
    numbers: tuple[int, ...] = ()
    parts: tuple[BlockProblem, ...] = ()

    def columns(self, block: RowBlock) -> tuple[np.ndarray, np.ndarray]:
        """Targets and costs of the rows of a block, (n_rows, n_folds * n_columns)."""
        fold = self.folds.of(block.X)
        targets, costs = zip(*(part.columns(block) for part in self.parts), strict=True)
        outside = [np.where((fold == k)[:, None], 0.0, c) for k, c in zip(self.numbers, costs, strict=True)]
        return np.hstack(targets), np.hstack(outside)


class FoldPlan(BlockPlan, Protocol):
    """A plan whose problem can be posed for some of the rows."""

    def weighed(
        self, model: Any, problem: BlockProblem, totals: np.ndarray, factors: np.ndarray
    ) -> BlockProblem:
        """The problem over rows whose classes have these weights, before they are multiplied by factors."""


def fold_problem(
    problem: BlockProblem, parts: list[BlockProblem], folds: Folds, numbers: list[int]
) -> FoldProblem:
    """The problem for these folds; ``parts`` have the weights of the rows outside each."""
    own = {field.name: getattr(problem, field.name) for field in fields(BlockProblem)}
    T = problem.code.n_columns
    own["by_column"] = True  # each fold has to reach the tolerance
    own["total_costs"] = np.concatenate([np.broadcast_to(part.total_costs, T) for part in parts])
    return FoldProblem(**own, folds=folds, numbers=tuple(numbers), parts=tuple(parts))


@dataclass(frozen=True)
class ScoredFolds:
    """Coefficients at some points of a grid, each for all folds of a problem."""

    folds: FoldProblem
    V: tuple[np.ndarray, ...]
    decoder: Decoder


@dataclass(frozen=True)
class HeldOutTask:
    """Which classes fitted folds predict. They are the ``problem``, which a cluster's workers share."""

    problem: ScoredFolds


def held_out(block: RowBlock, task: HeldOutTask) -> WeightSums:
    """The weight of the held-out rows that are predicted rightly, (n_points, n_folds)."""
    fitted, problem = task.problem, task.problem.folds
    labels = label_numbers(block.y, problem.classes, UNKNOWN_LABELS)
    fold, T = problem.folds.of(block.X), problem.code.n_columns
    right = np.zeros((len(fitted.V), problem.folds.n_folds))
    for rows, phi in problem.features.parts(block, double=False, dense=False):
        for position, number in enumerate(problem.numbers):
            own = np.flatnonzero(fold[rows] == number)
            some, y, weight = phi[own], labels[rows][own], block.weight[rows][own]
            for point, V in enumerate(fitted.V):
                F = (some @ V[:, position * T : (position + 1) * T].astype(phi.dtype)).astype(np.float64)
                found = predicted_classes(decision_values(F, problem.code, fitted.decoder))
                right[point, number] += weight[found == y].sum()
    return WeightSums(right)

"""A second sample, of the rows that decide: those with a loss, or near one, at given coefficients.

Where few rows have a loss, a uniform sample has almost none of them, and its optimum is far from that of all
rows. Here the chance of a row is proportional to its weight times its loss at a margin that is smaller by
``MARGIN_SHIFT``. It is a bottom-k sketch (Cohen and Kaplan, 2007): of exponential variables with these rates
the smallest are kept, and a row that is kept stands for one over its chance to be below the largest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .rows import RowBlock
from .sample import Look, LookTask, exponentials, shown
from .sums import BlockProblem

__all__ = ["NearMarginTask", "draw_near_margin", "sketched"]

MARGIN_SHIFT = 0.5
LEAST_RATE = 1e-4  # of a row far from the margin, so that every row has a chance
LEAST_SHARE = 0.1  # of the weight that a row stands for, which is left when weights are made to add up


@dataclass(frozen=True)
class NearMarginTask:
    """A problem, coefficients, and how many rows to draw."""

    problem: BlockProblem | None
    V: np.ndarray
    draw: LookTask


def draw_near_margin(block: RowBlock, task: NearMarginTask) -> Look:
    """What one block shows."""
    problem: Any = task.problem
    targets, costs = problem.columns(block)
    rates = np.empty(len(block))
    for rows, phi in problem.features.parts(block, double=False, dense=False):
        f = (phi @ task.V.astype(phi.dtype)).astype(np.float64)
        near = problem.loss.value(targets[rows] * f - MARGIN_SHIFT)
        rates[rows] = (np.where(costs[rows] > 0.0, near, 0.0)).max(axis=1) + LEAST_RATE
    kept = np.flatnonzero(block.weight > 0.0)
    X, y, weight = block.X[kept], block.y[kept], block.weight[kept]
    keys = exponentials(X, y, task.draw.seed) / (weight * rates[kept])
    return shown(X, y, weight, keys, task.draw)


def sketched(found: Look) -> RowBlock:
    """The rows drawn, with the weights that they stand for; those of a class add up to all its rows'."""
    if found.is_complete:
        return RowBlock(found.X, found.y, found.weight)
    rates = exponentials(found.X, found.y, found.task.seed) / found.keys
    last = np.sort(found.keys)[min(found.task.n_rows, len(found.keys)) - 1]
    chance = -np.expm1(-rates * np.maximum(last, found.keys))
    weight = found.weight / chance
    doubt = weight * (1.0 - chance) / chance  # the variance: rare kinds of rows make up what is missing
    number = np.searchsorted(found.classes, found.y)
    missing = found.class_totals(None)[0] - np.bincount(number, weights=weight)
    rate = missing / np.maximum(np.bincount(number, weights=doubt), np.finfo(float).tiny)
    return RowBlock(
        found.X, found.y, found.by_class(np.maximum(weight + rate[number] * doubt, LEAST_SHARE * weight))
    )

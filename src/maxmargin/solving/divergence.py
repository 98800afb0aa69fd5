"""Whether a fit diverged: values are not finite, or the objective is worse than that of zero coefficients.

``counted_excess`` decides the second. A ``SolverResult`` asks it about the objective of its last certificate
and has the status "diverged" then. Methods without a certificate compute both from outputs on their own rows
(``OwnRows``), and the best point that they had is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..losses import Loss

MAX_ROWS_JUDGED = 4096  # evenly spaced; more would cost as much as the fit itself
N_STANDARD_ERRORS = 2.0  # by which a sample of the rows must be worse than zero coefficients
N_ROUNDOFFS = 1024  # of the objective of zero coefficients, that outputs which cancel may differ by

Point = TypeVar("Point")


def counted_excess(excess: float, noise: float) -> float:
    """How far an objective is above that of zero coefficients; 0 if no further than noise explains."""
    return 0.0 if 0.0 < excess <= noise else excess


@dataclass(frozen=True)
class OwnRows:
    """Rows of a fit, at the positions ``index``, with their targets (n_rows, n_columns) and weights.

    ``sampled`` says that there are others. The rows of a batch are ``part_of_stream``: they show whether
    outputs are finite, but not the objective of the stream.
    """

    index: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    loss: Loss
    sampled: bool
    part_of_stream: bool

    @classmethod
    def of(
        cls, targets: np.ndarray, weight: np.ndarray, loss: Loss, *, part_of_stream: bool = False
    ) -> OwnRows:
        """All rows of a problem, or some of them."""
        n = len(targets)
        index = np.linspace(0, n - 1, min(n, MAX_ROWS_JUDGED)).astype(np.int64)
        y, w = targets[index].astype(np.float64), weight[index]
        return cls(index, y, w, loss, len(index) < n, part_of_stream)

    def excess(self, outputs: np.ndarray, penalty: float = 0.0) -> float:
        """By how much the objective is above that of zero coefficients; infinite if outputs are not finite.

        Squares of outputs must be finite too. The perceptron loss is 0 for zero coefficients, which nothing
        improves on, so it counts as no excess; so does what chance in a sample or rounding explains. A
        penalty below 0, of an indefinite kernel, makes up for no loss.
        """
        limit = np.sqrt(np.finfo(outputs.dtype).max)
        if not (np.abs(outputs) <= limit).all():  # false for NaN
            return np.inf
        if self.loss.name == "perceptron" or self.part_of_stream:
            return 0.0
        cost = np.where(self.targets != 0.0, self.weight[:, None], 0.0)
        cost /= np.maximum(cost.sum(axis=0), np.finfo(np.float64).tiny)
        m = self.targets * outputs
        at_zero = cost * self.loss.value(np.zeros_like(m))
        each = (cost * self.loss.value(m) - at_zero).sum(axis=1)
        chance = N_STANDARD_ERRORS * np.sqrt(len(each)) * float(np.std(each)) if self.sampled else 0.0
        rounding = N_ROUNDOFFS * float(np.finfo(outputs.dtype).eps * at_zero.sum())
        return counted_excess(float(each.sum()) + max(penalty, 0.0) - chance, rounding)


def best_point(
    points: Sequence[Point],
    excess: Callable[[Point], float],
    errors: Callable[[Point], float] | None = None,
) -> tuple[Point, bool]:
    """The last point and False; if it diverged, the best of the finite points and True.

    The best has the fewest ``errors``, where these are given, and among those the least excess: the objective
    of a fit that diverges measures the length of its outputs more than the quality of its classifier. Raises
    if the outputs of no point are finite.
    """
    if excess(points[-1]) <= 0.0:
        return points[-1], False
    finite = [(value, point) for point in points if np.isfinite(value := excess(point))]
    if not finite:
        raise ValueError(
            "the fit diverged at its first step: outputs on its own rows are not finite. Raise alpha, or "
            "scale the features, for example with sklearn.preprocessing.StandardScaler."
        )
    ranks = [(0.0 if errors is None else errors(point), value) for value, point in finite]
    return finite[ranks.index(min(ranks))][1], True

"""The problems of kernel regression: a loss of the residual becomes bounds, a kink and a ridge of the dual.

    min_{f,b}  1/2 ||f||^2 + C sum_i s_i loss(y_i - f(x_i) - b)

has a dual of the form in ``kernel_svm/box_problem.py``:

    loss                          bounds of a_i                  kink       R_ii
    epsilon-insensitive           [-C s_i, C s_i]                epsilon    0
    squared-epsilon-insensitive   none                           epsilon    1 / (C s_i)
    pinball                       [C s_i (q - 1), C s_i q]       0          0
    huber                         [-C s_i delta, C s_i delta]    0          1 / (C s_i)

Targets are moved and divided by a power of 2, so that they are of the size 1; that changes nothing but the
units of the objective.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar, cast

import numpy as np

from ...data import check_costs
from ...kernels import KernelData
from ...solving import FLOAT_EPS, SolverResult
from ..kernel_svm import BoxProblem

__all__ = ["RegressionLoss", "RegressionProblem", "Targets"]

Result = TypeVar("Result", bound=SolverResult)

LARGEST_TARGET = 1e140
LARGEST_EXPONENT = 460  # of the unit of the targets, whose square is still a number


@dataclass(frozen=True)
class RegressionProblem(BoxProblem):
    """Scaled targets, costs, and how far coefficients reach, in costs, above and below 0."""

    above: float = 1.0
    below: float = 1.0

    @cached_property
    def largest(self) -> np.ndarray:
        """Of a squared loss, twice the largest possible |a_i|: its loss is at most that of f = 0."""
        rest = np.maximum(0.0, np.abs(self.y) - self.kink)
        return 2.0 * np.sqrt(self.cost) * math.sqrt(float(self.cost @ rest**2))

    @cached_property
    def lower(self) -> np.ndarray:
        """The lower bound of each a_i."""
        return -self.largest if self.squared and not self.bounded else -self.below * self.cost

    @cached_property
    def upper(self) -> np.ndarray:
        """The upper bound of each a_i."""
        return self.largest if self.squared and not self.bounded else self.above * self.cost

    def without_needless_bounds(self) -> Self:
        """The same problem as one of a squared loss, if no coefficient can reach its bound.

        Sums of bounds that are far too wide would round all else away. Equal targets allow no coefficients.
        """
        reach = self.largest / self.cost
        if min(self.above, self.below) < float(reach.max()):
            return self
        return replace(self, bounded=False, above=1.0, below=1.0)

    @cached_property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at f = 0 times the unit roundoff."""
        return FLOAT_EPS * float(self.terms(slice(None), np.zeros(len(self.y)), self.y).sum())


def _centre(y: np.ndarray, weight: np.ndarray, share: float | None) -> float:
    """The weighted quantile of the targets, or their weighted mean where the share is None."""
    order = np.argsort(y, kind="stable")
    total = np.cumsum(weight[order])
    centre = float(y[order[np.searchsorted(total, (0.5 if share is None else share) * total[-1])]])
    return centre if share is not None else centre + float(np.average(y - centre, weights=weight))


@dataclass(frozen=True)
class Targets:
    """``y = centre + unit * values``, with values of the size 1 and a unit that is a power of 2."""

    values: np.ndarray
    centre: float
    unit: float

    def given(self, b: float) -> float:
        """An intercept of the scaled targets as that of the targets as given, rounded."""
        return b * self.unit + self.centre

    def scaled(self, b: float) -> float:
        """The inverse of ``given``."""
        return (b - self.centre) / self.unit

    @classmethod
    def of(
        cls, y: np.ndarray, weight: np.ndarray, share: float | None = 0.5, *, centred: bool = True
    ) -> Targets:
        """The unit is the weighted mean distance to the centre.

        That is the weighted quantile ``share`` or the mean (None), or 0 unless ``centred``.
        """
        largest = float(np.abs(y).max())
        if not largest <= LARGEST_TARGET:
            raise ValueError(
                f"targets must be at most {LARGEST_TARGET:g} in magnitude; got one of {largest:g}. Divide y "
                "by a constant."
            )
        centre = _centre(y, weight, share) if centred else 0.0
        spread = float(np.average(np.abs(y - centre), weights=weight))
        exponent = round(math.log2(spread)) if spread > 0.0 else 0
        unit = 2.0 ** max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, exponent))
        return cls((y - centre) / unit, centre, unit)

    def as_given(self, found: Result) -> Result:
        """A solution in units of the targets as given."""
        return replace(found, coef=found.coef * self.unit, intercept=self.given(found.intercept))


@dataclass(frozen=True)
class RegressionLoss:
    """A loss of the residual by name, with the one number that it has."""

    name: str
    epsilon: float
    quantile: float
    delta: float

    def problem(
        self,
        kernel: KernelData | None,
        targets: Targets,
        C: float,
        weight: np.ndarray,
        quantile: float | None = None,
    ) -> RegressionProblem:
        """The problem for scaled targets: a loss that grows linearly costs 1 / unit as much there.

        Without a kernel it is the loss of linear regression, which asks for no kernel values.
        """
        squared, unit = self.name in ("squared-epsilon-insensitive", "huber"), targets.unit
        scaled = C if squared else C / unit
        check_costs(scaled, weight)
        kink = self.epsilon / unit if self.name.endswith("epsilon-insensitive") else 0.0
        above = below = 1.0
        if self.name == "pinball":
            q = self.quantile if quantile is None else quantile
            above, below = q, 1.0 - q
        if self.name == "huber":
            above = below = self.delta / unit
        problem = RegressionProblem(
            cast(KernelData, kernel),
            targets.values,
            scaled * weight,
            squared,
            above,
            below,
            kink=kink,
            bounded=self.name == "huber",
            unit=unit * unit,
        )
        return problem.without_needless_bounds() if problem.bounded else problem

"""Least-squares problems on the same rows: what they share for all C and for one C, and their solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._native import one_blas_thread
from ...solving import Callback, SolverResult, Stop
from .data import SquaresData
from .lasso import FeatureProducts, lasso
from .lasso import start as lasso_start
from .problem import Penalty, SquaresProblem
from .refinement import least_squares, start
from .system import MAX_SPECTRAL_ORDER, KrylovSystem, SpectralSystem, System, spectral_system, system_for


@dataclass(frozen=True)
class SquaresAtCost:
    """Problems that differ in their targets alone."""

    data: SquaresData
    penalty: Penalty
    system: System | None
    products: FeatureProducts | None

    def solve(
        self, y: np.ndarray, w: np.ndarray | None, stop: Stop, callback: Callback | None
    ) -> SolverResult:
        """The solution for one column's targets, from coefficients w where that saves time."""
        problem = SquaresProblem(self.data, y, self.penalty)
        with one_blas_thread():
            if self.products is not None:
                state = lasso_start(problem, w)
                return lasso(problem, self.products, stop=stop, state=state, callback=callback)
            assert self.system is not None
            state = start(problem, w if isinstance(self.system, KrylovSystem) else None)
            return least_squares(problem, self.system, stop=stop, state=state, callback=callback)

    @property
    def rank(self) -> int | None:
        """The effective rank of the rows, where it was found."""
        return self.system.rank if isinstance(self.system, SpectralSystem) else None


@dataclass(frozen=True)
class SquaresResult(SolverResult):
    """A column's solution, and the problems that shared its factorisation; None if there was no time."""

    problems: SquaresAtCost | None = None


@dataclass(frozen=True)
class SquaresOnRows:
    """Problems on the same rows, whose costs are C times the same weights."""

    unit: SquaresData
    penalty: Penalty

    @cached_property
    def _products(self) -> FeatureProducts:
        return FeatureProducts(self.unit)

    @cached_property
    def _spectrum(self) -> SpectralSystem:
        return spectral_system(self.unit, 1.0)

    def at(self, C: float, *, of_many: bool = False) -> SquaresAtCost:
        """The problems at one C; ``of_many`` C share one decomposition."""
        if self.penalty == "none":
            return SquaresAtCost(self.unit, "none", system_for(self.unit, 0.0), None)
        data = replace(self.unit, cost=C * self.unit.cost)
        if self.penalty == "lasso":
            return SquaresAtCost(data, "lasso", None, self._products)
        if of_many and data.order <= MAX_SPECTRAL_ORDER:
            spectrum = replace(self._spectrum, s=np.sqrt(C) * self._spectrum.s)
            return SquaresAtCost(data, "ridge", spectrum, None)
        return SquaresAtCost(data, "ridge", system_for(data, 1.0), None)

    def smallest_cost(self, y: np.ndarray) -> float:
        """The lasso's largest C at which all coefficients are 0."""
        largest = float(np.abs(self.unit.combine(self.unit.centred(y))).max())
        return 1.0 / largest if largest > 0.0 else 1.0

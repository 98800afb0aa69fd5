"""Least-squares problems on the same rows: what they share at any C and at one, and a column's solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._native import one_blas_thread
from .drive import Callback
from .feature_products import FeatureProducts
from .lasso import lasso
from .lasso import start as lasso_start
from .least_squares import least_squares, start
from .result import SolverResult, Stop
from .squares_data import SquaresData
from .squares_problem import Penalty, SquaresProblem
from .squares_system import (
    LARGEST_SPECTRUM,
    CholeskySystem,
    KrylovSystem,
    SpectralSystem,
    System,
    spectral_system,
    system_for,
)


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

    @cached_property
    def leverage(self) -> np.ndarray | None:
        """How much of its own target each row's output is made of; None where nothing was factorised."""
        if self.penalty != "ridge" or isinstance(self.system, KrylovSystem):
            return None
        if isinstance(self.system, SpectralSystem):
            rest = self.system.unleveraged(self.data)
        else:
            assert isinstance(self.system, CholeskySystem)
            rest = self.system.unleveraged()
        return 1.0 - rest + (self.data.cost / self.data.total if self.data.free else 0.0)


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
        """The problems at one C; where it is one of many, from one decomposition for all of them."""
        if self.penalty == "none":
            return SquaresAtCost(self.unit, "none", system_for(self.unit, 0.0), None)
        data = replace(self.unit, cost=C * self.unit.cost)
        if self.penalty == "lasso":
            return SquaresAtCost(data, "lasso", None, self._products)
        if of_many and data.order <= LARGEST_SPECTRUM:
            spectrum = replace(self._spectrum, s=np.sqrt(C) * self._spectrum.s)
            return SquaresAtCost(data, "ridge", spectrum, None)
        return SquaresAtCost(data, "ridge", system_for(data, 1.0), None)

    def smallest_cost(self, y: np.ndarray) -> float:
        """The lasso's largest C at which all coefficients are 0."""
        largest = float(np.abs(self.unit.combine(self.unit.centred(y))).max())
        return 1.0 / largest if largest > 0.0 else 1.0

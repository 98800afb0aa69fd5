"""Least-squares problems on the same rows: what they share at any C and at one, and a column's solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._native import one_blas_thread
from ...solving import Callback, SolverResult, Stop
from .data import SquaresData
from .lasso import FeatureProducts, lasso
from .lasso import start as lasso_start
from .problem import (
    Penalty,
    SquaresProblem,
    least_squares,
    start,
)
from .system import (
    MAX_SPECTRAL_ORDER,
    CholeskySystem,
    KrylovSystem,
    SpectralSystem,
    System,
    Unleveraged,
    spectral_system,
    system_for,
)

MAX_LOO_ERROR = 1e-3  # relative error above which a leave-one-out output is withheld


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
    def leaving_out(self) -> CholeskySystem | None:
        """The system that leave-one-out outputs come from; None where nothing was factorised.

        The rows' coefficients are its unknowns wherever ridge may interpolate: at one row, with an intercept,
        or none more than features.
        """
        if self.penalty != "ridge" or not isinstance(self.system, CholeskySystem):
            return None
        interpolates = len(self.data.rows) <= self.data.rows.n_features + self.data.free
        return self.system if self.system.wide == interpolates else CholeskySystem(self.data, 1.0, wide=True)

    @cached_property
    def _unleveraged(self) -> Unleveraged:
        assert self.leaving_out is not None
        return self.leaving_out.unleveraged()

    def left_out(self, result: SolverResult, y: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Each row's output without a part of its weight; NaN where nothing but rounding is known of it."""
        system, data = self.leaving_out, self.data
        assert system is not None
        assert result.dual_coef is not None
        r = result.dual_coef / data.cost
        if system is not self.system:
            r = system.solve(data.root * data.centred(y)) / data.root
        r = data.centred(r)
        size = np.linalg.norm(data.root * r / system.scale) if system.wide else np.abs(y) + np.abs(y - r)
        rest = (1.0 - part) + part * self._unleveraged.rest
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = r / rest
            error = (size * self._unleveraged.residual + np.abs(apart) * part * self._unleveraged.blur) / rest
        known = (rest > 0.0) & (error <= MAX_LOO_ERROR * np.maximum(1.0, np.abs(apart)))
        return np.asarray(np.where(known, y - apart, np.nan))


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
        if of_many and data.order <= MAX_SPECTRAL_ORDER:
            spectrum = replace(self._spectrum, s=np.sqrt(C) * self._spectrum.s)
            return SquaresAtCost(data, "ridge", spectrum, None)
        return SquaresAtCost(data, "ridge", system_for(data, 1.0), None)

    def smallest_cost(self, y: np.ndarray) -> float:
        """The lasso's largest C at which all coefficients are 0."""
        largest = float(np.abs(self.unit.combine(self.unit.centred(y))).max())
        return 1.0 / largest if largest > 0.0 else 1.0

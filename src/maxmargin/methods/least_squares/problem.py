"""The least-squares problem of one column, with one of three penalties, and its certificates.

    none    1/2 sum_i c_i r_i^2,                          r_i = y_i - <w, x_i> - b
    ridge   1/2 ||w||^2 + 1/2 sum_i c_i r_i^2
    lasso   ||w||_1     + 1/2 sum_i c_i r_i^2

Any shares v with ``sum_i c_i v_i = 0`` (where b is free) bound the last two from below, with
w(v) = sum_i c_i v_i x_i: ridge by D(v) - 1/2 ||w(v)||^2, lasso by D(v) where no entry of w(v) exceeds 1 in
size, D(v) = sum_i c_i (v_i y_i - v_i^2 / 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...solving import FLOAT_EPS, Certificate, with_rounding
from .data import SquaresData

Penalty = Literal["none", "ridge", "lasso"]


@dataclass(frozen=True)
class SquaresProblem:
    """Rows with costs, targets and a penalty."""

    data: SquaresData
    y: np.ndarray
    penalty: Penalty = "ridge"

    @property
    def ridge(self) -> float:
        """What is added to the diagonal of A'A."""
        return 1.0 if self.penalty == "ridge" else 0.0

    @property
    def tiny(self) -> float:
        """The size below which objective values are zero: the objective at w = 0 times the unit roundoff."""
        y = self.data.centred(self.y)
        return float(0.5 * FLOAT_EPS * (self.data.cost @ y**2))

    def primal(self, w: np.ndarray, r: np.ndarray) -> float:
        """The objective at w, whose residuals are given."""
        norm = {"none": 0.0, "ridge": 0.5 * float(w @ w), "lasso": float(np.abs(w).sum())}[self.penalty]
        return float(norm + 0.5 * (self.data.cost @ r**2))

    def certificate(
        self, w: np.ndarray, r: np.ndarray, shares: np.ndarray | None = None, dual_w: np.ndarray | None = None
    ) -> Certificate:
        """Both bounds of ridge or lasso; ``shares`` default to the residuals, and ``dual_w`` is w(v)."""
        v = self.data.centred(r if shares is None else shares)
        dual_w = self.data.combine(v) if dual_w is None else dual_w
        linear, square = float(self.data.cost @ (v * self.y)), float(self.data.cost @ v**2)
        if self.penalty == "ridge":
            dual = linear - 0.5 * square - 0.5 * float(dual_w @ dual_w) - self.data.rounding(dual_w, v)
        else:
            largest = float(np.abs(dual_w).max())
            best = linear / square if square > 0.0 else 0.0
            t = float(np.clip(best, -1.0 / largest, 1.0 / largest)) if largest > 0.0 else best
            dual = t * linear - 0.5 * t * t * square
        return self._bounds(w, r, dual - self.data.rounding(w, r))

    def bounded_by(self, w: np.ndarray, r: np.ndarray, gain: float) -> Certificate:
        """Both bounds without a penalty, if no coefficients within the radius gain more than ``gain``.

        That is at the best intercept, which can be better than the one that is stored.
        """
        best = self.primal(w, self.data.centred(r))
        return self._bounds(w, r, max(best - gain, 0.0))

    def _bounds(self, w: np.ndarray, r: np.ndarray, dual: float) -> Certificate:
        bounds = Certificate(
            primal=self.primal(w, r), dual=dual, n_support=int(np.count_nonzero(w)), tiny=self.tiny
        )
        return with_rounding(bounds, self.data.residual_rounding(w, r))

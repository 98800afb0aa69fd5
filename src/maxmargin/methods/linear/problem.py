"""The linear max-margin problem of one column, and the certificate shared by all its solvers.

    min_{w,b}  1/2 ||w||^2 + p/2 b^2 + sum_i c_i loss(y_i (<w, x_i> + b))

with p = 0 (a free intercept), p = 1 (a penalised one) or b = 0 (none). Its dual, in shares v_i = a_i / c_i,

    max_v  - sum_i c_i loss*(-v_i) - 1/2 ||w(v)||^2 - p/2 s(v)^2,   w(v) = sum_i c_i v_i y_i x_i,
                                                                    s(v) = sum_i c_i v_i y_i,

requires s(v) = 0 if the intercept is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...data import Rows
from ...losses import Loss
from ...solving import FLOAT_EPS, Certificate

Intercept = Literal["free", "penalised", "none"]


@dataclass(frozen=True)
class MarginProblem:
    """Rows, targets in {-1, +1}, costs ``c_i > 0``, a loss and the role of the intercept."""

    rows: Rows
    y: np.ndarray
    cost: np.ndarray
    loss: Loss
    intercept: Intercept = "free"

    @property
    def intercept_penalty(self) -> float:
        """The p of the objective."""
        return 1.0 if self.intercept == "penalised" else 0.0

    @property
    def tiny(self) -> float:
        """The size below which objective values are zero: the objective at w = 0 times the unit roundoff."""
        return float(self.cost.sum() * self.loss.value(np.zeros(1))[0] * FLOAT_EPS)

    def first(self, n: int) -> MarginProblem:
        """The problem of the first ``n`` samples, with costs scaled up so that they represent all."""
        cost = self.cost[:n] * (self.cost.sum() / self.cost[:n].sum())
        return MarginProblem(self.rows.take(slice(n)), self.y[:n], cost, self.loss, self.intercept)

    def primal(self, w: np.ndarray, b: float, margins: np.ndarray) -> float:
        """The objective at (w, b), whose margins are given."""
        penalty = 0.5 * (w @ w + self.intercept_penalty * b * b)
        return float(penalty + self.cost @ self.loss.value(margins))

    def combine(self, shares: np.ndarray) -> np.ndarray:
        """``w(v)``."""
        return self.rows.sum(self.cost * shares * self.y)

    def balanced(self, shares: np.ndarray) -> np.ndarray:
        """The nearest dual feasible shares: with a free intercept the heavier side is scaled down."""
        if self.intercept != "free":
            return shares
        weighted = self.cost * shares
        positive, negative = weighted[self.y > 0].sum(), weighted[self.y < 0].sum()
        if abs(positive - negative) <= 64 * FLOAT_EPS * (positive + negative):
            return shares
        heavier = self.y > 0 if positive > negative else self.y < 0
        return np.where(heavier, shares * (min(positive, negative) / max(positive, negative)), shares)

    def dual(self, shares: np.ndarray, w: np.ndarray | None = None) -> float:
        """The dual value of ``balanced(shares)``; ``w``, when given, is ``combine(shares)``."""
        feasible = self.balanced(shares)
        if w is None or feasible is not shares:
            w = self.combine(feasible)
        spread = self.intercept_penalty * float((self.cost * feasible) @ self.y) ** 2
        return float(-(self.cost @ self.loss.conjugate(-feasible)) - 0.5 * (w @ w + spread))

    def certificate(
        self,
        w: np.ndarray,
        b: float,
        margins: np.ndarray,
        shares: np.ndarray,
        dual_w: np.ndarray | None = None,
    ) -> Certificate:
        """Both bounds at a primal and a dual point."""
        return Certificate(
            primal=self.primal(w, b, margins),
            dual=self.dual(shares, dual_w),
            n_support=int(np.count_nonzero(shares)),
            tiny=self.tiny,
        )

"""The problem of the Lagrangian SVM, and both bounds that its certificates are made of.

    min_{w,b}  1/2 (||w||^2 + b^2) + 1/2 sum_i c_i max(0, 1 - y_i f(x_i))^2,    f(x) = <w, phi(x)> + b

has the dual

    min_{a >= 0}  1/2 a' Q a - e'a,    Q = HH' + diag(1/c_i),    H = diag(y) [phi(X) e].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solving import FLOAT_EPS
from .systems import RidgeSystem


@dataclass(frozen=True)
class LagrangianProblem:
    """The system of the rows, and targets in {-1.0, +1.0}."""

    system: RidgeSystem
    y: np.ndarray

    @property
    def cost(self) -> np.ndarray:
        """The c_i."""
        return self.system.cost

    @property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at w = 0 times the unit roundoff."""
        return 0.5 * float(self.cost.sum()) * FLOAT_EPS

    def image(self, a: np.ndarray) -> np.ndarray:
        """``Q a``."""
        scores = self.system.scores(self.system.combine(self.y * a))
        return self.y * scores + a / self.cost

    def solve(self, right: np.ndarray) -> np.ndarray:
        """``Q^{-1} right``."""
        return self.y * self.system.solve(self.y * right)

    def primal(self, coef: np.ndarray, scores: np.ndarray) -> float:
        """The objective of a function and its scores."""
        missing = np.maximum(0.0, 1.0 - self.y * scores)
        return 0.5 * self.system.sqnorm(coef, scores) + 0.5 * float(self.cost @ missing**2)

    def rounding(self, u: np.ndarray, coef: np.ndarray, scores: np.ndarray) -> float:
        """What errors of the scores, and of the norm of ``coef = combine(u)``, can add to the gap."""
        errors = self.system.score_errors(coef)
        missing = np.maximum(0.0, 1.0 + errors - self.y * scores)
        return float(self.cost @ (missing * errors)) + self.system.norm_error(u, coef)

    def dual(self, a: np.ndarray, sqnorm: float) -> float:
        """The dual value of multipliers ``a >= 0``, whose function has that squared norm."""
        return float(a.sum() - 0.5 * (a / self.cost) @ a - 0.5 * sqnorm)

    def best_multiple(self, a: np.ndarray) -> tuple[np.ndarray, float]:
        """Of the multiples of ``a >= 0``, which are all feasible, the one with the largest dual value."""
        u = self.y * a
        coef = self.system.combine(u)
        bend = self._sqnorm(coef) + float((a / self.cost) @ a) + self.system.norm_error(u, coef)
        total = float(a.sum())
        return (a * (total / bend), 0.5 * total * total / bend) if bend > 0.0 else (a, 0.0)

    def _sqnorm(self, coef: np.ndarray) -> float:
        return self.system.sqnorm(coef, self.system.scores(coef))

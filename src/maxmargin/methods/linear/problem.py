"""The linear max-margin problem of one column, and the certificate shared by all its solvers.

    min_{w,b}  1/2 ||w||^2 + p/2 b^2 + sum_i c_i loss(y_i (<w, x_i> + b))

with p = 0 (a free intercept), p = 1 (a penalised one) or b = 0 (none). Its dual, in shares v_i = a_i / c_i,

    max_v  - sum_i c_i loss*(-v_i) - 1/2 ||w(v)||^2 - p/2 s(v)^2,   w(v) = sum_i c_i v_i y_i x_i,
                                                                    s(v) = sum_i c_i v_i y_i,

requires s(v) = 0 if the intercept is free.

Rows that have been moved to the origin (`data/origin.py`) are certified for the intercept that the estimator
stores, which is rounded on the rows as given. What rounding can do to the bounds is subtracted from the dual.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ..._native import is_sparse
from ...data import Rows, sum_of_products
from ...losses import Loss
from ...solving import FLOAT_EPS, LINEAR_ROUNDING, Certificate, counted_rounding, linear_size

MAX_UNSEEN_ROUNDING = 1e-11  # rounding, relative to the objective, that is worth no second look
MAX_ROUNDING_IN_GAP = 0.01  # the same, relative to the gap
MAX_EXACT_ROWS = 2000  # rows whose margins are computed without rounding

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

    @cached_property
    def largest_norm(self) -> float:
        """The largest norm of a row."""
        return float(np.sqrt(self.rows.sqnorms().max(initial=0.0)))

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
        return self._dual_of_feasible(feasible, w if feasible is shares else None)

    def _dual_of_feasible(self, shares: np.ndarray, w: np.ndarray | None) -> float:
        w = self.combine(shares) if w is None else w
        spread = self.intercept_penalty * float((self.cost * shares) @ self.y) ** 2
        return float(-(self.cost @ self.loss.conjugate(-shares)) - 0.5 * (w @ w + spread))

    def certificate(
        self,
        w: np.ndarray,
        b: float,
        margins: np.ndarray,
        shares: np.ndarray,
        dual_w: np.ndarray | None = None,
        best_dual: float = -np.inf,
    ) -> Certificate:
        """Both bounds at a primal and a dual point, for the intercept that the estimator will store.

        ``best_dual`` is that of earlier points: if it is the better one, rounding counts in the gap to it.
        """
        given = self.rows.given_intercept(w, b)
        stored = self.rows.own_intercept(w, given)
        margins = margins if stored == b else margins + self.y * (stored - b)
        feasible = self.balanced(shares)
        size = linear_size(self.largest_norm, w, b)
        dual = self._dual_of_feasible(feasible, dual_w if feasible is shares else None)
        nearest = max(dual, best_dual)
        primal, rounding = self._rounded_primal(w, given, margins, LINEAR_ROUNDING * size, nearest)
        bound = dual - rounding - self._dual_rounding(feasible, size)
        return Certificate(
            primal=primal,
            dual=bound,
            n_support=int(np.count_nonzero(shares)),
            tiny=self.tiny,
            rounding=counted_rounding(rounding, primal) if best_dual > bound else 0.0,
        )

    def _rounded_primal(
        self, w: np.ndarray, given: float, margins: np.ndarray, error: float, dual: float
    ) -> tuple[float, float]:
        """The objective, and what errors of the margins can change it by; ``given`` is the stored intercept.

        A hinge of rows just at their margins can cost much for a small error: if that shows in the gap, and
        they are few, what they lack is computed without one.
        """
        b = self.rows.own_intercept(w, given)
        primal, hinge = self.primal(w, b, margins), self.loss.name == "hinge"
        steepest = -self.loss.slope(margins - error)  # slopes only fall towards smaller margins
        near = np.flatnonzero(steepest)
        rounding = error * float(self.cost @ steepest)
        unseen = max(MAX_UNSEEN_ROUNDING * primal, MAX_ROUNDING_IN_GAP * (primal - dual))
        if not hinge or rounding <= unseen or len(near) > MAX_EXACT_ROWS:
            return primal, rounding
        penalty = self.primal(w, b, np.ones_like(margins))
        losses = float(self.cost[near] @ np.maximum(0.0, self._exact_shortfall(near, w, given)))
        return penalty + losses, FLOAT_EPS * losses

    def _exact_shortfall(self, which: np.ndarray, w: np.ndarray, given: float) -> np.ndarray:
        """``1 - margin`` of some rows, for the rows and the intercept as given, rounded once."""
        X, y, by = self.rows.X[self.rows.index[which]], self.y[which], self.rows.moved_by
        common, own = np.ones(1), np.array([given])
        if by is not None:
            common, own = np.append(by, 1.0), np.append(w, given)
        if not is_sparse(X):
            both = np.concatenate([w, own])
            rows = (np.concatenate([x, common]) for x in X)
            return np.array([sum_of_products(-sign * row, both, 1.0) for sign, row in zip(y, rows)])
        ends = zip(X.indptr[:-1], X.indptr[1:])
        stored = [(X.indices[i:j], X.data[i:j].astype(np.float64)) for i, j in ends]
        return np.array(
            [
                sum_of_products(-sign * np.append(x, common), np.append(w[k], own), 1.0)
                for sign, (k, x) in zip(y, stored)
            ]
        )

    def _dual_rounding(self, shares: np.ndarray, size: float) -> float:
        """What errors of w(v), and of the balance of feasible shares, can change the dual value by."""
        weighted = self.cost * shares
        imbalance = abs(float(weighted @ self.y)) if self.intercept == "free" else 0.0
        return size * (LINEAR_ROUNDING * float(weighted.sum()) + imbalance)

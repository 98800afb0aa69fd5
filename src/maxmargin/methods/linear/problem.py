"""The linear max-margin problem of one column, and the certificate shared by all its solvers.

    min_{w,b}  1/2 ||w||^2 + p/2 b^2 + sum_i c_i loss(y_i (<w, x_i> + b))

with p = 0 (a free intercept), p = 1 (a penalised one) or b = 0 (none). Its dual, in shares v_i = a_i / c_i,

    max_v  - sum_i c_i loss*(-v_i) - 1/2 ||w(v)||^2 - p/2 s(v)^2,   w(v) = sum_i c_i v_i y_i x_i,
                                                                    s(v) = sum_i c_i v_i y_i,

requires s(v) = 0 if the intercept is free. With an offset o_i for each row the loss is that of
y_i (<w, x_i> + b + o_i), and the dual has the further term -sum_i c_i v_i y_i o_i. Regression is such a
problem (``linear_svr``).

Rows that have been moved to the origin (`data/origin.py`) are certified for the intercept that the estimator
stores, which is rounded on the rows as given. What rounding can do to the bounds is subtracted from the dual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """Rows, targets in {-1, +1}, costs ``c_i > 0``, a loss, the role of the intercept, and any offsets."""

    rows: Rows
    y: np.ndarray
    cost: np.ndarray
    loss: Loss
    intercept: Intercept = "free"
    offset: np.ndarray | None = None

    @property
    def intercept_penalty(self) -> float:
        """The p of the objective."""
        return 1.0 if self.intercept == "penalised" else 0.0

    @cached_property
    def largest_norm(self) -> float:
        """The largest norm of a row."""
        return float(np.sqrt(self.rows.sqnorms().max(initial=0.0)))

    @cached_property
    def wanted(self) -> np.ndarray:
        """The ``y_i (<w, x_i> + b)`` at which each margin is 1."""
        return np.ones_like(self.y) if self.offset is None else 1.0 - self.y * self.offset

    @cached_property
    def largest_offset(self) -> float:
        """The largest magnitude of an offset."""
        return 0.0 if self.offset is None else float(np.abs(self.offset).max())

    def scores(self, w: np.ndarray) -> np.ndarray:
        """``<w, x_i>``, with the offset of each row."""
        scores = self.rows.dot(w)
        return scores if self.offset is None else scores + self.offset

    def given_intercept(self, w: np.ndarray, b: float) -> float:
        """The intercept on the rows as given that the estimator stores."""
        return self.rows.given_intercept(w, b)

    @property
    def tiny(self) -> float:
        """The size below which objective values are zero: the objective at w = 0 times the unit roundoff."""
        if self.offset is not None:
            return float(self.cost @ self.loss.value(self.y * self.offset)) * FLOAT_EPS
        return float(self.cost.sum() * self.loss.value(np.zeros(1))[0] * FLOAT_EPS)

    def first(self, n: int) -> MarginProblem:
        """The problem of the first ``n`` samples, with costs scaled up so that they represent all."""
        cost = self.cost[:n] * (self.cost.sum() / self.cost[:n].sum())
        offset = None if self.offset is None else self.offset[:n]
        return replace(self, rows=self.rows.take(slice(n)), y=self.y[:n], cost=cost, offset=offset)

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
        if self.offset is None:
            return float(-(self.cost @ self.loss.conjugate(-shares)) - 0.5 * (w @ w + spread))
        bend = self.cost @ (self.loss.conjugate(-shares) + shares)
        return float((self.cost * shares) @ self.wanted - bend - 0.5 * (w @ w + spread))

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
        given = self.given_intercept(w, b)
        stored = self.rows.own_intercept(w, given)
        margins = margins if stored == b else margins + self.y * (stored - b)
        feasible = self.balanced(shares)
        size = linear_size(self.largest_norm, w, b) + self.largest_offset
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
        ends = self._exact_ends(which, given)
        common, own = (np.zeros(0), np.zeros(0)) if by is None else (by, w)
        if not is_sparse(X):
            both = np.concatenate([w, own])
            rows = (np.concatenate([x, common]) for x in X)
            return np.array([sum_of_products(-sign * x, both, *end) for sign, x, end in zip(y, rows, ends)])
        spans = zip(X.indptr[:-1], X.indptr[1:])
        stored = [(X.indices[i:j], X.data[i:j].astype(np.float64)) for i, j in spans]
        return np.array(
            [
                sum_of_products(-sign * np.append(x, common), np.append(w[k], own), *end)
                for sign, (k, x), end in zip(y, stored, ends)
            ]
        )

    def _exact_ends(self, which: np.ndarray, given: float) -> np.ndarray:
        """Numbers whose exact sum is ``wanted`` minus y times the intercept, for some rows."""
        return np.stack([self.wanted[which], -self.y[which] * given], axis=1)

    def _dual_rounding(self, shares: np.ndarray, size: float) -> float:
        """What errors of w(v), and of the balance of feasible shares, can change the dual value by."""
        weighted = self.cost * shares
        imbalance = abs(float(weighted @ self.y)) if self.intercept == "free" else 0.0
        return size * (LINEAR_ROUNDING * float(weighted.sum()) + imbalance)

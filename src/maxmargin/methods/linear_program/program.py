"""The L1 SVM, also with several outputs or without its penalty, and the certificate of any point.

    min_{W,b}  p sum |W| + sum_i c_i sum_k max(0, 1 - z_ik),      z the margins of F = Phi W + b,

p = 1 (``penalised``) or p = 0. Its dual, with A the adjoint of the margins at pi (``lp_pairs.py``), is

    max_pi  sum pi    s.t.  |Phi' A| <= p,   sum_i A_it = 0,   0 <= pi_ik <= c_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...solving import FLOAT_EPS
from .features import Features
from .lp_pairs import Pairs

NEAR = 1e-6  # margins so little below 1 are rounding where all of them are
REACH = 10.0  # a bound that pays for rounding holds for coefficients so many times as large as those found
ROUNDED = 1e-9  # what prices on features of one scale may be off by, as a share of all multipliers


@dataclass(frozen=True)
class HingeProgram:
    """Features, pairs, costs ``c_i > 0``, whether coefficients are penalised and whether b is free or 0."""

    features: Features
    pairs: Pairs
    cost: np.ndarray
    penalised: bool = True
    intercept: bool = True

    @cached_property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at 0 times the unit roundoff."""
        return float(self.cost @ self.pairs.exists().sum(axis=1)) * FLOAT_EPS

    def first(self, n: int) -> HingeProgram:
        """The program of the first ``n`` samples, costs raised so that they stand for all."""
        cost = self.cost[:n] * (self.cost.sum() / self.cost[:n].sum())
        return HingeProgram(self.features.first(n), self.pairs.first(n), cost, self.penalised, self.intercept)

    def margins(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """``z`` at (W, b)."""
        return self.pairs.margins(self.features.dot(W) + b)

    def primal(self, W: np.ndarray, Z: np.ndarray) -> float:
        """The objective at W, whose margins are given."""
        penalty = float(np.abs(W).sum()) if self.penalised else 0.0
        return penalty + float(self.cost @ np.maximum(0.0, 1.0 - Z).sum(axis=1))

    def stretch(self, W: np.ndarray, Z: np.ndarray) -> float:
        """A factor of (W, b), 1 but for rounding, that brings margins just below 1 up to 1 where it pays."""
        missing = 1.0 - Z
        short = (missing > 0.0) & (missing <= NEAR)
        if not short.any():
            return 1.0
        factor = (1.0 + 4.0 * FLOAT_EPS) / float(Z[short].min())
        return factor if self.primal(W * factor, Z * factor) < self.primal(W, Z) else 1.0

    def feasible(self, pi: np.ndarray) -> np.ndarray:
        """Multipliers within their box and, with a free intercept, balanced."""
        pi = np.clip(pi, 0.0, self.cost[:, None])
        return self.pairs.balanced(pi) if self.intercept else pi

    def prices(self, pi: np.ndarray) -> np.ndarray:
        """``Phi' A``: by how much a unit of each coefficient lowers the losses, (n_features, n_outputs)."""
        return self.features.sum(self.pairs.spread(pi))

    def dual(self, pi: np.ndarray, prices: np.ndarray, W: np.ndarray) -> float:
        """A lower bound from ``feasible`` multipliers, whose prices are given.

        With a penalty they are scaled until no price exceeds 1. Where prices exceed it by rounding alone, as
        they do where it is 0, what they exceed it by is paid for by coefficients up to ``REACH`` times those
        of ``W``: the larger of both bounds counts.
        """
        total, scale = float(pi.sum()), self.features.scale[:, None]
        largest = float(np.abs(prices).max(initial=0.0))
        scaled = total / max(1.0, largest) if self.penalised else 0.0
        excess = np.maximum(0.0, np.abs(prices / scale) - (1.0 / scale if self.penalised else 0.0))
        if largest == 0.0 or float(excess.max(initial=0.0)) > ROUNDED * total:
            return scaled if largest > 0.0 else total
        reach = REACH * max(1.0, float(np.abs(W * scale).max(initial=0.0)))
        return max(scaled, total - reach * float(excess.sum()))

"""The L1 SVM, also with several outputs or without its penalty, and the certificate of any point.

    min_{W,b}  p sum |W| + sum_i c_i sum_k max(0, 1 - z_ik),      z the margins of F = Phi W + b,

p = 1 (``penalised``) or p = 0. Its dual, with A the adjoint of the margins at pi (``Pairs.spread``), is

    max_pi  sum pi    s.t.  |Phi' A| <= p,   sum_i A_it = 0,   0 <= pi_ik <= c_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ...solving import FLOAT_EPS
from .features import Features

MARGIN_ROUNDING = 1e-6  # margins this little below 1 are rounding if all of them are
KINK_ERRORS = 4.0  # a margin of so many errors from 1 may be 1
BOUND_RADIUS = 10.0  # a bound that allows for rounding covers coefficients this many times as large
PRICE_ROUNDING = 1e-9  # error of prices on features of one scale, as a share of all multipliers
MAX_BALANCING_SWEEPS = 200  # over the flows between classes
BALANCE_TOLERANCE = 1e-13  # imbalance left, relative to all multipliers


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
        """The size below which objective values are zero: the objective at 0 times the unit roundoff."""
        return float(self.cost @ self.pairs.exists().sum(axis=1)) * FLOAT_EPS

    def first(self, n: int) -> HingeProgram:
        """The program of the first ``n`` samples, with costs scaled up so that they represent all."""
        cost = self.cost[:n] * (self.cost.sum() / self.cost[:n].sum())
        return HingeProgram(self.features.first(n), self.pairs.first(n), cost, self.penalised, self.intercept)

    def margins(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """``z`` at (W, b)."""
        return self.pairs.margins(self.features.dot(W) + b)

    def given_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The intercepts that the estimator stores; those of several outputs sum to 0."""
        b = self.features.given_intercepts(W, b)
        return b - b.mean() if len(b) > 1 else b

    def stored_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """b as it is once stored: rounded on the features as given, up to what all outputs have in common."""
        return self.features.own_intercepts(W, self.given_intercepts(W, b))

    def primal(self, W: np.ndarray, Z: np.ndarray) -> float:
        """The objective at W, whose margins are given."""
        penalty = float(np.abs(W).sum()) if self.penalised else 0.0
        return penalty + float(self.cost @ np.maximum(0.0, 1.0 - Z).sum(axis=1))

    def margin_error(self, W: np.ndarray, b: np.ndarray) -> float:
        """The rounding error of a margin at (W, b)."""
        terms = np.square(W * self.features.scale[:, None]).sum(axis=0) + np.square(b)
        return 0.5 * FLOAT_EPS * float(np.sqrt(terms.max(initial=0.0))) + self.features.output_error(W)

    def rounding(self, W: np.ndarray, Z: np.ndarray, error: float) -> float:
        """What errors of the margins near 1 can add to the losses; errors of features count below 1, too.

        Without a penalty it is nothing: larger coefficients cost nothing, and no margin has to be near 1.
        """
        kinks = np.abs(1.0 - Z) <= KINK_ERRORS * error
        below = self.features.output_error(W) * float(self.cost @ ((Z < 1.0) & ~kinks).sum(axis=1))
        return below + error * float(self.cost @ kinks.sum(axis=1)) if self.penalised else below

    def stretch(self, W: np.ndarray, Z: np.ndarray) -> float:
        """A factor of (W, b), 1 but for rounding, that brings margins just below 1 up to 1 where it pays."""
        missing = 1.0 - Z
        short = (missing > 0.0) & (missing <= MARGIN_ROUNDING)
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

        With a penalty they are scaled until no price exceeds 1. Where the excess is rounding, as it always is
        without a penalty, it is charged to coefficients up to ``BOUND_RADIUS`` times those of ``W`` instead:
        the larger of both bounds counts.

        Features with errors, as kernel values have, may be parallel but for them. Coefficients far beyond
        ``W`` may then be better, and with a penalty only the first bound holds, for prices that are off.
        """
        total, error = float(pi.sum()), self.features.price_error(self.pairs.spread(pi))
        largest = float(np.abs(prices).max(initial=0.0))
        if self.penalised and error > 0.0:
            return total / max(1.0, largest + error)
        return self._charged(total, largest, prices, W) - error * total

    def _charged(self, total: float, largest: float, prices: np.ndarray, W: np.ndarray) -> float:
        scale = self.features.scale[:, None]
        scaled = total / max(1.0, largest) if self.penalised else 0.0
        excess = np.maximum(0.0, np.abs(prices / scale) - (1.0 / scale if self.penalised else 0.0))
        if largest == 0.0 or float(excess.max(initial=0.0)) > PRICE_ROUNDING * total:
            return scaled if largest > 0.0 else total
        reach = BOUND_RADIUS * max(1.0, float(np.abs(W * scale).max(initial=0.0)))
        return max(scaled, total - reach * float(excess.sum()))


class Pairs(Protocol):
    """Which margins there are, and how they depend on the outputs."""

    @property
    def n_outputs(self) -> int:
        """Functions f_t."""

    @property
    def width(self) -> int:
        """Numbers of pairs for each sample."""

    def first(self, n: int) -> Pairs:
        """Those of the first ``n`` samples."""

    def exists(self) -> np.ndarray:
        """Whether (i, k) is a pair, (n_samples, width)."""

    def margins(self, F: np.ndarray) -> np.ndarray:
        """``z``, (n_samples, width); infinite where there is no pair."""

    def spread(self, pi: np.ndarray) -> np.ndarray:
        """``A``, (n_samples, n_outputs)."""

    def signs(self, pairs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """``e`` of some pairs by number, (len(pairs), len(outputs))."""

    def balanced(self, pi: np.ndarray) -> np.ndarray:
        """Multipliers that are nowhere larger, and whose A has columns that sum to 0 up to rounding."""


@dataclass(frozen=True)
class TwoClasses:
    """One margin a sample, ``z_i = y_i f(x_i)`` with targets y in {-1, +1}."""

    y: np.ndarray
    n_outputs: int = 1
    width: int = 1

    def first(self, n: int) -> TwoClasses:
        """The first ``n`` targets."""
        return TwoClasses(self.y[:n])

    def exists(self) -> np.ndarray:
        """Every sample has its margin."""
        return np.ones((len(self.y), 1), dtype=bool)

    def margins(self, F: np.ndarray) -> np.ndarray:
        """``y f``."""
        return self.y[:, None] * F

    def spread(self, pi: np.ndarray) -> np.ndarray:
        """``y pi``."""
        return self.y[:, None] * pi

    def signs(self, pairs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """The targets."""
        return np.repeat(self.y[pairs][:, None], len(outputs), axis=1)

    def balanced(self, pi: np.ndarray) -> np.ndarray:
        """The heavier side scaled down."""
        positive, negative = pi[self.y > 0].sum(), pi[self.y < 0].sum()
        most = max(positive, negative)
        if most <= 0.0:
            return pi
        heavier = self.y > 0 if positive > negative else self.y < 0
        return np.where(heavier[:, None], pi * (min(positive, negative) / most), pi)


@dataclass(frozen=True)
class WrongClasses:
    """A margin for each sample and wrong class, ``z_ig = f_{y_i}(x_i) - f_g(x_i)``, labels y in 0, 1, ..."""

    labels: np.ndarray
    n_outputs: int

    @property
    def width(self) -> int:
        """One number for each class, its own included."""
        return self.n_outputs

    @cached_property
    def _own(self) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(self.labels)), self.labels

    def first(self, n: int) -> WrongClasses:
        """The first ``n`` labels."""
        return WrongClasses(self.labels[:n], self.n_outputs)

    def exists(self) -> np.ndarray:
        """Every class but the sample's own."""
        return self.labels[:, None] != np.arange(self.n_outputs)

    def margins(self, F: np.ndarray) -> np.ndarray:
        """``f_y - f_g``."""
        Z = F[self._own][:, None] - F
        Z[self._own] = np.inf
        return Z

    def spread(self, pi: np.ndarray) -> np.ndarray:
        """``-pi_ig``, and their sum at the sample's own class."""
        A = -pi
        A[self._own] = pi.sum(axis=1)
        return A

    def signs(self, pairs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """+1 for the own class, -1 for the wrong one."""
        samples, wrong = np.divmod(pairs, self.width)
        own = self.labels[samples][:, None] == outputs
        return own.astype(np.float64) - (wrong[:, None] == outputs)

    def balanced(self, pi: np.ndarray) -> np.ndarray:
        """Multipliers are flows from g to y_i: of each class the heavier of what enters and leaves is scaled.

        Flows only shrink, so that the sweeps converge, to a circulation; where they have not, there is no
        flow at all.
        """
        G = self.n_outputs
        flow = np.zeros((G, G))  # into the row's class from the column's
        np.add.at(flow, self.labels, pi)
        factor, total = np.ones((G, G)), flow.sum()
        for _ in range(MAX_BALANCING_SWEEPS):
            scaled = flow * factor
            if np.abs(scaled.sum(axis=1) - scaled.sum(axis=0)).max() <= BALANCE_TOLERANCE * total:
                return pi * factor[self.labels]
            for g in range(G):
                into, out = float(flow[g] @ factor[g]), float(flow[:, g] @ factor[:, g])
                if into > out:
                    factor[g] *= out / into
                elif out > into:
                    factor[:, g] *= into / out
        return np.zeros_like(pi)

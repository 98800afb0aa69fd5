"""Constraints of a hinge program: one margin for each sample, or one for each sample and wrong class.

Both kinds are margins z_ik that are linear in the outputs F = Phi W + b, with signs e in {-1, 0, +1}:
z_ik = sum_t e_ikt F_it. The adjoint of that map turns multipliers pi_ik into A_it = sum_k e_ikt pi_ik, and a
free intercept asks for sum_i A_it = 0. A pair (i, k) has the number i * width + k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

SWEEPS = 200  # of the balancing of flows between classes
BALANCED = 1e-13  # what is left of an imbalance, relative to all multipliers


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
        for _ in range(SWEEPS):
            scaled = flow * factor
            if np.abs(scaled.sum(axis=1) - scaled.sum(axis=0)).max() <= BALANCED * total:
                return pi * factor[self.labels]
            for g in range(G):
                into, out = float(flow[g] @ factor[g]), float(flow[:, g] @ factor[:, g])
                if into > out:
                    factor[g] *= out / into
                elif out > into:
                    factor[:, g] *= into / out
        return np.zeros_like(pi)

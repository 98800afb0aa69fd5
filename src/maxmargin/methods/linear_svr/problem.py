"""Linear regression as a max-margin problem: a residual has two sides, and each is a hinge with an offset.

For a residual r = t - f, a kink e and f = <w, x> + b, the losses of ``kernel_svr/problem.py`` are sums of

    max(0, r - e) = max(0, 1 - m),   m =  (f + o),  o = 1 + e - t      (above)
    max(0, -r - e) = max(0, 1 - m),  m = -(f + o),  o = -(1 + e + t)   (below)

with a cost each, or of their squares: the margins of a ``MarginProblem`` with y = 1 above, y = -1 below and
offsets o. At most one side of a residual costs anything. The Huber loss is delta times a hinge smoothed over
delta. With dual coefficients a of both sides, that of the row is the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from ...data import Rows
from ...losses import Hinge, Loss, SmoothedHinge, SquaredHinge
from ...solving import Callback, Certificate, SolverResult, State, Stop, drive
from ..kernel_svr import RegressionProblem, Targets
from ..linear import Intercept, MarginProblem

__all__ = ["SidesProblem", "TwiceRows", "sides_of"]


@dataclass(frozen=True)
class TwiceRows(Rows):
    """Rows of which each stands twice in a row: above and below."""

    singles: Rows | None = None

    @classmethod
    def of(cls, rows: Rows) -> TwiceRows:
        """Each of some rows twice."""
        index = np.repeat(rows.index, 2)
        return cls(rows.X, index, rows.n_threads, rows.cancel, rows.moved_by, singles=rows)

    @property
    def once(self) -> Rows:
        """The rows, each once."""
        return cast(Rows, self.singles)

    def take(self, which: np.ndarray | slice) -> Rows:
        """A selection of these rows, which may have one of the two."""
        norms = self.sqnorms()[which]
        return Rows(self.X, self.index[which], self.n_threads, self.cancel, self.moved_by, norms)

    def dot(self, w: np.ndarray) -> np.ndarray:
        """``X[index] @ w``."""
        return np.repeat(self.once.dot(w), 2, axis=0)

    def sum(self, u: np.ndarray) -> np.ndarray:
        """``u @ X[index]``."""
        return self.once.sum(u[::2] + u[1::2])

    def _computed_norms(self) -> np.ndarray:
        return np.repeat(self.once.sqnorms(), 2)

    def compacted(self) -> Rows:
        """The same rows, of which each is stored once, in this order."""
        return TwiceRows.of(self.once.compacted())

    def moved(self, centre: np.ndarray) -> Rows:
        """The same rows in double, each stored once, with a centre subtracted."""
        return TwiceRows.of(self.once.moved(centre))


@dataclass(frozen=True)
class SidesProblem(MarginProblem):
    """Both sides of all residuals; the intercept that is stored is that of the targets as given."""

    targets: Targets = field(kw_only=True)
    ends: np.ndarray = field(kw_only=True)  # of each side, in three numbers: target and centre, signed, kink

    @cached_property
    def wanted(self) -> np.ndarray:
        """The ``y_i (<w, x_i> + b)`` at which a side costs nothing any more."""
        return np.asarray(self.ends.sum(axis=1))

    @property
    def coupling(self) -> float:
        """The mean of a side's cost times its squared norm: how strongly rows act on one another."""
        return float(self.cost @ self.rows.sqnorms()) / len(self.cost)

    def first(self, n: int) -> SidesProblem:
        """The problem of the first ``n`` sides."""
        return replace(cast(SidesProblem, super().first(n)), ends=self.ends[:n])

    def given_intercept(self, w: np.ndarray, b: float) -> float:
        """The intercept on the rows as given, in scaled targets, rounded as it is stored."""
        return self.targets.scaled(self.targets.given(self.rows.given_intercept(w, b)))

    def _exact_ends(self, which: np.ndarray, given: float) -> np.ndarray:
        found = self.ends[which]
        found[:, 1] = -self.y[which] * (self.targets.given(given) / self.targets.unit)
        return found


def sides_of(
    rows: Rows, y: np.ndarray, problem: RegressionProblem, targets: Targets, intercept: Intercept
) -> SidesProblem:
    """The two sides of a regression problem, whose kernel is not used; ``y`` are the targets as given."""
    t, kink = problem.y, problem.kink
    loss: Loss = SquaredHinge() if problem.squared else Hinge()
    costs = (problem.cost, problem.cost) if problem.squared else (problem.upper, -problem.lower)
    if problem.bounded:
        loss, costs = SmoothedHinge(problem.above), (problem.upper, -problem.lower)
    sides = np.tile([1.0, -1.0], len(t))
    signed = sides * np.repeat(y / targets.unit, 2)
    centre, kinks = -sides * (targets.centre / targets.unit), np.full(len(sides), -problem.kink)
    return SidesProblem(
        TwiceRows.of(rows),
        sides,
        _in_turn(*costs),
        loss,
        intercept,
        _in_turn(1.0 + kink - t, -(1.0 + kink + t)),
        targets=targets,
        ends=np.stack([signed, centre, kinks], axis=1),
    )


def without_losses(problem: SidesProblem, *, stop: Stop, callback: Callback | None) -> SolverResult:
    """The solution where zero coefficients have no loss: these."""
    state = stop.resumed(None) or State(w=np.zeros(problem.rows.n_features))
    found = Certificate(primal=0.0, dual=0.0)
    status, history = drive(state, lambda: True, lambda: found, stop, callback)
    return SolverResult(state.w, 0.0, status, history, np.zeros(len(problem.y)))


def _in_turn(above: Any, below: Any) -> np.ndarray:
    return np.stack([above, below], axis=1).reshape(-1)


def in_given_units(values: Any, unit: float) -> Any:
    """A certificate with the objective of the targets as given."""
    return replace(values, primal=values.primal * unit, dual=values.dual * unit, tiny=values.tiny * unit)

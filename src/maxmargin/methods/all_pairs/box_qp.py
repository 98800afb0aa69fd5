"""Convex quadratic programs with bounds and a few equations, by a primal-dual interior-point method.

    min_x  1/2 x'Hx - q'x    s.t.  E x = e,  0 <= x <= u

Predictor and corrector (Mehrotra 1992) share one Cholesky factor of H + diag(l/x + v/(u - x)); the equations
are eliminated by a Schur complement of their number. The iterates stay strictly within the bounds, so H may
be singular. The work is a dozen to thirty factorisations, whatever the sizes of u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...solving import FLOAT_EPS

MAX_STEPS = 80
MAX_STEPS_WITHOUT_GAIN = 12  # far from the optimum there may be several
DIAGONAL_SHIFTS = 10.0 ** np.arange(-14.0, -5.0)  # for a matrix indefinite by rounding, relative to its size
MAX_SHARE_TO_BOUND = 0.995  # how much of the way to the nearest bound a step may go
MIN_START_SHARE = 4 * FLOAT_EPS  # of the way between its bounds that a variable starts from either


@dataclass(frozen=True)
class BoxQP:
    """The arrays of the problem; ``H`` symmetric and positive semi-definite, ``u > 0``."""

    H: np.ndarray
    q: np.ndarray
    E: np.ndarray
    e: np.ndarray
    u: np.ndarray


@dataclass(frozen=True)
class Solution:
    """A point strictly within the bounds, and the multipliers of the equations and of both bounds."""

    x: np.ndarray
    equations: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def interior_point(problem: BoxQP, accuracy: float, late: Callable[[], bool], start: np.ndarray) -> Solution:
    """A solution whose duality gap is about ``accuracy``, from a point that is moved off the bounds.

    It ends earlier, with the best point so far, when rounding leaves nothing to gain or it is ``late()``.
    """
    iterate = _Iterate(problem, start)
    best, least = iterate.point(), iterate.error()
    since = 0
    for _ in range(MAX_STEPS):
        if late() or not iterate.step():
            break
        error = iterate.error()
        best, least, since = (iterate.point(), error, 0) if error < least else (best, least, since + 1)
        if least <= accuracy or since >= MAX_STEPS_WITHOUT_GAIN:
            break
    return best


class _Iterate:
    """x, its distance r to u, multipliers l of x >= 0, v of x <= u, and m of the equations."""

    def __init__(self, problem: BoxQP, start: np.ndarray) -> None:
        self.problem = problem
        stiffness = np.maximum(np.diag(problem.H), 1e-3 * np.diag(problem.H).max(initial=1e-300))
        distance = np.minimum(0.5 * problem.u, np.maximum(1.0 / stiffness, MIN_START_SHARE * problem.u))
        self.x = np.clip(start, distance, problem.u - distance)
        self.weight = float(np.mean(np.diag(problem.H)) or 1.0)
        self.M = problem.H + self.weight * (problem.E.T @ problem.E)  # the same where the equations hold
        self.r = problem.u - self.x
        self.m = np.zeros(len(problem.e))
        slope = problem.H @ self.x - problem.q
        push = np.abs(slope).max() + 1.0
        self.l, self.v = np.maximum(slope, 0.0) + push, np.maximum(-slope, 0.0) + push
        self._residuals()

    def point(self) -> Solution:
        return Solution(self.x, self.m, self.l, self.v)  # steps make new arrays

    def _residuals(self) -> None:
        p = self.problem
        self.dual = p.H @ self.x - p.q + p.E.T @ self.m - self.l + self.v
        self.primal = p.E @ self.x - p.e
        self.slack = self.x @ self.l + self.r @ self.v

    def error(self) -> float:
        """What the duality gap of this point may be: complementarity, and the residuals' share of it."""
        widest = np.minimum(self.x, self.r) + FLOAT_EPS * self.problem.u
        return float(self.slack + np.abs(self.dual) @ widest + np.abs(self.primal) @ np.abs(self.m))

    def step(self) -> bool:
        """One predictor-corrector step; False where the linear system cannot be solved."""
        x, r, l, v = self.x, self.r, self.l, self.v
        try:
            self._factor(l / x + v / r)
        except np.linalg.LinAlgError:
            return False
        mean = self.slack / (2 * len(x))
        dx, _, dl, dv = self._direction(-x * l, -r * v)
        reach = min(_reach(x, dx), _reach(r, -dx), _reach(l, dl), _reach(v, dv))
        after = ((x + reach * dx) @ (l + reach * dl) + (r - reach * dx) @ (v + reach * dv)) / (2 * len(x))
        target = mean * (max(after, 0.0) / mean) ** 3
        dx, dm, dl, dv = self._direction(target - x * l - dx * dl, target - r * v + dx * dv)
        primal = min(1.0, MAX_SHARE_TO_BOUND * min(_reach(x, dx), _reach(r, -dx)))
        dual = min(1.0, MAX_SHARE_TO_BOUND * min(_reach(l, dl), _reach(v, dv)))
        both = min(primal, dual)  # a quadratic objective couples them
        self.x, self.r = x + both * dx, r - both * dx
        self.m, self.l, self.v = self.m + both * dm, l + both * dl, v + both * dv
        finite = bool(np.isfinite(dx).all() and np.isfinite(dm).all())
        if finite:
            self._residuals()
        return finite and both > 1e-12

    def _factor(self, barrier: np.ndarray) -> None:
        """Factors of H with the barrier; where rounding leaves it indefinite, of a little more than it."""
        p = self.problem
        largest = float(np.abs(np.diag(self.M)).max())
        for shift in (0.0, *(largest * DIAGONAL_SHIFTS)):
            M = self.M.copy()
            M[np.diag_indices_from(M)] += barrier + shift
            try:
                self.factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
                break
            except np.linalg.LinAlgError:
                if shift == largest * DIAGONAL_SHIFTS[-1]:
                    raise
        self.solved_E = cho_solve(self.factor, p.E.T, check_finite=False)
        self.schur = np.linalg.pinv(p.E @ self.solved_E, rcond=1e-13, hermitian=True)

    def _direction(self, comp_l: np.ndarray, comp_v: np.ndarray) -> tuple[np.ndarray, ...]:
        """Steps that make ``x l`` and ``r v`` change by these amounts, to first order."""
        p = self.problem
        right = -self.dual - self.weight * (p.E.T @ self.primal) + comp_l / self.x - comp_v / self.r
        free = cho_solve(self.factor, right, check_finite=False)
        dm = self.schur @ (p.E @ free + self.primal)
        dx = free - self.solved_E @ dm
        return dx, dm, (comp_l - self.l * dx) / self.x, (comp_v + self.v * dx) / self.r


def _reach(values: np.ndarray, change: np.ndarray) -> float:
    """The largest t <= 1 / MAX_SHARE_TO_BOUND at which ``values + t change`` is still not negative."""
    falling = change < 0.0
    return float(np.min(-values[falling] / change[falling], initial=1.0 / MAX_SHARE_TO_BOUND))

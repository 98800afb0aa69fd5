"""Small kernel SVMs to machine precision: from a nearly optimal point, a primal active-set method.

With the samples at a bound held there, the free ones have their optimum where g is the same for all of them,
which is one linear system. A step towards it that leaves the box stops at the wall, where a sample joins
those that are held; at an optimum the held sample that violates optimality most is freed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _native
from .result import FLOAT_EPS
from .svm_problem import SvmProblem

SMO_STEPS = 20  # per sample, before the active sets are taken from what they give
SMO_TOLERANCE = 1e-9
ROUNDING = 64 * FLOAT_EPS


def polish(problem: SvmProblem, a: np.ndarray, late: Callable[[], bool]) -> np.ndarray:
    """Coefficients that are optimal up to rounding, or ``a`` itself where none better are found in time."""
    n = len(a)
    everyone = np.arange(n)
    K = problem.kernel.between(everyone, everyone).astype(np.float64)
    K[np.diag_indices(n)] += problem.ridge
    start, a = a, a.copy()
    g = problem.y - K @ a
    _native.smo_block(K, a, g, problem.lower, problem.upper, SMO_TOLERANCE, SMO_STEPS * n, _native.NEVER)
    face = Face(problem, K, a)
    for _ in range(4 * n):
        if late() or face.step():
            break
    before, after = (_gap(problem, K, coef) for coef in (start, face.a))
    return face.a if after <= before else start


def _gap(problem: SvmProblem, K: np.ndarray, a: np.ndarray) -> float:
    everyone, g = slice(None), problem.y - K @ a
    return problem.gap(everyone, a, g, problem.intercept(everyone, a, g))


class Face:
    """A point, and the samples that may move from it."""

    def __init__(self, problem: SvmProblem, K: np.ndarray, a: np.ndarray) -> None:
        self.K, self.a, self.y = K, a, problem.y
        self.lower, self.upper = problem.lower, problem.upper
        self.free = (a > self.lower) & (a < self.upper)
        self.size = 1.0 + float(np.abs(K).max() * np.abs(a).sum())  # of the numbers that g is a difference of

    def step(self) -> bool:
        """To the optimum of the face or to its wall; true at the optimum of the problem."""
        g = self.y - self.K @ self.a
        moving = np.flatnonzero(self.free)
        if len(moving) < 2:
            return self._release(g, self._level(g))
        direction, level, longest = self._direction(moving, g[moving])
        step, wall = self._room(moving, direction, longest)
        self.a[moving] += step * direction
        if wall is None:
            return self._release(self.y - self.K @ self.a, level)
        sample = moving[wall]
        self.a[sample] = self.upper[sample] if direction[wall] > 0.0 else self.lower[sample]
        self.free[sample] = False
        return False

    def _direction(self, moving: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Towards the optimum of the face, the g there, and how far to go: 1, or for ever where K is flat."""
        m = len(moving)
        system = np.ones((m + 1, m + 1))
        system[:m, :m], system[m, m] = self.K[np.ix_(moving, moving)], 0.0
        right = np.append(g, 0.0)
        solution = _solve(system, right)
        left_over = right - system @ solution
        flat = left_over[:m] - left_over[:m].mean()
        if np.abs(flat).max() > 1e-9 * max(1.0, float(np.abs(g).max())):
            return flat, float(g.mean()), np.inf
        direction = solution[:m] - solution[:m].mean()  # sums to 0 beyond the solver's rounding
        return direction, float(solution[m]), 1.0

    def _room(self, moving: np.ndarray, direction: np.ndarray, longest: float) -> tuple[float, int | None]:
        a, up = self.a[moving], direction > 0.0
        limit = np.where(up, self.upper[moving], self.lower[moving])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction != 0.0, (limit - a) / direction, np.inf)
        first = int(np.argmin(room))
        return (longest, None) if room[first] >= longest else (max(0.0, float(room[first])), first)

    def _level(self, g: np.ndarray) -> float:
        """Between those that may grow and those that may fall."""
        up, down = g[self.a < self.upper], g[self.a > self.lower]
        return 0.5 * float(up.max() + down.min()) if len(up) and len(down) else 0.0

    def _release(self, g: np.ndarray, level: float) -> bool:
        """Free the samples that violate optimality most, one of a side; true where none does."""
        grow = np.where(~self.free & (self.a < self.upper), g - level, -np.inf)
        fall = np.where(~self.free & (self.a > self.lower), level - g, -np.inf)
        least = ROUNDING * self.size
        wrong = [int(np.argmax(side)) for side in (grow, fall) if side.max() > least]
        if int(self.free.sum()) + len(wrong) < 2:
            return True
        if len(wrong) == 2 and int(self.free.sum()) >= 1:  # one at a time, where one can move
            wrong = wrong[:1] if grow.max() >= fall.max() else wrong[1:]
        self.free[wrong] = True
        return not wrong


def _solve(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution, or the shortest of the nearest where the system is singular."""
    try:
        solution = np.linalg.solve(system, right)
        left_over = np.abs(right - system @ solution).max()
        if left_over <= 1e-10 * max(1.0, float(np.abs(right).max())):
            return solution
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(system, right, rcond=ROUNDING)[0]

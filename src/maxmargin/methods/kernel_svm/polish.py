"""Small kernel SVMs to machine precision: a primal active-set method.

With the samples at a bound held there, the free ones have their optimum where g is the same for all of them,
which is one linear system. A step towards it that leaves the box stops at the wall, where a sample joins
those that are held; at an optimum the held sample that violates optimality most is freed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lstsq

from ...data import check_kernel_sums
from ...solving import FLOAT_EPS
from .problem import SvmProblem

ROUNDING = 64 * FLOAT_EPS


def polish(
    problem: SvmProblem,
    a: np.ndarray,
    late: Callable[[], bool],
    kernel_rows: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients that are optimal up to rounding, or ``a`` itself where none better are found in time.

    Returns them and their gradient, from kernel values computed anew or by ``kernel_rows(which)``.
    """
    face = Face(problem, a, kernel_rows)
    start, first = a.copy(), face.g.copy()
    for _ in range(4 * len(a)):
        if late():
            break
        if face.step():
            face.renew()
            face.step()  # once more, for what the first solution rounded off
            break
    face.renew()
    better = _gap(problem, face.a, face.g) <= _gap(problem, start, first)
    return (face.a, face.g) if better else (start, first)


def _gap(problem: SvmProblem, a: np.ndarray, g: np.ndarray) -> float:
    everyone = slice(None)
    return problem.gap(everyone, a, g, problem.intercept(everyone, a, g))


class Face:
    """A point, and the samples that may move from it. Kernel rows are computed for those that ever do."""

    def __init__(
        self,
        problem: SvmProblem,
        a: np.ndarray,
        kernel_rows: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.problem, self.a = problem, a.copy()
        everyone = np.arange(len(a))
        self.kernel_rows = kernel_rows or (lambda which: problem.kernel.between(which, everyone))
        self.lower, self.upper = problem.lower, problem.upper
        self.free = (a > self.lower) & (a < self.upper)
        self.K = np.empty((len(a), len(a)))
        self.known = np.zeros(len(a), dtype=bool)
        self.largest = 0.0  # of the kernel values
        self.renew()

    @property
    def size(self) -> float:
        """The size of the numbers that g is a difference of."""
        return 1.0 + self.largest * float(np.abs(self.a).sum())

    def renew(self) -> None:
        """The gradient from the coefficients."""
        support = np.flatnonzero(self.a)
        self._need(support)
        self.g = self.problem.y - self.a[support] @ self.K[support]

    def _need(self, which: np.ndarray) -> None:
        """Rows of K + R for these samples."""
        missing = which[~self.known[which]]
        if len(missing):
            self.K[missing] = self.kernel_rows(missing)
            self.K[missing, missing] += self.problem.ridge[missing]
            self.known[missing] = True
            largest = np.abs(self.K[missing]).max()
            check_kernel_sums(self.problem.kernel.dtype, largest)
            self.largest = max(self.largest, float(largest))

    def step(self) -> bool:
        """To the optimum of the face or to its wall; true at the optimum of the problem."""
        moving = np.flatnonzero(self.free)
        if len(moving) < 2:
            return self._release(self._level())
        self._need(moving)
        direction, level = self._direction(moving, self.g[moving])
        if level is None and self._slide(moving):
            return False
        longest = 1.0 if level is not None else self._longest(moving, direction)
        step, wall = self._room(moving, direction, longest)
        if not np.isfinite(step):  # an indefinite kernel, or one lost in rounding
            return True
        self.a[moving] += step * direction
        if wall is not None:
            self._hold(moving[wall], direction[wall])
        self.g -= (step * direction) @ self.K[moving]
        return wall is None and level is not None and self._release(level)

    def _direction(self, moving: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, float | None]:
        """The way to the optimum of the face and the g there; where K is flat, the way up and None."""
        m = len(moving)
        K = self.K[np.ix_(moving, moving)]
        scale = float(np.abs(K).max()) or 1.0
        system = np.full((m + 1, m + 1), scale)
        system[:m, :m], system[m, m] = K, 0.0
        right = np.append(g, 0.0)
        solution = _solve(system, right)
        left_over = right - system @ solution
        flat = left_over[:m] - left_over[:m].mean()
        rounding = ROUNDING * max(self.size, scale * float(np.abs(solution).sum()))
        if np.abs(flat).max() > max(1e-9, 1e-9 * float(np.abs(g).max()), rounding):
            return flat, None
        direction = solution[:m] - solution[:m].mean()  # sums to 0 beyond the solver's rounding
        return direction, scale * float(solution[m])

    def _slide(self, moving: np.ndarray) -> bool:
        """Along all directions in which K is flat and g rises, from wall to wall; whether there was one.

        The columns of ``flat`` are such directions. They are mirrored so that a sample which has met its wall
        is moved by the first of them alone, and that one leaves.
        """
        K, g, m = self.K[np.ix_(moving, moving)], self.g[moving], len(moving)
        scale = float(np.abs(K).max()) or 1.0
        middle = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() + scale  # the sum counts as curved
        values, vectors = np.linalg.eigh(middle)
        flat = vectors[:, np.abs(values) <= ROUNDING * m * scale]
        n_first = flat.shape[1]
        while flat.shape[1]:
            direction = flat @ (g @ flat)
            if np.abs(direction).max() <= 1e-9 * max(1.0, float(np.abs(g).max())):
                break
            step, wall = self._room(moving, direction, np.inf)
            if wall is None:
                break
            self.a[moving] += step * direction
            self._hold(moving[wall], direction[wall])
            mirror = flat[wall] / np.linalg.norm(flat[wall])
            mirror[0] += np.copysign(1.0, mirror[0])
            flat = (flat - np.outer(flat @ mirror, mirror * (2.0 / (mirror @ mirror))))[:, 1:]
            flat[wall] = 0.0
        self.renew()
        return flat.shape[1] < n_first

    def _hold(self, sample: np.intp, direction: float) -> None:
        self.a[sample] = self.upper[sample] if direction > 0.0 else self.lower[sample]
        self.free[sample] = False

    def _longest(self, moving: np.ndarray, direction: np.ndarray) -> float:
        """How far up the objective rises: for ever where K is flat altogether."""
        curvature = float(direction @ self.K[np.ix_(moving, moving)] @ direction)
        return float(self.g[moving] @ direction) / curvature if curvature > 0.0 else np.inf

    def _room(self, moving: np.ndarray, direction: np.ndarray, longest: float) -> tuple[float, int | None]:
        a, up = self.a[moving], direction > 0.0
        limit = np.where(up, self.upper[moving], self.lower[moving])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction != 0.0, (limit - a) / direction, np.inf)
        first = int(np.argmin(room))
        return (longest, None) if room[first] >= longest else (max(0.0, float(room[first])), first)

    def _level(self) -> float:
        """Between those that may grow and those that may fall."""
        up, down = self.g[self.a < self.upper], self.g[self.a > self.lower]
        return 0.5 * float(up.max() + down.min()) if len(up) and len(down) else 0.0

    def _release(self, level: float) -> bool:
        """Free the sample that violates optimality most, or a pair where none is free; true if none does."""
        grow = np.where(~self.free & (self.a < self.upper), self.g - level, -np.inf)
        fall = np.where(~self.free & (self.a > self.lower), level - self.g, -np.inf)
        least = ROUNDING * self.size
        wrong = [int(np.argmax(side)) for side in (grow, fall) if side.max() > least]
        n_free = int(self.free.sum())
        if n_free + len(wrong) < 2:
            return True
        if len(wrong) == 2 and n_free >= 1:
            wrong = wrong[:1] if grow.max() >= fall.max() else wrong[1:]
        self.free[wrong] = True
        return not wrong


def _solve(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution, or the shortest of the nearest where the system is singular."""
    with np.errstate(all="ignore"):
        try:
            solution = np.linalg.solve(system, right)
            left_over = np.abs(right - system @ solution).max()
            if left_over <= 1e-12 * float(np.abs(right).max()):
                return solution
        except np.linalg.LinAlgError:
            pass
    return np.asarray(lstsq(system, right, cond=ROUNDING, lapack_driver="gelsy")[0])

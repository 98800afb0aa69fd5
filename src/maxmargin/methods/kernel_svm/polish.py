"""Small kernel SVMs to machine precision: a primal active-set method.

With the samples at a bound fixed, the free ones are optimal where g is the same for all of them, which is one
linear system. A step that would leave the box stops at the first bound, and the sample that reaches it is
fixed. A kink at 0 cuts the box into two pieces; a free sample is on one of them. At the optimum of the free
samples, the fixed sample that violates optimality most is freed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lstsq

from ...data import check_kernel_sums
from ...solving import FLOAT_EPS
from .box_problem import BoxProblem

RELATIVE_ROUNDING = 64 * FLOAT_EPS


def polish(
    problem: BoxProblem,
    a: np.ndarray,
    late: Callable[[], bool],
    kernel_rows: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients that are optimal up to rounding, or ``a`` itself if no better ones are found in time.

    Returns them and their gradient. ``kernel_rows(which)``, if given, provides the kernel values.
    """
    face = Face(problem, a, kernel_rows)
    start, first = a.copy(), face.g.copy()
    for _ in range(4 * len(a)):
        if late():
            break
        if face.step():
            face.renew()
            face.step()  # again, to correct the rounding of the first solution
            break
    face.renew()
    better = _gap(problem, face.a, face.g) <= _gap(problem, start, first)
    return (face.a, face.g) if better else (start, first)


def _gap(problem: BoxProblem, a: np.ndarray, g: np.ndarray) -> float:
    everyone = slice(None)
    return problem.gap(everyone, a, g, problem.intercept(everyone, a, g))


class Face:
    """A point and its free samples. Kernel rows are computed only for samples that are ever free."""

    def __init__(
        self,
        problem: BoxProblem,
        a: np.ndarray,
        kernel_rows: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.problem, self.a = problem, a.copy()
        everyone = np.arange(len(a))
        self.kernel_rows = kernel_rows or (lambda which: problem.kernel.between(which, everyone))
        self.lower, self.upper, self.shift = problem.piece(everyone, a, a)
        self.free = problem.is_free(everyone, a)
        self.K = np.empty((len(a), len(a)))
        self.known = np.zeros(len(a), dtype=bool)
        self.largest = 0.0  # of the kernel values
        self.renew()

    @property
    def size(self) -> float:
        """The magnitude of the terms whose difference is g."""
        return max(1.0, self.problem.kink) + self.largest * float(np.abs(self.a).sum())

    def renew(self) -> None:
        """Recompute the gradient from the coefficients."""
        support = np.flatnonzero(self.a)
        self._need(support)
        self.g = self.problem.y - self.a[support] @ self.K[support]

    def _need(self, which: np.ndarray) -> None:
        """Compute missing rows of K + R for these samples."""
        missing = which[~self.known[which]]
        if len(missing):
            self.K[missing] = self.kernel_rows(missing)
            self.K[missing, missing] += self.problem.ridge[missing]
            self.known[missing] = True
            largest = np.abs(self.K[missing]).max()
            check_kernel_sums(self.problem.kernel.dtype, largest)
            self.largest = max(self.largest, float(largest))

    def step(self) -> bool:
        """Move to the optimum of the face or to its boundary; True at the optimum of the problem."""
        moving = np.flatnonzero(self.free)
        if len(moving) < 2:
            one = self.problem.kink > 0.0 and len(moving) == 1  # another level may free one that cannot move
            return self._release(float(self._slope(moving)[0]) if one else self._level())
        self._need(moving)
        direction, level = self._direction(moving, self._slope(moving))
        if level is None and self._slide(moving):
            return False
        longest = 1.0 if level is not None else self._longest(moving, direction)
        step, wall = self._room(moving, direction, longest)
        if not np.isfinite(step):  # an indefinite kernel, or one dominated by rounding
            return True
        self.a[moving] += step * direction
        if wall is not None:
            self._hold(moving[wall], direction[wall])
        self.g -= (step * direction) @ self.K[moving]
        return wall is None and level is not None and self._release(level)

    def _slope(self, moving: np.ndarray) -> np.ndarray:
        """``g`` of free samples, with the kink's part on their pieces."""
        return np.asarray(self.g[moving] - self.shift[moving])

    def _direction(self, moving: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, float | None]:
        """The step to the optimum of the face and g there; if K is singular, an ascent direction and None."""
        m = len(moving)
        K = self.K[np.ix_(moving, moving)]
        scale = float(np.abs(K).max()) or 1.0
        system = np.full((m + 1, m + 1), scale)
        system[:m, :m], system[m, m] = K, 0.0
        right = np.append(g, 0.0)
        solution = _solve(system, right)
        left_over = right - system @ solution
        flat = left_over[:m] - left_over[:m].mean()
        rounding = RELATIVE_ROUNDING * max(self.size, scale * float(np.abs(solution).sum()))
        if np.abs(flat).max() > max(1e-9, 1e-9 * float(np.abs(g).max()), rounding):
            return flat, None
        direction = solution[:m] - solution[:m].mean()  # make the sum 0 despite the solver's rounding
        return direction, scale * float(solution[m])

    def _slide(self, moving: np.ndarray) -> bool:
        """Move to the bounds along all null directions of K that increase the objective; True if any did.

        The columns of ``flat`` span these directions. When a sample reaches its bound, a Householder
        reflection makes the first column the only one that moves it, and that column is removed.
        """
        K, g, m = self.K[np.ix_(moving, moving)], self._slope(moving), len(moving)
        scale = float(np.abs(K).max()) or 1.0
        middle = (
            K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() + scale
        )  # excludes the direction of the sum
        values, vectors = np.linalg.eigh(middle)
        flat = vectors[:, np.abs(values) <= RELATIVE_ROUNDING * m * scale]
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
        """The step length that maximises the objective; infinite without curvature."""
        curvature = float(direction @ self.K[np.ix_(moving, moving)] @ direction)
        return float(self._slope(moving) @ direction) / curvature if curvature > 0.0 else np.inf

    def _room(self, moving: np.ndarray, direction: np.ndarray, longest: float) -> tuple[float, int | None]:
        a, up = self.a[moving], direction > 0.0
        limit = np.where(up, self.upper[moving], self.lower[moving])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction != 0.0, (limit - a) / direction, np.inf)
        first = int(np.argmin(room))
        return (longest, None) if room[first] >= longest else (max(0.0, float(room[first])), first)

    def _level(self) -> float:
        """The midpoint between the slopes of the samples that may grow and of those that may fall."""
        up, down = self.problem.slopes(slice(None), self.a, self.g)
        return 0.5 * float(up.max() + down.min()) if len(up) and len(down) else 0.0

    def _release(self, level: float) -> bool:
        """Free the sample that violates optimality most, or a pair if none is free; True if none does."""
        problem = self.problem
        rise, drop = self.g + problem.bend(self.a, 1.0), self.g + problem.bend(self.a, -1.0)
        grow = np.where(~self.free & (self.a < problem.upper), rise - level, -np.inf)
        fall = np.where(~self.free & (self.a > problem.lower), level - drop, -np.inf)
        least = RELATIVE_ROUNDING * self.size
        wrong = [int(np.argmax(side)) for side in (grow, fall) if side.max() > least]
        n_free = int(self.free.sum())
        if n_free + len(wrong) < 2:
            return True
        if len(wrong) == 2 and n_free >= 1:
            wrong = wrong[:1] if grow.max() >= fall.max() else wrong[1:]
        self.free[wrong] = True
        everyone, side = np.arange(len(self.a)), np.where(grow > fall, 1.0, -1.0)
        pieces = problem.piece(everyone, self.a, side)
        for own, new in zip((self.lower, self.upper, self.shift), pieces, strict=True):
            own[wrong] = new[wrong]
        return not wrong


def _solve(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution; for a singular system, the least-squares solution of minimal norm."""
    with np.errstate(all="ignore"):
        try:
            solution = np.linalg.solve(system, right)
            left_over = np.abs(right - system @ solution).max()
            if left_over <= 1e-12 * float(np.abs(right).max()):
                return solution
        except np.linalg.LinAlgError:
            pass
    return np.asarray(lstsq(system, right, cond=RELATIVE_ROUNDING, lapack_driver="gelsy")[0])

"""Working sets of (sample, class) pairs of the all-pairs M-SVM, each solved by an interior-point method.

A set holds the pairs between their bounds and those that add most to the duality gap; all others are held,
and the quadratic program that is left has the equations of all classes in it. Its multipliers are the
intercepts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics import BoxQP, Solution, interior_point
from .problem import AllPairsProblem, Point

AT_BOUND = (1e-2, 1e-5, 1e-9)  # how close a pair must be to a bound to be put there

Pairs = tuple[np.ndarray, np.ndarray]  # rows and classes


def pair_set(problem: AllPairsProblem, point: Point, most: int) -> Pairs:
    """At most so many pairs: those between their bounds, then by what they add to the gap."""
    between = (point.a > 0.0) & (point.a < problem.upper)
    gaps = problem.gaps(point.a, point.z)
    first = between.sum() <= most // 2
    key = np.where(problem.own, -1.0, gaps + (gaps.max() * between if first else 0.0))
    n = min(most, key.size - len(key))
    chosen = np.sort(np.argpartition(-key, n - 1, axis=None)[:n])
    rows, classes = np.unravel_index(chosen, key.shape)
    return rows, classes


def optimal_pairs(
    problem: AllPairsProblem, point: Point, pairs: Pairs, accuracy: float, allowed: Callable[[float], float]
) -> Point:
    """The point where these pairs are optimal, with as many at their bounds as the gap allows.

    ``accuracy`` is that of the solution; ``allowed(gap)`` is the largest gap with pairs at their bounds,
    where the gap of the interior solution is given.
    """
    program = _program(problem, point, pairs)
    solution = interior_point(program, accuracy, point.a[pairs])
    inside = _moved(problem, point, pairs, solution.x, solution.equations)
    limit = allowed(inside.gap)
    for share in AT_BOUND:
        x = _at_bounds(program, solution, share)
        outside = _moved(problem, point, pairs, x, solution.equations)
        if outside.gap <= limit:
            return outside
        between = (x > 0.0) & (x < program.u)
        if between.any():  # once more, with the others held at their bounds
            some = pairs[0][between], pairs[1][between]
            refined = interior_point(_program(problem, outside, some), accuracy, x[between])
            outside = _moved(problem, outside, some, refined.x, refined.equations)
            if outside.gap <= limit:
                return outside
    return inside


def _program(problem: AllPairsProblem, point: Point, pairs: Pairs) -> BoxQP:
    rows, classes = pairs
    x, labels = point.a[pairs], problem.labels[rows]
    E = np.zeros((problem.n_classes, len(rows)))
    E[labels, np.arange(len(rows))] = 1.0
    E[classes, np.arange(len(rows))] -= 1.0
    H = problem.K[np.ix_(rows, rows)] * (E.T @ E)
    slope = point.F[rows, labels] - point.F[rows, classes] - 1.0
    return BoxQP(H, H @ x - slope, E, E @ x, problem.cost[rows])


def _moved(problem: AllPairsProblem, point: Point, pairs: Pairs, x: np.ndarray, b: np.ndarray) -> Point:
    a = point.a.copy()
    a[pairs] = x
    return problem.point(a, b)


def _at_bounds(program: BoxQP, solution: Solution, share: float) -> np.ndarray:
    """Bounds in place of values so close to them that the slope there changes by at most this share."""
    x, u, stiffness = solution.x, program.u, np.diag(program.H)
    to_0 = (x < 0.5 * u) & (stiffness * x <= share * solution.lower)
    to_u = (x > 0.5 * u) & (stiffness * (u - x) <= share * solution.upper)
    return np.where(to_0, 0.0, np.where(to_u, u, x))

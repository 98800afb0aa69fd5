"""Intervals of the real line known by a membership test."""

from __future__ import annotations

from collections.abc import Callable


def middle_of_interval(inside: Callable[[float], bool], low: float, high: float, point: float) -> float:
    """The middle of the interval around ``point``, within [low, high]; ``point`` if it is not inside."""
    if not inside(point):
        return point
    left = right = point
    for _ in range(60):
        middle = 0.5 * (low + left)
        low, left = (low, middle) if inside(middle) else (middle, left)
        middle = 0.5 * (right + high)
        right, high = (middle, high) if inside(middle) else (right, middle)
    return 0.5 * (left + right)

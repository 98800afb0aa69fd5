"""Roots of monotone functions of one variable."""

from __future__ import annotations

from collections.abc import Callable

from .result import FLOAT_EPS


def decreasing_root(
    function: Callable[[float], tuple[float, float]], low: float, high: float, start: float
) -> float:
    """A root of a non-increasing function on [low, high] by Newton's method kept inside a bracket.

    ``function(x)`` returns value and slope.
    """
    x = min(max(start, low), high)
    for _ in range(200):
        value, slope = function(x)
        if value == 0.0:
            return x
        low, high = (x, high) if value > 0.0 else (low, x)
        step = x - value / slope if slope < 0.0 else low - 1.0
        x_next = step if low < step < high else 0.5 * (low + high)
        if high - low <= 4 * FLOAT_EPS * max(abs(low), abs(high)) or x_next == x:
            return x_next
        x = x_next
    return x


def middle_of_zeros(
    function: Callable[[float], tuple[float, float]], low: float, high: float, zero: float
) -> float:
    """The middle of the interval around ``zero`` where a monotone function is 0; ``zero`` if it is none."""
    value, slope = function(zero)
    if value != 0.0 or slope < 0.0:
        return zero
    left, right = zero, zero
    for _ in range(60):
        middle = 0.5 * (low + left)
        low, left = (low, middle) if function(middle)[0] == 0.0 else (middle, left)
        middle = 0.5 * (right + high)
        right, high = (middle, high) if function(middle)[0] == 0.0 else (right, middle)
    return 0.5 * (left + right)

"""The minimum over one number m >= 0 of a convex function that is known point by point, with a proof.

Each evaluation at m gives the value there and a line below the whole function: its slope, and its value at 0.
The lines together bound the minimum from below. The search goes where the slope should be 0, by the rule of
false position with Illinois' correction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["LowerLine", "MultiplierSearch"]

MIN_SHARE = 0.02  # of the bracket, between the next point and its ends


@dataclass(frozen=True)
class LowerLine:
    """The function at m is at most ``value``; at any x it is at least ``at_zero + slope x``."""

    m: float
    value: float
    slope: float
    at_zero: float


class MultiplierSearch:
    """Evaluations, the bounds that they prove, and the next point.

    ``low`` and ``high`` are numbers between which the minimum lies, and bounds on the slopes there.
    """

    def __init__(self, low: tuple[float, float], high: tuple[float, float]) -> None:
        self.low, self.high = low, high
        self.found: list[LowerLine] = []
        self.best: LowerLine | None = None
        self.lower = float("-inf")
        self._last = 0

    def add(self, new: LowerLine) -> None:
        """Take an evaluation into account."""
        self.found.append(new)
        if self.best is None or new.value < self.best.value:
            self.best = new
        side = 1 if new.slope > 0.0 else -1
        if side == 1:
            if self._last == 1:  # the same end moved twice: the slope at the other one counts half
                self.low = self.low[0], 0.5 * self.low[1]
            self.high = new.m, new.slope
        else:
            if self._last == -1:
                self.high = self.high[0], 0.5 * self.high[1]
            self.low = new.m, new.slope
        self._last = side
        self.lower = self._bound()

    def _bound(self) -> float:
        """The minimum of the largest of all lines, which is at 0 or where two of them cross."""
        if all(line.slope < 0.0 for line in self.found):
            return float("-inf")
        return min(map(self._largest, (0.0, *self._crossings())))

    def _crossings(self) -> list[float]:
        return [
            (a.at_zero - b.at_zero) / (b.slope - a.slope)
            for a in self.found
            for b in self.found
            if a.slope < b.slope and a.at_zero > b.at_zero
        ]

    def _largest(self, m: float) -> float:
        return max(line.at_zero + line.slope * m for line in self.found)

    def spare_slope(self, depth: float) -> float:
        """By how much all slopes could fall before the bound were below ``-depth``.

        The largest d with ``max_lines(m) - d m >= -depth`` for all m > 0; the quotient is least where two
        lines cross, or as m grows without end.
        """
        crossings = [m for m in self._crossings() if m > 0.0]
        most = max(line.slope for line in self.found)
        return min([most, *((self._largest(m) + depth) / m for m in crossings)])

    def next(self) -> float:
        """The next point: inside the bracket, where the line through the slopes at its ends is 0."""
        (a, slope_a), (b, slope_b) = self.low, self.high
        width = slope_b - slope_a
        share = -slope_a / width if width > 0.0 else 0.5
        return a + min(max(share, MIN_SHARE), 1.0 - MIN_SHARE) * (b - a)

    def run(self, evaluate: Callable[[float], LowerLine], enough: Callable[[MultiplierSearch], bool]) -> None:
        """Evaluate at the next point until ``enough(self)``, or until the bracket has no numbers left."""
        while True:
            m = self.next()
            if not self.low[0] < m < self.high[0]:
                return
            self.add(evaluate(m))
            if enough(self):
                return

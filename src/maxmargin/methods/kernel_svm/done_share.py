"""Which share of an exact fit is done, from the rows seen and the gap that is left among the active ones."""

from __future__ import annotations

import math

from .working_set import TARGET_PER_TOL, WorkingSets

__all__ = ["DoneShare"]

# Measured on fits of 12,000 to 20,000 rows, easy and hard: the time to solve the rows seen grows with about
# their power of 1.5, and the last rows take a second, shorter round after all gradients are known.
SIZE_POWER = 1.5
FIRST_ROUND = 0.65


class DoneShare:
    """The share of one solve; it never falls.

    Parameters
    ----------
    tol : float
        The relative duality gap at which the solve ends.
    """

    def __init__(self, tol: float) -> None:
        self.target = TARGET_PER_TOL * tol
        self.seen, self.first_seen, self.first_open = 0, 0, 1.0
        self.lowest, self.again = math.inf, False
        self.share = 0.0

    def of(self, sets: WorkingSets) -> float:
        """The share after a step."""
        state = sets.state
        n, seen = len(sets.problem.y), int(state.seen)
        open_ = sets.open / max(abs(state.dual), sets.problem.tiny)
        if seen != self.seen:
            self.first_seen = self.first_seen or seen
            self.seen, self.first_open, self.lowest, self.again = seen, max(open_, 1.0), math.inf, False
        self.again = self.again or (seen == n and self.lowest <= 10.0 * self.target < open_)
        self.lowest = min(self.lowest, open_)
        way = self._way(open_)
        if seen == n:
            way = FIRST_ROUND + (1.0 - FIRST_ROUND) * way if self.again else FIRST_ROUND * way
        before, own = self._work_before(seen, n), (seen / n) ** SIZE_POWER
        self.share = max(self.share, min((before + own * way) / (self._work_before(n, n) + 1.0), 1.0))
        return self.share

    def _way(self, open_: float) -> float:
        """From the first gap of these rows to the target, on a logarithmic scale."""
        if not 0.0 < open_ < math.inf:
            return 0.0 if open_ > 0.0 else 1.0
        way = math.log(self.first_open / open_) / math.log(self.first_open / self.target)
        return min(max(way, 0.0), 1.0)

    def _work_before(self, seen: int, n: int) -> float:
        """Of the smaller sets of rows, which double until all are seen; that of all rows is 1."""
        total, size = 0.0, self.first_seen
        while size < seen:
            total += (size / n) ** SIZE_POWER
            size *= 2
        return total

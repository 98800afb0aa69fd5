"""How much of a fit is done, told while no certificate is due, to whoever shows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["DoneShare", "is_asked_for_shares", "share_listener", "tell_share"]

# Measured on fits of 12,000 to 20,000 rows, easy and hard: the time to solve the rows seen grows with about
# their power of 1.5, and the last rows take a second, shorter round after all gradients are known.
SIZE_POWER = 1.5
FIRST_ROUND = 0.65

Listener = Callable[[float, str], object]
_listener: ContextVar[Listener | None] = ContextVar("listener to shares", default=None)


@contextmanager
def share_listener(function: Listener) -> Iterator[None]:
    """Within, work in this thread tells ``function`` which share is done, about, and what work it is."""
    token = _listener.set(function)
    try:
        yield
    finally:
        _listener.reset(token)


def is_asked_for_shares() -> bool:
    """Whether anybody listens."""
    return _listener.get() is not None


def tell_share(share: float, work: str) -> None:
    """Tell the listener, if there is one, the share of a "fit" or of a "search", which has fits within it."""
    if (function := _listener.get()) is not None:
        function(share, work)


class DoneShare:
    """The share of a solve by working sets that is done; it never falls.

    Parameters
    ----------
    target : float
        The gap at which it ends.
    """

    def __init__(self, target: float) -> None:
        self.target = target
        self.seen, self.first_seen, self.first_open = 0, 0, 1.0
        self.lowest, self.again = math.inf, False
        self.share = 0.0

    def of(self, seen: int, n: int, open_: float) -> float:
        """The share after a step: ``seen`` of n rows take part, and ``open_`` is the gap of active ones."""
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

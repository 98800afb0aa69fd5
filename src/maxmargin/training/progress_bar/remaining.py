"""How long a training will still take: a model of its work, from the events that it tells."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["RemainingTime"]

MIN_SHARE = 0.03  # of a fit, from which on its speed is known
GROWTH_SHARE = 0.45  # of a fit under a budget, until it is full; then support vectors are exchanged
MAX_SHARE_WHEN_FULL = 0.85
GAP_POWER = 1.5  # the later factors of a gap take longer: measured on linear fits
ROWS_POWER = 1.5  # of the rows, in the time of the fit to all of them against that to those not held out
MIN_LEFT = 0.1  # of the time of a fit so far: work that takes longer than expected is not nearly done


@dataclass
class RemainingTime:
    """The seconds that are left, or None where nothing is known.

    Parameters
    ----------
    validate : float
        The share of rows held out; the fit to all rows comes after the fit to the others.
    clock : callable
        Seconds.
    """

    validate: float = 0.0
    clock: Callable[[], float] = time.monotonic
    phase: str = ""
    started: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)  # of phases that have ended
    duration: float | None = None  # of the present phase, as it is expected
    first_gap: float = 1.0
    full_after: float | None = None  # seconds, of a fit under a budget
    trace: list[tuple[float, float]] = field(default_factory=list)  # of the first fit: shares, seconds

    def see(self, event: Any) -> None:
        """Take in one event."""
        now = self.clock()
        if event.phase != self.phase:
            if self.phase:
                self.seconds[self.phase] = now - self.started
            self.phase, self.started = event.phase, now
            self.duration, self.first_gap, self.full_after = None, 1.0, None
        past = now - self.started
        share = self._share(event, past)
        if self.phase == "fit" and share is not None:
            self.trace.append((share, past))
        if self.phase == "refit":
            self.duration = self._refit_duration(share, past)
        elif share is not None and share >= MIN_SHARE:
            self.duration = past / share

    def left(self) -> float | None:
        """Seconds from now to the end of the training."""
        if self.duration is None:
            return None
        past = self.clock() - self.started
        later = self._refit_factor() * self._later_fit() if self.phase in ("fit", "validate") else 0.0
        return max(self.duration - past, MIN_LEFT * past) + later

    def _later_fit(self) -> float:
        """The time of the first fit, as it was or is expected."""
        return self.seconds.get("fit", self.duration or 0.0)

    def _refit_factor(self) -> float:
        return (1.0 / (1.0 - self.validate)) ** ROWS_POWER if self.validate else 0.0

    def _refit_duration(self, share: float | None, past: float) -> float | None:
        """The first fit took its time: the second one is as far as the first one was with the same share."""
        whole = self.seconds.get("fit")
        if whole is None:
            return None if share is None or share < MIN_SHARE else past / share
        expected = self._refit_factor() * whole
        if share is None or not self.trace:
            return expected
        part = max((seconds for told, seconds in self.trace if told <= share), default=0.0) / whole
        return expected if part < MIN_SHARE else (1.0 - part) * expected + part * (past / part)

    def _share(self, event: Any, past: float) -> float | None:
        """Of the present phase; None where the event does not tell."""
        if event.passes is not None:
            return None
        if event.share is not None:
            return float(event.share)
        if event.gap is None:
            return event.done / event.total if event.total else None
        if event.total:
            return self._budget_share(event.done, event.total, past)
        return self._gap_share(event.gap, event.tol)

    def _budget_share(self, done: int, total: int, past: float) -> float:
        if done < total:
            return GROWTH_SHARE * done / total
        if self.full_after is None:
            self.full_after = past
        expected = self.full_after / GROWTH_SHARE
        return min(past / expected, MAX_SHARE_WHEN_FULL) if expected > 0.0 else MAX_SHARE_WHEN_FULL

    def _gap_share(self, gap: float, tol: float | None) -> float | None:
        if tol is None or not 0.0 < gap < math.inf:
            return None
        self.first_gap = max(self.first_gap, gap)
        way = math.log(self.first_gap / gap) / math.log(self.first_gap / tol) if self.first_gap > tol else 1.0
        return float(min(max(way, 0.0), 1.0) ** GAP_POWER)

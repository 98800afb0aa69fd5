"""When a fit must end: a moment on a monotonic clock, and the byte that ends native work soon after it.

A deadline is made when ``fit`` starts and handed down in ``Stop``. Loops ask ``passed()`` between steps, stop
and compute a last certificate. Work that does not end by itself is cut: after a period of grace one thread,
which watches all deadlines, sets ``flag``, the byte that native calls and loops over blocks check several
times a second, and they raise ``Cancelled``. What was computed until then is returned, without a certificate
if there was no time for one.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Self

import numpy as np

from .._native import Cancelled, started_thread

__all__ = ["Deadline", "enclosing_deadline", "ended_in_time", "too_late", "until_cut"]

DEFAULT_SECONDS = 3600.0
CANCELLED, OUT_OF_TIME = 1, 2  # what the byte says: another thread has failed, or the time is up
GRACE_SHARE = 0.1  # of the seconds given, for a certificate that has begun or is still due
MIN_GRACE_SECONDS = 0.25
MIN_NESTED_GRACE_SECONDS = 0.02  # of the many fits of a search
LONGEST_SLEEP_SECONDS = 1.0  # of the thread that watches; it ends if no fit has begun in that time
SHORTEST_SLEEP_SECONDS = 0.005

_enclosing: ContextVar[Deadline | None] = ContextVar("enclosing deadline", default=None)


class Deadline:
    """``seconds`` from now on the monotonic clock ``time.perf_counter``.

    As a context manager it is watched, and it limits every deadline made inside: a fit within a fit never
    outlasts the outer one. Outside of its context, and with an infinite limit, nothing is cut.

    Parameters
    ----------
    seconds : float
    flag : array of one byte, optional
        Shared with other deadlines; a new one by default.
    """

    def __init__(self, seconds: float = DEFAULT_SECONDS, flag: np.ndarray | None = None) -> None:
        self.seconds = float(seconds)
        self.at = time.perf_counter() + self.seconds
        self.cut_at = self.at + max(GRACE_SHARE * self.seconds, MIN_GRACE_SECONDS)
        self.flag = np.zeros(1, dtype=np.uint8) if flag is None else flag
        outer = _enclosing.get()
        if outer is not None and outer.at < self.at:
            self.seconds, self.at = outer.seconds, outer.at
        if outer is not None:
            self.cut_at = min(self.cut_at, outer.cut_at)

    def left(self) -> float:
        """The seconds left, 0 if none are."""
        return max(self.at - time.perf_counter(), 0.0)

    @property
    def is_limited(self) -> bool:
        """Whether it ever passes."""
        return self.at < math.inf

    def passed(self) -> bool:
        """Whether no further step may begin: the time is up, or another thread has failed."""
        return bool(self.flag[0]) or time.perf_counter() >= self.at

    @property
    def has_cut(self) -> bool:
        """Whether work was cut because the time is up, not because another thread failed."""
        late = not self.flag[0] and time.perf_counter() >= self.cut_at  # a fit within this one was cut first
        return bool(late or self.flag[0] == OUT_OF_TIME)

    def part(self, share: float) -> Deadline:
        """An earlier deadline, after this share of the time left; it is cut together with this one."""
        part = Deadline(share * self.left(), self.flag)
        part.at, part.seconds = min(part.at, self.at), self.seconds
        return part

    def nested(self, share: float) -> Deadline:
        """The deadline of a fit within this one, which may be cut alone after this share of the time left."""
        seconds = share * self.left()
        nested = Deadline(seconds)
        nested.seconds = self.seconds
        nested.cut_at = min(nested.cut_at, nested.at + max(GRACE_SHARE * seconds, MIN_NESTED_GRACE_SECONDS))
        return nested

    def cancel(self) -> None:
        """End all work: another thread has failed; if it was cut, the reason stays that the time is up."""
        self.flag[0] = OUT_OF_TIME if self.has_cut else CANCELLED

    def cut(self) -> None:
        """End all work: the time is up."""
        if not self.flag[0]:
            self.flag[0] = OUT_OF_TIME

    def __enter__(self) -> Self:
        self._token = _enclosing.set(self)
        if self.cut_at < math.inf:
            _watcher.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _enclosing.reset(self._token)
        _watcher.remove(self)


def enclosing_deadline() -> Deadline | None:
    """The deadline of the fit that asks, if this thread works for one that is limited."""
    found = _enclosing.get()
    return found if found is not None and found.is_limited else None


class Watcher:
    """One thread that cuts deadlines. Starting a thread for each fit would take longer than a small fit.

    Where no thread can be started, loops still look at the clock.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.watched: set[Deadline] = set()
        self.thread: threading.Thread | None = None
        self.wakes_at = math.inf
        self.n_added = 0

    def add(self, deadline: Deadline) -> None:
        """Watch a deadline."""
        with self.changed:
            self.watched.add(deadline)
            self.n_added += 1
            if self.thread is None:
                self.thread = started_thread(self._run, daemon=True, name="maxmargin deadlines")
            elif deadline.cut_at < self.wakes_at:
                self.changed.notify()

    def remove(self, deadline: Deadline) -> None:
        """Watch it no longer."""
        with self.changed:
            self.watched.discard(deadline)

    def _run(self) -> None:
        with self.changed:
            known = -1
            while self.watched or known != self.n_added:
                known, now = self.n_added, time.perf_counter()
                for deadline in [one for one in self.watched if one.cut_at <= now]:
                    deadline.cut()
                    self.watched.remove(deadline)
                self.wakes_at = min([now + LONGEST_SLEEP_SECONDS, *(one.cut_at for one in self.watched)])
                self.changed.wait(max(self.wakes_at - now, SHORTEST_SLEEP_SECONDS))
            self.thread = None


_watcher = Watcher()


def _watch_anew() -> None:
    """In a forked child the thread does not exist, and its lock may have been held."""
    global _watcher
    watched, _watcher = _watcher.watched, Watcher()
    for deadline in watched:  # a fit that forks goes on in the child
        _watcher.add(deadline)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watch_anew)


@contextmanager
def until_cut(deadline: Deadline) -> Iterator[None]:
    """Leave the block silently if the time is up within it; what it had done by then remains."""
    try:
        yield
    except Cancelled:
        if not deadline.has_cut:
            raise


@contextmanager
def ended_in_time(deadline: Deadline, what: str) -> Iterator[None]:
    """Turn a cut before there was anything to return into an error with advice."""
    try:
        yield
    except Cancelled:
        if not deadline.has_cut:
            raise
        raise too_late(deadline, what) from None


def too_late(deadline: Deadline, what: str) -> TimeoutError:
    """The error of a fit whose time was up before ``what`` was done."""
    return TimeoutError(
        f"max_seconds={deadline.seconds:g} was too short for {what}; raise max_seconds, or fit fewer rows."
    )

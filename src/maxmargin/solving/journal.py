"""The journal of a fit: states and histories of its solves, so that an interrupted fit can be resumed.

A fit is a tree of solves: columns, folds, grids. Each solve has a key, a path of names that is the same in
every run, and a ``JournalEntry``: a copy of the solver's state after some certificate, and all certificates
until then. States are copied only at certificates that every run has at the same place, not at those forced
by a time limit or a cancellation.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .deadline import Deadline
from .result import Check, State, Status, Stop

__all__ = ["Journal", "JournalEntry", "JournalPart", "JournalRecord", "Record"]

MAX_COPY_TIME_SHARE = 0.05  # of the run time of a solve
RESUMABLE = (Status.STOPPED, Status.TIME_LIMIT)


@dataclass(frozen=True)
class JournalEntry:
    """Progress of one solve; ``status`` is None until it ends, ``ended`` is why no step can follow."""

    state: State
    history: tuple[Check, ...]
    ended: Status | None = None
    status: Status | None = None


class Journal:
    """The entries of a fit, and a callback for changes.

    Parameters
    ----------
    entries : dict of JournalEntry, optional
        Entries of the run to resume; the dict is updated in place.
    changed : callable, optional
        Called after an entry is replaced, by one thread at a time.
    every_copy : bool
        Copy the state at every certificate, however long that takes.
    """

    def __init__(
        self,
        entries: dict[str, JournalEntry] | None = None,
        changed: Callable[[], None] = lambda: None,
        every_copy: bool = False,
    ) -> None:
        self.entries = {} if entries is None else entries
        self.changed, self.every_copy = changed, every_copy
        self.lock = threading.RLock()
        self.opened: set[str] = set()

    def put(self, key: str, entry: JournalEntry) -> None:
        """Replace an entry."""
        with self.lock:
            self.entries[key] = entry
            self.changed()

    def open(self, key: str) -> None:
        """Register the key of a solve; raise if another solve already has it."""
        with self.lock:
            if key in self.opened:
                raise RuntimeError(f"two solves of one fit have the key {key!r}")
            self.opened.add(key)


@dataclass
class JournalPart:
    """The solves of one part of a fit, numbered in the order in which they begin."""

    journal: Journal
    name: str
    n_begun: int = 0

    def part(self, name: str) -> JournalPart:
        """A part of this part."""
        return JournalPart(self.journal, f"{self.name}/{name}")

    def state(self) -> State | None:
        """A copy of the state that the next solve resumes from, or None."""
        entry = self.journal.entries.get(self._next())
        return None if entry is None else entry.state.copy()

    def begin(self, stop: Stop) -> Record:
        """The record of the next solve."""
        key = self._next()
        self.n_begun += 1
        self.journal.open(key)
        return JournalRecord(self.journal, key, stop.deadline)

    def recall(self, name: str) -> State | None:
        """What ``keep`` stored under this name, in this run or the one being resumed; or None."""
        entry = self.journal.entries.get(f"{self.name}/{name}")
        return None if entry is None else entry.state

    def keep(self, name: str, state: State) -> None:
        """Store a finished piece of work that is not a solve."""
        key = f"{self.name}/{name}"
        self.journal.open(key)
        self.journal.put(key, JournalEntry(state, (), Status.CONVERGED, Status.CONVERGED))

    def _next(self) -> str:
        return f"{self.name}/{self.n_begun}"


class Record:
    """The record of a solve without a journal: it stores nothing."""

    found: JournalEntry | None = None

    @property
    def history(self) -> tuple[Check, ...]:
        """The certificates of the run being resumed."""
        return () if self.found is None else self.found.history

    def keep(self, state: State, history: list[Check], ended: Status | None) -> None:
        """Store the state after a certificate."""

    def end(self, state: State, history: list[Check], status: Status) -> None:
        """Store the state of a finished solve."""


class JournalRecord(Record):
    """The journal entry of one solve, updated by its loop."""

    def __init__(self, journal: Journal, key: str, deadline: Deadline) -> None:
        self.journal, self.key, self.deadline = journal, key, deadline
        self.found = journal.entries.get(key)
        self.copy_again_at = 0.0

    def keep(self, state: State, history: list[Check], ended: Status | None) -> None:
        """Store the state, unless copying would take too large a share of the time."""
        now = time.perf_counter()
        if self._in_its_place() and (now >= self.copy_again_at or self.journal.every_copy):
            self.journal.put(self.key, JournalEntry(state.copy(), tuple(history), ended))
            copied = time.perf_counter()
            self.copy_again_at = copied + (copied - now) / MAX_COPY_TIME_SHARE

    def end(self, state: State, history: list[Check], status: Status) -> None:
        """Store the state, unless the solve was stopped from outside and may be resumed later."""
        if self._in_its_place() and status not in RESUMABLE:
            self.journal.put(self.key, JournalEntry(state.copy(), tuple(history), status=status))

    def _in_its_place(self) -> bool:
        """Whether every run has this certificate, whatever its time limit."""
        return not self.deadline.passed()

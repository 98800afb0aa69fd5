"""The progress of the solves of a fit, so that an interrupted fit can be resumed: states and histories.

A fit is a tree of solves: columns, folds, grids. Each has a key, a path of names that is the same in every
run, and under it a ``JournalEntry``: a copy of the solver's state after some certificate, and the
certificates until then. States are taken at certificates that every run has at the same place; not at those
that a time limit or a cancel has brought about.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .result import Check, State, Status, Stop

__all__ = ["Journal", "JournalEntry", "JournalPart", "JournalRecord", "Record"]

SHARE = 0.05  # of the time, at most, goes into copies of a state
RESUMABLE = (Status.STOPPED, Status.TIME_LIMIT)


@dataclass(frozen=True)
class JournalEntry:
    """How far one solve has come: ``status`` is None until it has ended, ``ended`` why no step can follow."""

    state: State
    history: tuple[Check, ...]
    ended: Status | None = None
    status: Status | None = None


class Journal:
    """The entries of a fit, and what is done when there are new ones.

    Parameters
    ----------
    entries : dict of JournalEntry, optional
        Those of the run that is resumed; they are replaced in it.
    changed : callable, optional
        Called, by one thread at a time, after an entry was replaced.
    every_copy : bool
        Take the state at every certificate, however long that takes.
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
        """Note that a solve has this key; two cannot."""
        with self.lock:
            if key in self.opened:
                raise RuntimeError(f"two solves of one fit have the key {key!r}")
            self.opened.add(key)


@dataclass
class JournalPart:
    """The solves of a fit below one name, numbered in the order in which they begin."""

    journal: Journal
    name: str
    n_begun: int = 0
    asked_at: float | None = None

    def part(self, name: str) -> JournalPart:
        """Solves below a further name."""
        return JournalPart(self.journal, f"{self.name}/{name}")

    def state(self) -> State | None:
        """A copy of the state that the next solve is to go on from, if there is one."""
        self.asked_at = time.perf_counter()
        entry = self.journal.entries.get(self._next())
        return None if entry is None else entry.state.copy()

    def begin(self, stop: Stop) -> Record:
        """The record of the next solve; its time runs from when its state was asked for."""
        key, asked_at = self._next(), self.asked_at
        self.n_begun, self.asked_at = self.n_begun + 1, None
        self.journal.open(key)
        begun = time.perf_counter() if asked_at is None else asked_at
        return JournalRecord(self.journal, key, begun + stop.max_seconds, stop.cancel)

    def _next(self) -> str:
        return f"{self.name}/{self.n_begun}"


class Record:
    """Of a solve that nobody keeps anything of."""

    found: JournalEntry | None = None

    @property
    def history(self) -> tuple[Check, ...]:
        """The certificates of the run that is resumed."""
        return () if self.found is None else self.found.history

    def keep(self, state: State, history: list[Check], ended: Status | None) -> None:
        """Take the state after a certificate."""

    def end(self, state: State, history: list[Check], status: Status) -> None:
        """Take the state of a solve that is through."""


class JournalRecord(Record):
    """The entry of one solve, which its loop keeps up to date."""

    def __init__(self, journal: Journal, key: str, deadline: float, cancel: np.ndarray) -> None:
        self.journal, self.key, self.deadline, self.cancel = journal, key, deadline, cancel
        self.found = journal.entries.get(key)
        self.copy_again_at = 0.0

    def keep(self, state: State, history: list[Check], ended: Status | None) -> None:
        """Take the state, unless copies would take too much of the time."""
        now = time.perf_counter()
        if self._in_its_place() and (now >= self.copy_again_at or self.journal.every_copy):
            self.journal.put(self.key, JournalEntry(state.copy(), tuple(history), ended))
            copied = time.perf_counter()
            self.copy_again_at = copied + (copied - now) / SHARE

    def end(self, state: State, history: list[Check], status: Status) -> None:
        """Take the state, unless the solve was stopped from outside: it may be resumed later."""
        if self._in_its_place() and status not in RESUMABLE:
            self.journal.put(self.key, JournalEntry(state.copy(), tuple(history), status=status))

    def _in_its_place(self) -> bool:
        """Whether every run has this certificate here, whatever its limits of time."""
        return time.perf_counter() < self.deadline and not self.cancel[0]

"""Kernel rows of the samples at work, kept under a byte limit; the one not used for longest leaves first."""

from __future__ import annotations

import numpy as np

from .. import _native
from ..kernel_data import KernelData


class RowCache:
    """Rows ``k(x_j, x_i)`` for j asked for and i in ``active``; a kept row gains what ``active`` gains.

    ``rows[slot[j]]`` is the row of sample j, of which the first ``length[slot]`` entries are known.
    """

    def __init__(self, kernel: KernelData, limit: int) -> None:
        self.kernel, self.limit = kernel, limit
        self.active = np.zeros(0, dtype=np.int64)
        self.slot = np.full(len(kernel), -1, dtype=np.int64)
        self.rows = np.empty((0, 0), dtype=kernel.dtype)
        self.hits = self.misses = 0
        self._clear()

    def _clear(self) -> None:
        n_slots = len(self.rows)
        self.slot.fill(-1)
        self.owner = np.full(n_slots, -1, dtype=np.int64)
        self.length = np.zeros(n_slots, dtype=np.int64)
        self.used = np.zeros(n_slots, dtype=np.int64)
        self.clock = 0

    @property
    def capacity(self) -> int:
        """How many rows are held, at most."""
        return len(self.rows)

    @property
    def least(self) -> int:
        """How many rows are held at least, whoever is active: what a block may count on."""
        return self._allowed(len(self.kernel), self.limit)

    @property
    def hit_rate(self) -> float:
        """The share of rows asked for that were there."""
        return self.hits / max(1, self.hits + self.misses)

    def _allowed(self, length: int, n_bytes: int) -> int:
        """How many rows of this length fit into so many bytes; two are always held."""
        return int(np.clip(n_bytes // max(1, length * self.rows.itemsize), 2, len(self.kernel)))

    # ---- who is active ----

    def set_active(self, active: np.ndarray, kept: np.ndarray) -> None:
        """New active samples: those at the positions ``kept`` of the present ones, in order, then others.

        Rows of samples that are no longer active are forgotten.
        """
        gone = self.owner >= 0
        gone[self.slot[active[self.slot[active] >= 0]]] = False
        self.slot[self.owner[gone]] = -1
        self.owner[gone], self.used[gone] = -1, 0
        if len(kept) < len(self.active):
            held = np.flatnonzero(self.owner >= 0)
            _native.compact_rows(self.rows, held, self.length, kept, self.kernel.n_threads)
        if len(active) > self.rows.shape[1] or len(active) < self.rows.shape[1] // 4:
            self._resize(len(active))
        self.active = active

    def _resize(self, n_active: int) -> None:
        """Rows of another length: those used last move, as far as there is room for both old and new ones."""
        stride = min(len(self.kernel), n_active + n_active // 8)
        held = np.flatnonzero(self.owner >= 0)
        held = held[np.argsort(-self.used[held], kind="stable")]
        allowed = self._allowed(stride, self.limit)
        room = self._allowed(stride, self.limit - self.rows.nbytes)
        old, owner, length = self.rows, self.owner, self.length
        if room < min(allowed, max(2 * len(held), self.least)):  # too little: old rows are forgotten
            held, room = held[:0], allowed
            self.rows = old = np.empty((0, 0), dtype=old.dtype)
        self.rows = np.empty((room, stride), dtype=old.dtype)
        self._clear()
        for new, s in enumerate(held[:room]):
            known = min(int(length[s]), stride)
            self.rows[new, :known] = old[s, :known]
            self.owner[new], self.length[new], self.slot[owner[s]] = owner[s], known, new

    # ---- rows ----

    def fetch(self, which: np.ndarray) -> np.ndarray:
        """Slots of the rows of these samples, at most ``capacity`` many, complete."""
        self.clock += 1
        slots = self.slot[which]
        missing = np.flatnonzero(slots < 0)
        self.hits += len(which) - len(missing)
        self.misses += len(missing)
        if len(missing):
            self.used[slots[slots >= 0]] = self.clock
            slots[missing] = self._free_slots(which[missing])
        self.used[slots] = self.clock
        self._complete(slots)
        return slots

    def _free_slots(self, newcomers: np.ndarray) -> np.ndarray:
        """Slots for new rows: empty ones, then those whose rows were not used for longest."""
        n = len(newcomers)
        free = np.sort(np.argpartition(self.used, n - 1)[:n])
        gone = self.owner[free]
        self.slot[gone[gone >= 0]] = -1
        self.owner[free], self.length[free] = newcomers, 0
        self.slot[newcomers] = free
        return free

    def _complete(self, slots: np.ndarray) -> None:
        """Compute what rows lack: all of them, or the part for samples that became active since."""
        lengths = self.length[slots]
        for known in np.unique(lengths[lengths < len(self.active)]):
            short = slots[lengths == known]
            self.kernel.fill(self.owner[short], self.active[known:], (self.rows, short, int(known)))
            self.length[short] = len(self.active)

"""Kernel rows of the samples at work, kept under a byte limit; the one not used for longest leaves first."""

from __future__ import annotations

import numpy as np

from .. import _native
from ..kernel_data import KernelData

COMPUTED_AT_ONCE = 32 << 20  # bytes of new rows beside the cache


class RowCache:
    """Rows ``k(x_j, x_i)`` for j asked for and i in ``active``; a kept row gains what ``active`` gains.

    ``rows[slot[j]]`` is the row of sample j, of which the first ``length[slot]`` entries are known.
    """

    def __init__(self, kernel: KernelData, limit: int) -> None:
        self.kernel, self.limit = kernel, limit
        self.active = np.zeros(0, dtype=np.int64)
        self.slot = np.full(len(kernel), -1, dtype=np.int64)
        self.rows = np.empty((0, 0), dtype=kernel.dtype)
        self._clear()
        self.hits = self.misses = 0

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
    def hit_rate(self) -> float:
        """The share of rows asked for that were there."""
        return self.hits / max(1, self.hits + self.misses)

    def _allowed(self, length: int) -> int:
        """How many rows of this length the limit allows; two are always held."""
        wanted = self.limit // max(1, length * self.rows.itemsize)
        return int(max(2, min(wanted, len(self.kernel))))

    def set_active(self, active: np.ndarray, kept: np.ndarray) -> None:
        """New active samples: those at the positions ``kept`` of the present ones, in order, then others."""
        owners = np.flatnonzero(self.owner >= 0)
        grows = len(active) > self.rows.shape[1]
        if grows:
            self._move(active, kept, owners)
        else:
            self._compact(kept, owners)
        self.active = active

    def _compact(self, kept: np.ndarray, owners: np.ndarray) -> None:
        if len(kept) == len(self.active):
            return
        for s in owners:
            known = int(np.searchsorted(kept, self.length[s]))
            self.rows[s, :known] = self.rows[s, kept[:known]]
            self.length[s] = known

    def _move(self, active: np.ndarray, kept: np.ndarray, owners: np.ndarray) -> None:
        """Longer rows: into a larger array if there is room for both, else all are forgotten."""
        stride = min(len(self.kernel), len(active) + len(active) // 8)
        capacity = self._allowed(stride)
        old, held = self.rows, self.rows.nbytes
        samples, lengths = self.owner[owners], self.length[owners]
        recent = np.argsort(-self.used[owners], kind="stable")[:capacity]
        if held + capacity * stride * old.itemsize > self.limit:
            capacity = max(2, int((self.limit - held) // (stride * old.itemsize)))
            if capacity < len(recent) or capacity < self._allowed(stride) // 2:
                recent, capacity, old = recent[:0], self._allowed(stride), old[:0]
                self.rows = old
        self.rows = np.empty((capacity, stride), dtype=old.dtype)
        self._clear()
        for new, o in enumerate(recent):
            known = int(np.searchsorted(kept, lengths[o]))
            self.rows[new, :known] = old[owners[o], kept[:known]]
            self.owner[new], self.length[new], self.slot[samples[o]] = samples[o], known, new

    def fetch(self, which: np.ndarray) -> np.ndarray:
        """Slots of the rows of these samples, at most ``capacity`` many, complete."""
        self.clock += 1
        slots = self.slot[which]
        missing = np.flatnonzero(slots < 0)
        self.hits += len(which) - len(missing)
        self.misses += len(missing)
        if len(missing):
            self.used[slots[slots >= 0]] = self.clock
            free = np.argpartition(self.used, len(missing) - 1)[: len(missing)]
            gone = self.owner[free]
            self.slot[gone[gone >= 0]] = -1
            self.owner[free], self.length[free] = which[missing], 0
            self.slot[which[missing]] = free
            slots[missing] = free
        self.used[slots] = self.clock
        self._complete(slots)
        return slots

    def _complete(self, slots: np.ndarray) -> None:
        m = len(self.active)
        lengths = self.length[slots]
        for known in np.unique(lengths[lengths < m]):
            short = slots[lengths == known]
            step = max(1, COMPUTED_AT_ONCE // max(1, (m - known) * self.rows.itemsize))
            for i in range(0, len(short), step):
                some = short[i : i + step]
                self.rows[some, known:m] = self.kernel.between(self.owner[some], self.active[known:])
            self.length[short] = m

    def between(self, slots: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """A matrix of its own: the entries ``columns`` of the rows in these slots."""
        out = np.empty((len(slots), len(columns)), dtype=self.rows.dtype)
        _native.gather_block(self.rows, slots, columns, out, self.kernel.n_threads)
        return out

    def subtract(self, slots: np.ndarray, change: np.ndarray, g: np.ndarray) -> None:
        """``g -= change @ rows[slots]``."""
        _native.subtract_rows(self.rows, slots, change, g, self.kernel.n_threads)

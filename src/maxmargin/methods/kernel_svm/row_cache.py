"""A least-recently-used cache of kernel rows, its memory, and the bookkeeping of settled samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _native
from ...checkpoints import FitRecord
from ...data import available_bytes, check_number, lazy_array
from ...kernels import KernelData
from ...solving import State
from .box_problem import BoxProblem

AUTO_CACHE_MB = 1000


def check_cache_mb(cache_mb: Any) -> None:
    """Raise unless it is "auto" or a positive number."""
    if not (isinstance(cache_mb, str) and cache_mb == "auto"):
        check_number("cache_mb", cache_mb, above=0.0)


def cache_megabytes(cache_mb: Any, record: FitRecord) -> float:
    """The limit in effect; a resumed fit has that of its first run."""
    if isinstance(cache_mb, str):
        return float(record.fact("cache_mb", min(AUTO_CACHE_MB, available_bytes() / 4e6)))
    return float(cache_mb)


class RowCache:
    """Kernel rows ``k(x_j, x_i)`` for requested j and active i; cached rows are extended as ``active`` grows.

    ``rows[slot[j]]`` is the row of sample j; its first ``length[slot[j]]`` entries are known.
    """

    def __init__(self, kernel: KernelData, limit: int, memory: np.ndarray | None = None) -> None:
        self.kernel = kernel
        self.active = np.zeros(0, dtype=np.int64)
        self.slot = np.full(len(kernel), -1, dtype=np.int64)
        n_values = self._n_values(limit)
        enough = memory is not None and len(memory) >= n_values
        self.memory = memory[:n_values] if enough else lazy_array(n_values, kernel.dtype)  # type: ignore[index]
        self.rows = self.memory[:0].reshape(0, 0)
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
        """The maximum number of cached rows."""
        return len(self.rows)

    @property
    def hit_rate(self) -> float:
        """The share of requested rows that were in the cache."""
        return self.hits / max(1, self.hits + self.misses)

    def _n_values(self, limit: int) -> int:
        """The number of values that fit into the limit, at most all of them and at least two rows."""
        n = len(self.kernel)
        return max(2 * n, min(limit // np.dtype(self.kernel.dtype).itemsize, n * n))

    def _allowed(self, length: int) -> int:
        """How many rows of this length fit."""
        return min(len(self.memory) // max(1, length), len(self.kernel))

    def give_half(self) -> np.ndarray:
        """Drop all rows and return half of the memory, which is no longer used here."""
        half = len(self.memory) // 2
        given, self.memory = self.memory[half:], self.memory[:half]
        stride = self.rows.shape[1]
        n_rows = self._allowed(stride) if stride else 0
        self.rows = self.memory[: n_rows * stride].reshape(n_rows, stride)
        self._clear()
        return given

    # ---- active samples ----

    def set_active(self, active: np.ndarray, kept: np.ndarray) -> None:
        """Set the active samples: the current ones at the positions ``kept``, in order, then new ones.

        Rows of samples that are no longer active are dropped.
        """
        gone = self.owner >= 0
        gone[self.slot[active[self.slot[active] >= 0]]] = False
        self.slot[self.owner[gone]] = -1
        self.owner[gone], self.used[gone] = -1, 0
        if len(kept) < len(self.active):
            held = np.flatnonzero(self.owner >= 0)
            _native.compact_rows(self.rows, held, self.length, kept, self.kernel.n_threads)
        stride = self._stride(len(active))
        if stride != self.rows.shape[1]:
            self._resize(stride)
        self.active = active

    def _stride(self, n_active: int) -> int:
        """The row length to allocate: n_active rounded up to a fixed grid, independent of history."""
        step = max(1, (1 << max(n_active, 1).bit_length()) // 16)
        return min(len(self.kernel), -(-max(n_active, 1) // step) * step)

    def _resize(self, stride: int) -> None:
        """Change the row length within the same memory; if fewer rows fit, keep the most recently used."""
        old = self.rows.shape[1]
        capacity = self._allowed(stride)
        held = np.flatnonzero(self.owner >= 0)
        held = np.sort(held[np.argsort(-self.used[held], kind="stable")][:capacity])
        owner, length, used = self.owner[held], np.minimum(self.length[held], stride), self.used[held]
        for new, slot in enumerate(held):  # first pack the rows, then spread them from the end
            self._move(int(slot) * old, new * min(old, stride), length[new])
        for new in range(len(held) - 1, 0, -1) if stride > old else ():
            self._move(new * old, new * stride, length[new])
        clock = self.clock
        self.rows = self.memory[: capacity * stride].reshape(capacity, stride)
        self._clear()
        n = len(held)
        self.owner[:n], self.length[:n], self.used[:n], self.clock = owner, length, used, clock
        self.slot[owner] = np.arange(n)

    def _move(self, source: int, target: int, length: int) -> None:
        if source != target:
            self.memory[target : target + length] = self.memory[source : source + length]

    # ---- rows ----

    def fetch(self, which: np.ndarray) -> np.ndarray:
        """Slots of the complete rows of these samples, at most ``capacity`` many."""
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
        """Slots for new rows: empty ones first, then the least recently used."""
        n = len(newcomers)
        free = np.sort(np.argpartition(self.used, n - 1)[:n])
        gone = self.owner[free]
        self.slot[gone[gone >= 0]] = -1
        self.owner[free], self.length[free] = newcomers, 0
        self.slot[newcomers] = free
        return free

    def _complete(self, slots: np.ndarray) -> None:
        """Compute the missing entries: whole rows, or those of samples that became active since."""
        lengths = self.length[slots]
        for known in np.unique(lengths[lengths < len(self.active)]):
            short = slots[lengths == known]
            self.kernel.fill(self.owner[short], self.active[known:], (self.rows, short, int(known)))
            self.length[short] = len(self.active)


MAX_SLACK_OF_KINK = 0.5  # of its height, by which a sample at the kink has to be safe
GRADIENT_ROUNDING = {4: 1e-3, 8: 1e-6}  # rounding error of a gradient, by bytes per kernel value


def unmoved(a: np.ndarray, known: bool) -> dict[str, Any]:
    """The state entries for settled samples before the first step; the gradients belong to ``a``.

    ``snapshots[reference[i]]`` are the coefficients that the gradient of sample i belongs to, and
    ``row_path[i]`` is the path length of the solver at that time.
    """
    return {
        "snapshots": a[None].copy(),
        "reference": np.zeros(len(a), dtype=np.int64),
        "row_path": np.full(len(a), 0.0 if known else -np.inf),
    }


class SettledSamples:
    """The gradients of samples that are not active, and which of these samples are certainly settled."""

    def __init__(self, problem: BoxProblem, state: State) -> None:
        self.problem, self.state = problem, state
        self.rounding = GRADIENT_ROUNDING[np.dtype(problem.kernel.dtype).itemsize]

    def by(self, slack: float, which: np.ndarray, a: np.ndarray, g: np.ndarray, b: float) -> np.ndarray:
        """Whether each sample is at a bound and its slope points outside, by more than ``slack``.

        A sample at the kink is settled if its slopes on both sides point there.
        """
        lowest, highest = a <= self.problem.lower[which], a >= self.problem.upper[which]
        kink = self.problem.kink
        if kink == 0.0:
            return (lowest & (g < b - slack)) | (highest & (g > b + slack))
        outside = (lowest & (g < b - kink - slack)) | (highest & (g > b + kink + slack))
        return outside | ((a == 0.0) & (np.abs(g - b) < kink - min(slack, MAX_SLACK_OF_KINK * kink)))

    def fresh(self, which: np.ndarray) -> np.ndarray:
        """Whether each gradient belongs to the current coefficients."""
        return np.asarray(self.state.row_path[which] == self.state.path)

    def leave(self, which: np.ndarray) -> None:
        """Mark these samples, whose gradients are fresh, as no longer active."""
        state = self.state
        used, state.reference = np.unique(state.reference, return_inverse=True)
        state.snapshots = np.vstack([state.snapshots[used], state.a])
        state.reference[which], state.row_path[which] = len(state.snapshots) - 1, state.path

    def unsure(self, which: np.ndarray, b: float) -> np.ndarray:
        """The samples that are not certainly settled and whose gradients are not fresh."""
        state = self.state
        if not self.problem.kernel.kernel.positive:  # squared norms may be negative, so no bound holds
            return which[~self.fresh(which)]
        drift = (state.path - state.row_path[which]) * self.problem.kernel.lengths(which)
        safe = self.by(0.0, which, state.a[which], state.g[which], b)
        distance = np.abs(state.g[which] - b)
        if self.problem.kink > 0.0:
            distance = np.abs(distance - self.problem.kink)
        safe &= distance > drift + self.rounding
        return which[~safe & ~self.fresh(which)]

    def evaluate(self, which: np.ndarray) -> None:
        """Compute fresh gradients for these samples."""
        state, problem = self.state, self.problem
        which = which[~self.fresh(which)]
        if not len(which):
            return
        support = np.flatnonzero(state.a)
        for r in np.unique(state.reference[which]):
            rows = which[state.reference[which] == r]
            change = state.a - state.snapshots[r]
            moved = np.flatnonzero(change)
            if len(moved) > len(support):  # starting from zero is cheaper than updating
                state.g[rows] = problem.y[rows]
                change, moved = state.a, support
            state.g[rows] -= problem.ridge[rows] * change[rows]
            if len(moved):
                state.g[rows] -= problem.kernel.matmul(rows, moved, change[moved, None])[:, 0]
        self.leave(which)

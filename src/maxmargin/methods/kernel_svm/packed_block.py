"""A block of all free samples, however many, with its kernel matrix in 16-bit numbers.

Blocks of pairs are limited to a few thousand samples, and need kernel rows against all active samples. Where
there are more free samples and their rows do not fit into the cache, conjugate gradients on all of them at
once need only products with their kernel matrix. Its triangle in 16-bit numbers takes an eighth of the memory
of float32 rows against twice as many samples. The solution is a direction: the coefficients move along it as
far as exact kernel values allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _native
from ...kernels import KernelData
from ...solving import Stop
from .box_problem import BoxProblem

__all__ = ["ActiveSamples", "Move", "PackedBlock", "worth_packing"]

MIN_ROWS_TO_SHARE = 4  # rows that memory must hold before half of it is given to a packed block
PANEL_ROWS = 256  # rows whose kernel values are computed at a time
MAX_UNUSED_SHARE = 0.3  # of the samples in the matrix, before it is built again
ROUNDING = 1.0 / 32767.0  # step of a packed value, relative to the largest
MAX_PRODUCTS = 100  # of the matrix with a vector, for one direction
MIN_LENGTH_TO_COMPLETE = 0.9  # a step whose optimal length is at least this is taken whole


@dataclass(frozen=True)
class ActiveSamples:
    """The numbers of the active samples, their coefficients, gradients and intercept."""

    which: np.ndarray
    a: np.ndarray
    g: np.ndarray
    b: float


@dataclass(frozen=True)
class Move:
    """The next coefficients and gradients of the active samples.

    ``gain`` is the growth of the dual value, ``moved`` the length of the path of f.
    """

    a: np.ndarray
    g: np.ndarray
    gain: float
    moved: float


def packed_capacity(n_bytes: int) -> int:
    """How many samples a packed block can have in this memory, in whole panels."""
    n = 0
    while 2 * _native.packed_size(n + PANEL_ROWS) <= n_bytes:
        n += PANEL_ROWS
    return n


def worth_packing(memory: np.ndarray, n_values: int, n_samples: int, largest_block: int) -> bool:
    """Whether memory cannot hold ``n_values`` of kernel rows, and half of it holds more than a block."""
    if n_values <= len(memory) or len(memory) < MIN_ROWS_TO_SHARE * n_samples:
        return False
    return packed_capacity(memory.nbytes // 2) > largest_block


class PackedBlock:
    """The kernel matrix among ``members``, samples in the order in which they were added."""

    def __init__(self, kernel: KernelData, memory: np.ndarray) -> None:
        self.kernel = kernel
        self.values = memory.view(np.int16)
        self.members = np.zeros(0, dtype=np.int64)
        self.is_member = np.zeros(len(kernel), dtype=bool)
        self.largest = 0.0
        self.capacity = packed_capacity(self.values.nbytes)

    def clear(self) -> None:
        """Forget all samples."""
        self.members = self.members[:0]
        self.is_member[:] = False

    def move(self, problem: BoxProblem, active: ActiveSamples, tolerance: float, stop: Stop) -> Move | None:
        """A step of all free samples and of those that violate optimality; None if there is none.

        In the block, no pair is left to violate optimality by more than ``tolerance``, if time permits.
        """
        self._take(active.which[self._wanted(problem, active)])
        place = np.full(len(problem.y), -1, dtype=np.int64)
        place[active.which] = np.arange(len(active.which))
        place = place[self.members]
        a = active.a[place]  # a member that is no longer active has the place -1, and is not moved
        before = a.copy()
        self._solve(problem, (a, active.g[place], active.b), place < 0, tolerance, stop)
        change = np.zeros(len(active.a))
        change[place] = np.where(place >= 0, a - before, 0.0)
        moved = np.flatnonzero(change)
        if not len(moved):
            return None
        shift = self.kernel.matmul(active.which, active.which[moved], change[moved, None])[:, 0]
        shift += problem.ridge[active.which] * change
        bent = np.abs(active.a + change).sum() - np.abs(active.a).sum() if problem.kink > 0.0 else 0.0
        slope = float(active.g @ change) - problem.kink * float(bent)
        curvature = float(change @ shift)
        if not (slope > 0.0 and curvature > 0.0):
            return None
        length = min(1.0, slope / curvature)
        if length >= MIN_LENGTH_TO_COMPLETE:
            length = 1.0
        target = active.a + length * change
        if length == 1.0:
            target[place[place >= 0]] = a[place >= 0]
        gain = length * slope - 0.5 * length * length * curvature
        return Move(target, active.g - length * shift, gain, length * float(np.sqrt(curvature)))

    def _wanted(self, problem: BoxProblem, active: ActiveSamples) -> np.ndarray:
        """Free samples, and those whose gradient points inside; if they are too many, the least optimal."""
        grow, fall = active.a < problem.upper[active.which], active.a > problem.lower[active.which]
        residual = active.g - active.b
        free = problem.is_free(active.which, active.a)
        rise, drop = residual + problem.bend(active.a, 1.0), residual + problem.bend(active.a, -1.0)
        wanted = np.flatnonzero(free | (grow & (rise > 0.0)) | (fall & (drop < 0.0)))
        if len(wanted) > self.capacity:
            order = np.argsort(-np.abs(residual[wanted]), kind="stable")
            wanted = np.sort(wanted[order[: self.capacity]])
        return wanted

    def _take(self, wanted: np.ndarray) -> None:
        """Add samples; the matrix is built again if it has too many others."""
        new = wanted[~self.is_member[wanted]]
        n_unused, n_total = len(self.members) + len(new) - len(wanted), len(self.members) + len(new)
        if n_total > self.capacity or n_unused > MAX_UNUSED_SHARE * n_total:
            self.clear()
            new = wanted
        if not len(new):
            return
        first = len(self.members) // PANEL_ROWS * PANEL_ROWS  # the last panel was not full
        self.members = np.concatenate([self.members, new])
        self.is_member[new] = True
        n = len(self.members)
        self.largest = float(np.max(self.kernel.lengths(np.arange(len(self.kernel)))) ** 2)
        for i in range(first, n, PANEL_ROWS):
            end = min(i + PANEL_ROWS, n)
            K = self.kernel.between(self.members[i:end], self.members[:end])
            _native.pack_rows(self.values, n, self.largest, K, i)

    def _solve(
        self,
        problem: BoxProblem,
        point: tuple[np.ndarray, np.ndarray, float],
        fixed: np.ndarray,
        tolerance: float,
        stop: Stop,
    ) -> None:
        """Improve the coefficients of the members, except those that are ``fixed``, each on its piece.

        The ridge outweighs the rounding of the packed values, so that the matrix is positive definite.
        """
        which, (a, g, b) = self.members, point
        lower, upper, kink = problem.piece(which, a, g - b)
        _native.svm_packed_block(
            self.values,
            self.largest,
            a,
            g - kink,
            np.where(fixed, a, lower),
            np.where(fixed, a, upper),
            problem.ridge[which] + self.largest * ROUNDING * np.sqrt(len(which) / 3.0),
            tolerance=tolerance,
            max_products=MAX_PRODUCTS,
            seconds=stop.deadline.left(),
            n_threads=self.kernel.n_threads,
            cancel=stop.cancel,
        )

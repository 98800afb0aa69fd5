"""Kernel values between rows of one class, computed once for all columns of a code that need them.

In one-vs-one each class meets G - 1 others, and half of what a column asks for are values within its two
classes. Here they are kept, row by row as they are asked for, and copied.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from ...kernels import KernelData


class ClassBlocks:
    """For each class the kernel rows of its samples against all of them, as far as they are known."""

    def __init__(self, kernel: KernelData, labels: np.ndarray, n_classes: int) -> None:
        self.kernel = kernel
        self.members = [np.flatnonzero(labels == c) for c in range(n_classes)]
        self.rows = [np.empty((len(m), len(m)), dtype=kernel.dtype) for m in self.members]
        self.known = [np.zeros(len(m), dtype=bool) for m in self.members]
        self.locks = [threading.Lock() for _ in self.members]

    @staticmethod
    def n_bytes(kernel: KernelData, labels: np.ndarray) -> int:
        """The memory that all rows of all classes take."""
        return int((np.bincount(labels) ** 2).sum()) * np.dtype(kernel.dtype).itemsize

    def fetch(self, c: int, places: np.ndarray) -> np.ndarray:
        """The rows of the class's members at these places."""
        with self.locks[c]:
            missing = places[~self.known[c][places]]
            if len(missing):
                self.kernel.fill(self.members[c][missing], self.members[c], (self.rows[c], missing, 0))
                self.known[c][missing] = True
        return self.rows[c][places]

    def column(self, classes: tuple[int, int]) -> PairKernel:
        """The rows of two classes, one after the other."""
        index = np.concatenate([self.kernel.index[self.members[c]] for c in classes])
        kernel = self.kernel
        return PairKernel(
            kernel.kernel,
            kernel.X,
            index,
            kernel.n_threads,
            cancel=kernel.cancel,
            stats=kernel.stats,
            _filler=kernel.filler(),
            blocks=self,
            classes=classes,
        )


@dataclass
class PairKernel(KernelData):
    """Two classes: values within each come from ``blocks``, those between them are computed."""

    blocks: ClassBlocks | None = field(default=None, repr=False)
    classes: tuple[int, int] = (0, 1)

    def filler(self) -> None:
        """Nothing: the blocks are Python's."""

    def fill(self, which: np.ndarray, others: np.ndarray, out: tuple[np.ndarray, np.ndarray, int]) -> None:
        """As for any kernel data; whole rows are put together."""
        rows, slots, first = out
        if self.blocks is None or len(others) < len(self) or first > 0:
            super().fill(which, others, out)
            return
        n_first = len(self.blocks.members[self.classes[0]])
        halves = (slice(0, n_first), slice(n_first, len(self)))
        for own, other in ((0, 1), (1, 0)):
            mine = (which < n_first) == (own == 0)
            if mine.any():
                places = which[mine] - halves[own].start
                rows[slots[mine], halves[own]] = self.blocks.fetch(self.classes[own], places)
                span = np.arange(halves[other].start, halves[other].stop)
                super().fill(which[mine], span, (rows, slots[mine], int(halves[other].start)))

"""A pass over all blocks of rows: a pure function of each block, its results summed in one fixed tree.

Blocks are numbered in the order of their source. The sums of blocks 2i and 2i + 1 are added first, then those
sums in pairs, and so on: the tree depends on the number of blocks alone. So do the bits of the total, whoever
computes the parts, and in whatever order they are ready.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from ..._native import Cancelled, ThreadPool, one_blas_thread
from ...solving import Deadline
from .rows import BlockSource, RowBlock

__all__ = ["Passes", "ThreadPasses", "Tree"]


class Summable(Protocol):
    """What a pass returns for a block."""

    def copy(self) -> Any:
        """What ``plus`` may change while this one stays as it is."""
        ...

    def plus(self, other: Any) -> Any:
        """The sum of both; either may be changed or become the result."""
        ...


S = TypeVar("S", bound=Summable)


class Tree:
    """The sum of blocks 0, 1, 2, ..., which may arrive in any order."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, int], Any] = {}  # by level and position, without its sibling

    def put(self, number: int, value: Any) -> None:
        """Add the result of one block, and every pair of sums that is complete with it."""
        level = 0
        while (other := self._nodes.pop((level, number ^ 1), None)) is not None:
            value = other.plus(value) if number & 1 else value.plus(other)
            level, number = level + 1, number >> 1
        self._nodes[level, number] = value

    def total(self) -> Any:
        """The sum of all blocks; None if there were none."""
        total = None
        for _, value in sorted(self._nodes.items(), key=lambda node: node[0]):  # the last rows come first
            total = value if total is None else value.plus(total)
        self._nodes.clear()
        return total


class Passes(Protocol):
    """Whatever can run a pass: threads here, workers elsewhere. ``n_passes`` counts."""

    n_passes: int
    deadline: Deadline

    def run(self, function: Callable[[RowBlock, Any], S], task: Any) -> S:
        """The sum over all blocks of ``function(block, task)``."""
        ...


@dataclass
class ThreadPasses:
    """Passes over a source that this process reads, with threads that work on a block each.

    At most two blocks more than there are threads are in memory. ``n_passes`` counts; ``progress`` is called
    with it and with the number of blocks read.
    """

    source: BlockSource
    n_threads: int
    deadline: Deadline
    progress: Callable[[int, int], object] | None = None
    n_passes: int = 0

    def run(self, function: Callable[[RowBlock, Any], S], task: Any) -> S:
        """The sum over all blocks of ``function(block, task)``; raises ``Cancelled`` once the time is up.

        Work within a block is cut as well, but not what the source does to read one.
        """
        self.n_passes += 1
        tree, waiting = Tree(), dict[Future[S], int]()
        with one_blas_thread(), ThreadPool(self.n_threads) as pool:
            try:
                for number, block in enumerate(self.source.blocks()):
                    self._check()
                    if self.progress is not None:
                        self.progress(self.n_passes, number + 1)
                    block = replace(block, cancel=self.deadline.flag)
                    waiting[pool.submit(function, block, task)] = number
                    if len(waiting) > self.n_threads:
                        self._collect(tree, waiting)
                while waiting:
                    self._collect(tree, waiting)
            except BaseException:
                for job in waiting:
                    job.cancel()
                raise
        total = tree.total()
        if total is None:
            raise ValueError(f"{self.source.name}: there are no rows; a fit needs at least two classes.")
        return total

    def _check(self) -> None:
        if self.deadline.flag[0] or self.deadline.has_cut:
            raise Cancelled("cancelled")

    def _collect(self, tree: Tree, waiting: dict[Future[S], int]) -> None:
        self._check()
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for job in done:
            tree.put(waiting.pop(job), job.result())

"""A pass as one graph of Dask tasks: a task for each block, then their sums in the fixed tree."""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from dask.delayed import delayed
from distributed import Client, Future, KilledWorker

from .. import __version__
from .._native import Cancelled, one_blas_thread
from ..methods.blocks import RowBlock
from ..solving import Deadline
from .results import GONE, gone, result_of

__all__ = ["DaskPasses"]

BLOCK_KEY = re.compile(r"maxmargin-block-(\d+)-")


class DaskPasses:
    """Passes over blocks that are results of Dask tasks: computed again in each pass, or persisted.

    Only results of tasks move between processes: a problem, with its centres, is one task's result, which
    every block's task uses. A task whose worker dies is computed again, so the total has the same bits.

    Parameters
    ----------
    client : distributed.Client
    blocks : sequence of Delayed
        Each becomes a ``RowBlock``.
    deadline : Deadline
    progress : callable, optional
        Called with the number of passes and of blocks, when a pass begins (0 blocks) and when it ends.
    """

    def __init__(
        self,
        client: Client,
        blocks: Sequence[Any],
        deadline: Deadline,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self.client, self.blocks, self.deadline = client, list(blocks), deadline
        self.progress = progress or (lambda n_passes, n_blocks: None)
        self.n_passes = 0
        self._problem: tuple[Any, Any] = (None, None)  # the last one, and the task whose result it is
        check_versions(client)

    def run(self, function: Callable[[RowBlock, Any], Any], task: Any) -> Any:
        """The sum over all blocks of ``function(block, task)``."""
        self.n_passes += 1
        self.progress(self.n_passes, 0)
        name = uuid.uuid4().hex
        shared, small = self._shared(task)
        small = delayed(small, pure=False)
        parts = [
            delayed(_of_block, pure=False)(
                function, block, shared, small, dask_key_name=f"maxmargin-block-{number}-{name}"
            )
            for number, block in enumerate(self.blocks)
        ]
        if not parts:
            raise ValueError("the collection has no partitions; a fit needs rows of at least two classes.")
        while len(parts) > 1:  # the tree of ``methods.blocks.Tree``
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [delayed(_plus, pure=False)(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        try:
            total = self.client.compute(parts[0])
        except GONE as error:
            raise gone(self.client) from error
        found = self._result(total)
        self.progress(self.n_passes, len(self.blocks))
        return found

    def _shared(self, task: Any) -> tuple[Any, Any]:
        """The task's problem as the result of one Dask task, and the rest of it."""
        problem = getattr(task, "problem", None)
        if problem is None:
            return None, task
        if self._problem[0] is not problem:
            self._problem = problem, self.client.submit(_same, problem, pure=False)
        return self._problem[1], dataclasses.replace(task, problem=None)

    def _result(self, total: Future) -> Any:
        try:
            return result_of(self.client, total, self._check)
        except KilledWorker as error:
            raise RuntimeError(self._killed(error)) from error

    def _check(self) -> None:
        if self.deadline.flag[0] or self.deadline.has_cut:
            raise Cancelled("cancelled")

    def _killed(self, error: KilledWorker) -> str:
        """Which block has killed the workers that tried to compute it."""
        key = str(error.task)
        found = BLOCK_KEY.match(key)
        numbers = (
            [int(found[1])] if found else [i for i, block in enumerate(self.blocks) if _depends(block, key)]
        )
        which = f"block {numbers[0]}" if numbers else f"the task {key}"
        return (
            f"{which} of {len(self.blocks)} ends every worker that computes it. Is there enough memory for "
            "it? Try smaller partitions, or read this block alone to see what is wrong with it."
        )


def _depends(block: Any, key: str) -> bool:
    return any(str(each) == key for each in block.dask)


def check_versions(client: Client) -> None:
    """Raise if a worker has another version of the package: the bits, or even the sums, would differ."""
    try:
        found = client.run(_version, on_error="ignore")  # workers on their way out or in do not answer
    except OSError as error:
        raise ConnectionError(f"the Dask cluster does not answer ({error}); connect again.") from error
    for worker, version in found.items():
        if version != __version__:
            raise RuntimeError(
                f"the worker {worker} has maxmargin {version}, and the client {__version__}; install the "
                "same version on both."
            )


def _version() -> str:
    import maxmargin

    return maxmargin.__version__


def _same(problem: Any) -> Any:
    return problem


def _of_block(function: Callable[[RowBlock, Any], Any], block: RowBlock, problem: Any, task: Any) -> Any:
    if problem is not None:
        task = dataclasses.replace(task, problem=problem)
    with one_blas_thread():
        return function(block, task)


def _plus(left: Any, right: Any) -> Any:
    return left.copy().plus(right)  # Dask may use its arguments again

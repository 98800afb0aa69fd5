"""Work split over fixed blocks of rows, so that results do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

import numpy as np

from .. import _native

ROWS_PER_BLOCK = 2048
MIN_OPERATIONS_TO_THREAD = 2e6  # waking a thread takes a tenth of a millisecond


class RowPool:
    """Threads that each run NumPy products on one block at a time, with BLAS limited to one thread.

    A context manager: the threads and the BLAS limit last as long as the context. Setting the byte
    ``cancel`` ends the work between two blocks.
    """

    def __init__(self, n_threads: int, cancel: np.ndarray = _native.NEVER) -> None:
        self.n_threads = n_threads
        self.cancel = cancel
        self._executor: _native.ThreadPool | None = None
        self._one_blas_thread = _native.one_blas_thread()

    def __enter__(self) -> Self:
        self._one_blas_thread.__enter__()
        if self.n_threads > 1:
            self._executor = _native.ThreadPool(self.n_threads)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        self._one_blas_thread.__exit__(kind, error, trace)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any], work: float = np.inf) -> list[Any]:
        """``[function(item) for item in items]``; a small ``work``, in operations, runs on one thread."""
        items = list(items)
        if self._executor is None or len(items) == 1 or work < MIN_OPERATIONS_TO_THREAD:
            return [self._unless_cancelled(function, item) for item in items]
        jobs = [self._executor.submit(self._unless_cancelled, function, item) for item in items]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            for job in jobs:
                job.cancel()
            raise

    def _unless_cancelled(self, function: Callable[[Any], Any], item: Any) -> Any:
        if self.cancel[0]:
            raise _native.Cancelled("cancelled")
        return function(item)

    def sum(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Any:
        """The sum of the blocks' results, in the order of the blocks."""
        first, *rest = self.map(function, items)
        for part in rest:
            first = first + part
        return first


def row_blocks(n_rows: int, block: int = ROWS_PER_BLOCK) -> list[slice]:
    """Consecutive blocks of rows; at least one, which may be empty."""
    return [slice(start, min(start + block, n_rows)) for start in range(0, max(n_rows, 1), block)]

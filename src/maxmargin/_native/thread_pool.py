"""Python threads that the system may refuse at a limit of memory or processes: the caller does their work."""

from __future__ import annotations

import mmap
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

__all__ = ["ThreadPool", "room_for_thread", "started_thread"]

THREAD_BYTES = 16 << 20  # address space of a new thread: its stack and what the interpreter allocates in it


def room_for_thread() -> bool:
    """Whether a thread that is started now can begin to run.

    ``Thread.start`` waits for ever for a thread whose first allocation fails.
    """
    try:
        mmap.mmap(-1, THREAD_BYTES).close()
    except (OSError, MemoryError):
        return False
    return True


def started_thread(work: Callable[[], None], *, daemon: bool = False, name: str | None = None) -> Any:
    """A thread that does the work, or None if none could be started: nothing has been done then."""
    thread = threading.Thread(target=work, daemon=daemon, name=name)
    if not room_for_thread():
        return None
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


class ThreadPool(ThreadPoolExecutor):
    """An executor that makes do with the threads that can be started; with none, ``submit`` does the work."""

    def _adjust_thread_count(self) -> None:
        if len(self._threads) < self._max_workers and room_for_thread():
            with suppress(RuntimeError):  # can't start new thread
                super()._adjust_thread_count()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A call of the function, by a thread of the pool or, without any, here and now."""
        future = super().submit(fn, *args, **kwargs)
        if not self._threads:
            with suppress(queue.Empty):
                self._work_queue.get_nowait().run()
        return future

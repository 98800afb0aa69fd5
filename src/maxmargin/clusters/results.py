"""The results of tasks, and one sentence where a cluster does not give them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, wait
from typing import Any

from distributed import CancelledError as TaskCancelledError
from distributed import Client, Future

__all__ = ["GONE", "WorkerWatch", "gone", "result_of"]

SECONDS_BETWEEN_LOOKS = 0.2  # at the deadline, while workers compute
SECONDS_BETWEEN_COUNTS = 2.0  # of the scheduler's workers
SECONDS_TO_COUNT = 5.0  # a scheduler that does not answer is no scheduler without workers
MAX_SECONDS_WITHOUT_WORKERS = 300.0  # an adaptive cluster may need minutes for its first worker
GONE = (OSError, TimeoutError, RuntimeError)  # what a client raises whose scheduler has gone


def result_of(client: Client, future: Future, check: Callable[[], None] = lambda: None) -> Any:
    """The result of a task; ``check`` may raise while it is computed, and then nothing of it goes on.

    A result whose worker dies before it is fetched is computed again, so fetching is watched as well.
    """
    watch = WorkerWatch(client)
    fetched = asyncio.run_coroutine_threadsafe(_fetch(client, future), client.loop.asyncio_loop)
    try:
        while not wait([fetched], timeout=SECONDS_BETWEEN_LOOKS).done:
            check()
            watch.check()
        return fetched.result()
    except (CancelledError, TaskCancelledError) as error:
        raise gone(client) from error
    except BaseException:
        fetched.cancel()
        client.cancel([future], force=True)
        raise


async def _fetch(client: Client, future: Future) -> Any:
    return await client.gather(future, asynchronous=True)


class WorkerWatch:
    """Raises when a scheduler has had no workers for ``MAX_SECONDS_WITHOUT_WORKERS``.

    Until then its tasks wait, and go on as soon as there is a worker.
    """

    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self.client, self.clock = client, clock
        self._next_count = clock()
        self._empty_since: float | None = None

    def check(self) -> None:
        """Count the workers, if it is time to."""
        now = self.clock()
        if now < self._next_count:
            return
        self._next_count = now + SECONDS_BETWEEN_COUNTS
        n_workers = count_workers(self.client)
        if n_workers is None:
            return
        if n_workers > 0:
            self._empty_since = None
            return
        if self._empty_since is None:
            self._empty_since = now
        if now - self._empty_since >= MAX_SECONDS_WITHOUT_WORKERS:
            raise without_workers(self.client)


def count_workers(client: Client) -> int | None:
    """How many workers the scheduler has; None if it does not answer."""
    try:
        return len(client.sync(client.scheduler.ncores, callback_timeout=SECONDS_TO_COUNT))
    except GONE:
        return None


def gone(client: Client) -> ConnectionError:
    """The error of a client whose scheduler does not answer any more."""
    return ConnectionError(
        f"the Dask scheduler at {_address(client)} has gone or has dropped the work; connect again."
    )


def without_workers(client: Client) -> ConnectionError:
    """The error of a client whose scheduler has had no workers for too long."""
    address = _address(client)
    return ConnectionError(
        f"the Dask scheduler at {address} has had no workers for {MAX_SECONDS_WITHOUT_WORKERS:g} seconds; "
        f"start some ('dask worker {address}', or scale(n) of a cluster object) and run this again."
    )


def _address(client: Client) -> str:
    scheduler = client.scheduler
    return str(scheduler.address) if scheduler is not None else "an unknown address"

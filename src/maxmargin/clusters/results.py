"""The results of tasks, and one sentence where a cluster does not give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import CancelledError, Client, Future, wait

__all__ = ["GONE", "gone", "result_of"]

SECONDS_BETWEEN_LOOKS = 0.2  # at the deadline, while workers compute
GONE = (OSError, TimeoutError, RuntimeError)  # what a client raises whose scheduler has gone


def result_of(client: Client, future: Future, check: Callable[[], None] = lambda: None) -> Any:
    """The result of a task; ``check`` may raise while it is computed, and then nothing of it goes on."""
    try:
        while not future.done():
            check()
            try:
                wait(future, timeout=SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                continue
        return future.result()
    except CancelledError as error:
        raise gone(client) from error
    except BaseException:
        client.cancel([future], force=True)
        raise


def gone(client: Client) -> ConnectionError:
    """The error of a client whose scheduler does not answer any more."""
    scheduler = client.scheduler
    address = str(scheduler.address) if scheduler is not None else "an unknown address"
    return ConnectionError(
        f"the Dask scheduler at {address} has gone or has dropped the work; connect again."
    )

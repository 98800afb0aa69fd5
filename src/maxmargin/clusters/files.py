"""A function of each of some files, computed by the workers of a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from distributed import Client, KilledWorker

from .results import GONE, gone, result_of

__all__ = ["of_files"]


def of_files(
    client: Client, function: Callable[..., Any], model: Any, files: Sequence[Any], *arguments: Any
) -> Iterator[Any]:
    """``function(model, file, *arguments)`` for each file, in their order; each is one task.

    What was asked for is cancelled if the caller stops before the last file.
    """
    waiting: list[Any] = []
    try:
        everywhere = client.submit(_same, model, pure=False)  # one task's result, not an argument of each
        waiting += [client.submit(function, everywhere, file, *arguments, pure=False) for file in files]
    except GONE as error:
        raise gone(client) from error
    try:
        for file in files:
            yield _result(client, waiting[0], file)
            waiting.pop(0)  # what the caller has need not stay on the cluster
    finally:
        client.cancel(waiting, force=True)
        for future in waiting:  # a traceback may keep this frame, and with it what the scheduler keeps
            future.release()


def _result(client: Client, future: Any, file: Any) -> Any:
    try:
        return result_of(client, future)
    except KilledWorker as error:
        raise RuntimeError(
            f"{file.name} ends every worker that reads it. Is there enough memory for it? Try smaller files."
        ) from error


def _same(model: Any) -> Any:
    return model

"""A function of each of some files, computed by the workers of a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker

from .results import GONE, gone, result_of

__all__ = ["of_files"]


def of_files(
    client: Client, function: Callable[..., Any], model: Any, files: Sequence[Any], *arguments: Any
) -> Iterator[Any]:
    """``function(model, file, *arguments)`` for each file, in their order; each is one task.

    What was asked for is cancelled if the caller stops before the last file. A worker that dies takes down
    what it has beside the file that killed it, so a file is blamed only if it does so alone.
    """
    left = list(files)
    while left:
        with _asked(client, function, model, left, arguments) as waiting:
            try:
                while left:
                    yield result_of(client, waiting[0])
                    waiting.pop(0).release()  # what the caller has need not stay on the cluster
                    left.pop(0)
            except KilledWorker:
                pass
            else:
                return
        yield _alone(client, function, model, left.pop(0), arguments)


def _alone(
    client: Client, function: Callable[..., Any], model: Any, file: Any, arguments: Sequence[Any]
) -> Any:
    with _asked(client, function, model, [file], arguments) as waiting:
        try:
            return result_of(client, waiting[0])
        except KilledWorker as error:
            raise RuntimeError(
                f"{file.name} ends every worker that reads it. Is there enough memory for it? Try smaller "
                "files."
            ) from error


@contextmanager
def _asked(
    client: Client,
    function: Callable[..., Any],
    model: Any,
    files: Sequence[Any],
    arguments: Sequence[Any],
) -> Iterator[list[Any]]:
    """The tasks of some files; what is left of them at the end is cancelled."""
    waiting: list[Any] = []
    try:
        everywhere = client.submit(_same, model, pure=False)  # one task's result, not an argument of each
        waiting += [client.submit(function, everywhere, file, *arguments, pure=False) for file in files]
    except GONE as error:
        raise gone(client) from error
    try:
        yield waiting
    finally:
        client.cancel(waiting, force=True)
        for future in waiting:  # a traceback may keep this frame, and with it what the scheduler keeps
            future.release()


def _same(model: Any) -> Any:
    return model

"""The next items are made by a thread of their own while the present one is worked on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
_END = object()
DEPTH = 2  # items that may wait: enough to overlap, few enough to keep memory small


def ahead(items: Iterable[Item], depth: int = DEPTH) -> Iterator[Item]:
    """``items``, in their order, made ahead of their use; an error in making them is raised at its place.

    Parameters
    ----------
    items : iterable
        Gone through by another thread, once, and no further than ``depth`` beyond what was asked for.
    depth : int, default=2

    Yields
    ------
    item
    """
    waiting: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(depth)
    left = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> bool:
        while not left.is_set():
            try:
                waiting.put((item, error), timeout=0.05)
                return True
            except queue.Full:
                continue
        return False

    def make() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:
            put(_END, error)

    thread = threading.Thread(target=make, name="maxmargin-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        left.set()
        thread.join()

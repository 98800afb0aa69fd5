"""How much of a fit is done, told while no certificate is due, to whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["is_asked_for_shares", "share_listener", "tell_share"]

Listener = Callable[[float, str], object]
_listener: ContextVar[Listener | None] = ContextVar("listener to shares", default=None)


@contextmanager
def share_listener(function: Listener) -> Iterator[None]:
    """Within, work in this thread tells ``function`` which share is done, about, and what work it is."""
    token = _listener.set(function)
    try:
        yield
    finally:
        _listener.reset(token)


def is_asked_for_shares() -> bool:
    """Whether anybody listens."""
    return _listener.get() is not None


def tell_share(share: float, work: str) -> None:
    """Tell the listener, if there is one, the share of a "fit" or of a "search", which has fits within it."""
    if (function := _listener.get()) is not None:
        function(share, work)

"""How much of a fit is done, told while no certificate is due, to whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["is_asked_for_shares", "share_listener", "tell_share"]

_listener: ContextVar[Callable[[float], object] | None] = ContextVar("listener to shares", default=None)


@contextmanager
def share_listener(function: Callable[[float], object]) -> Iterator[None]:
    """Within, solvers of this thread tell ``function`` which share of their work is done, about."""
    token = _listener.set(function)
    try:
        yield
    finally:
        _listener.reset(token)


def is_asked_for_shares() -> bool:
    """Whether anybody listens."""
    return _listener.get() is not None


def tell_share(share: float) -> None:
    """Tell it to the listener, if there is one."""
    if (function := _listener.get()) is not None:
        function(share)

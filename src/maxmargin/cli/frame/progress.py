"""The line about work under way: only where standard error is a terminal, and not with ``--quiet``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...training import Bar, shown_bar
from .output import Show

__all__ = ["Bar", "bar"]


@contextmanager
def bar(show: Show) -> Iterator[Bar]:
    """A bar that is on the screen within, if there is a screen."""
    if show.quiet:
        yield Bar(None)
        return
    with shown_bar() as line:
        yield line

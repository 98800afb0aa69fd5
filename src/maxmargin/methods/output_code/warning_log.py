"""Warnings of many fits, wherever they run, gathered into one that says whose they are."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

__all__ = ["Warned", "listening", "recorded", "warn_once"]


class Warned(NamedTuple):
    """A warning that was recorded: it can be pickled, whatever its message holds."""

    category: type[Warning]
    text: str


class _Ear(threading.local):
    """What the task that runs on this thread has warned of, or None where no task runs."""

    heard: list[Warned] | None = None


_ear = _Ear()


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def recorded(function: Callable[..., Any], *args: Any) -> tuple[Any, list[Warned]]:
    """What ``function(*args)`` returns, and the warnings that it gave.

    ``warnings.catch_warnings`` swaps one global for another, which only one thread may do. So the main thread
    of a process records by itself, and threads rely on :func:`listening` around all of them.
    """
    if _on_main_thread():
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            result = function(*args)
        return result, [Warned(w.category, str(w.message)) for w in log]
    heard = _ear.heard = []
    try:
        return function(*args), heard
    finally:
        _ear.heard = None


@contextmanager
def listening() -> Iterator[None]:
    """While it lasts, :func:`recorded` works on other threads of this process too.

    Entered on a thread that is not the main one it does nothing: warnings then go where they always go.
    """
    if not _on_main_thread():
        yield
        return
    others: list[tuple[Any, ...]] = []

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any, **__: Any) -> None:
        if _ear.heard is None:
            others.append((message, category, filename, lineno))
        else:
            _ear.heard.append(Warned(category, str(message)))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield
    finally:
        for other in others:  # of no task: under the filters that hold outside
            warnings.warn_explicit(*other)


def warn_once(who: str, named: list[tuple[str, list[Warned]]]) -> None:
    """One warning for each category, with the names of all fits that gave it and the first one's words."""
    by_category: dict[type[Warning], list[tuple[str, str]]] = {}
    for name, given in named:
        for category in dict.fromkeys(warned.category for warned in given):
            text = next(warned.text for warned in given if warned.category is category)
            by_category.setdefault(category, []).append((name, text))
    for category, fits in by_category.items():
        names = ", ".join(name for name, _ in fits[:10]) + (", ..." if len(fits) > 10 else "")
        message = f"{who}: {len(fits)} of {len(named)} fits warned ({names}). The first: {fits[0][1]}"
        warnings.warn(_warning(category, message), stacklevel=6)  # where a user has called fit


def _warning(category: type[Warning], message: str) -> Warning:
    """A warning of that category, or of the nearest that is made from a message alone."""
    for kind in category.__mro__:
        try:
            return kind(message)
        except TypeError:
            continue
    raise AssertionError("Warning itself takes a message")

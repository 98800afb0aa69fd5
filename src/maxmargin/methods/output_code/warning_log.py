"""Warnings of many fits, on threads or processes, summarised as one warning that names the fits."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

__all__ = ["WarningRecord", "record_warnings", "thread_warnings", "warn_summary"]


class WarningRecord(NamedTuple):
    """A recorded warning; it can be pickled, whatever its message holds."""

    category: type[Warning]
    text: str


class _ThreadLog(threading.local):
    """The warnings of the task that runs on this thread, or None if no task runs."""

    records: list[WarningRecord] | None = None


_thread_log = _ThreadLog()


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def record_warnings(function: Callable[..., Any], *args: Any) -> tuple[Any, list[WarningRecord]]:
    """The result of ``function(*args)``, and the warnings that it issued.

    ``warnings.catch_warnings`` replaces a global, which only one thread may do. So the main thread of a
    process records by itself, and other threads rely on :func:`thread_warnings` around all of them.
    """
    if _on_main_thread():
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            result = function(*args)
        return result, [WarningRecord(w.category, str(w.message)) for w in log]
    records = _thread_log.records = []
    try:
        return function(*args), records
    finally:
        _thread_log.records = None


@contextmanager
def thread_warnings() -> Iterator[None]:
    """Inside this context :func:`record_warnings` works on other threads of this process too.

    Entered on a thread other than the main one, it does nothing: warnings are then shown as usual.
    """
    if not _on_main_thread():
        yield
        return
    others: list[tuple[Any, ...]] = []

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any, **__: Any) -> None:
        if _thread_log.records is None:
            others.append((message, category, filename, lineno))
        else:
            _thread_log.records.append(WarningRecord(category, str(message)))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield
    finally:
        for other in others:  # not issued by a task: the outer filters apply
            warnings.warn_explicit(*other)


def warn_summary(who: str, named: list[tuple[str, list[WarningRecord]]]) -> None:
    """One warning for each category, with the names of all fits that issued it and the first message."""
    by_category: dict[type[Warning], list[tuple[str, str]]] = {}
    for name, given in named:
        for category in dict.fromkeys(warned.category for warned in given):
            text = next(warned.text for warned in given if warned.category is category)
            by_category.setdefault(category, []).append((name, text))
    for category, fits in by_category.items():
        names = ", ".join(name for name, _ in fits[:10]) + (", ..." if len(fits) > 10 else "")
        message = f"{who}: {len(fits)} of {len(named)} fits warned ({names}). The first: {fits[0][1]}"
        warnings.warn(_warning(category, message), stacklevel=6)  # the user's call of fit


def _warning(category: type[Warning], message: str) -> Warning:
    """A warning of that category, or of its nearest base class that takes a message alone."""
    for kind in category.__mro__:
        try:
            return kind(message)
        except TypeError:
            continue
    raise AssertionError("Warning itself takes a message")

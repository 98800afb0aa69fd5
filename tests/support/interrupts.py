"""Ctrl-C sent by an event of the work it interrupts, never by a timer."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from maxmargin.numerics import highs

NEVER_SECONDS = 3600.0  # no thread takes the interpreter from another before


@contextmanager
def interrupt_in_compiled_code() -> Iterator[None]:
    """SIGINT as soon as this thread lets others run, as compiled code does when it begins to work."""
    begun = threading.Event()

    def send() -> None:
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(NEVER_SECONDS)
    try:
        begun.set()
        yield
    finally:
        sys.setswitchinterval(interval)
        sender.join()


def interrupt_inside(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *, call: int = 1) -> None:
    """SIGINT inside the given call of ``owner.name``, once it runs compiled code or waits for a thread."""
    original: Callable = getattr(owner, name)
    calls = itertools.count(1)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if next(calls) != call:
            return original(*arguments, **options)
        with interrupt_in_compiled_code():
            return original(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)


def interrupt_in_simplex(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """SIGINT when HiGHS first asks, in the middle of its simplex method, whether it is to go on."""
    original, sent = highs._interrupter, []

    def interrupter(*arguments: Any) -> Callable[..., None]:
        asked = original(*arguments)

        def call(*event: Any) -> None:
            if not sent:
                sent.append(True)
                os.kill(os.getpid(), signal.SIGINT)
            asked(*event)

        return call

    monkeypatch.setattr(highs, "_interrupter", interrupter)
    return sent

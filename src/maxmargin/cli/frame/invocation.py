"""The command line as it was given, for messages that repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

given: ContextVar[tuple[str, ...]] = ContextVar("given", default=())


def again(*more: str, without: Sequence[str] = ()) -> str:
    """The same command with ``more`` options, ready to be pasted into a shell."""
    words = [word for word in given.get() if word not in without]
    return shlex.join(["maxmargin", *words, *(word for word in more if word not in words)])


def command(*words: object) -> str:
    """Another command of ours, ready to be pasted."""
    return shlex.join(["maxmargin", *map(str, words)])

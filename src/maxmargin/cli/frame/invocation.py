"""One run of the command line: its arguments, its warnings so far, and whether it answers in JSON."""

from __future__ import annotations

import json
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .messages import EXIT_INTERRUPTED, say, silence, worded

# For programmers, not for people at a terminal.
_HIDDEN = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


@dataclass
class Invocation:
    """What a command knows of the run that it is part of."""

    arguments: tuple[str, ...] = ()
    json: bool = False
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def showing_warnings(self) -> Iterator[None]:
        """Within: a warning of Python is one line on standard error, and part of the JSON document."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for category in _HIDDEN:
                warnings.simplefilter("ignore", category)
            warnings.showwarning = self._show
            yield

    def _show(self, message: Any, *_: Any, **__: Any) -> None:
        self.warn(worded(message) if isinstance(message, Warning) else str(message))

    def warn(self, text: str) -> None:
        """Print a warning, unless it has been printed."""
        if text not in self.warnings:
            self.warnings.append(text)
            say(f"warning: {text}")

    def fail(self, text: str, code: int) -> int:
        """Print an error, with ``--json`` on standard output too; the exit code."""
        say(text if code == EXIT_INTERRUPTED else f"error: {text}")
        if self.json:
            _print_if_possible(
                json.dumps({"error": text, "exit_code": code, "warnings": self.warnings}, indent=2)
            )
        return code

    def again(self, *more: str) -> str:
        """The same command with ``more`` options, ready to be pasted into a shell."""
        missing = [word for word in more if word not in self.arguments]
        return shlex.join(["maxmargin", *self.arguments, *missing])


def _print_if_possible(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError:  # a full disk, which the error may be about, or a pipe that nobody reads
        silence("stdout")

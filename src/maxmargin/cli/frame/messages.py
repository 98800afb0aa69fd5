"""What goes to standard error: warnings as they come, errors at the end. Warnings are kept for ``--json``."""

from __future__ import annotations

import json as json_format
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .option_names import as_options
from .plain_text import printable
from .problems import EXIT_INTERRUPTED

_warned: list[str] = []
_QUIET = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Within: a warning is one line on standard error, said once, and part of the answer's JSON."""
    _warned.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in _QUIET:  # for programmers, not for people at a terminal
            warnings.simplefilter("ignore", category)
        warnings.showwarning = _show
        yield _warned


def warned() -> list[str]:
    """The warnings of this command so far."""
    return list(_warned)


def warn(text: str) -> None:
    """Say a warning, unless it has been said."""
    if text not in _warned:
        _warned.append(text)
        say(f"warning: {text}")


def say(text: str) -> None:
    """Lines on standard error."""
    print(printable(text, keep="\n"), file=sys.stderr, flush=True)


def fail(text: str, code: int, *, json: bool) -> int:
    """Say an error, with ``--json`` on standard output too; the exit code."""
    say(text if code == EXIT_INTERRUPTED else f"error: {text}")
    if json:
        _print_whole(json_format.dumps({"error": text, "exit_code": code, "warnings": warned()}, indent=2))
    return code


def _print_whole(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError:  # a full disk, which the error may be about
        pass


def _show(message: Any, *_: Any, **__: Any) -> None:
    warn(as_options(str(message)))

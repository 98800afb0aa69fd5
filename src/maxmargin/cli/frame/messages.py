"""What goes to standard error: warnings as they come, errors at the end. Warnings are kept for ``--json``."""

from __future__ import annotations

import json as json_format
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .output import printable

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


EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class UsageError(Exception):
    """Options that do not go together, or lack something: exit code 2."""


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Refuses to write over a file that is read; before any work."""
    for given in inputs:
        if out is not None and given is not None and out.exists() and given.exists() and out.samefile(given):
            raise UsageError(f"--out {out} is a file that is read, and would be lost; give another name.")


class Interrupted(Exception):
    """Ctrl-C, with the work in a safe place: the message says how to go on; exit code 130."""


_OPTIONS = {"names": "--names a,b,c", "data": "--array"}  # others are named after the parameter


def option_argument(parameter: str, value: Any) -> str:
    """An argument of ``open_source`` as an option of the command line."""
    if parameter == "kinds":
        ((column, kind),) = value.items()
        return f"--{'words' if kind == 'words' else 'numbers'} {shlex.quote(column)}"
    if parameter.startswith("max_"):
        return f"{parameter} (in Python, maxmargin.io.open_source)"
    option = _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")
    return option if value is None or value is True else f"{option} {value!r}"


_WORDS = (
    (r"`missing`", "--missing"),
    (r"\(open_source takes kinds=\{(['\"])(.+?)\1: 'words'\}\)", r"(--words \2)"),
    (r"\(open_source takes kinds=\{(['\"])(.+?)\1: 'number'\}\)", r"(--numbers \2)"),
    (r"kinds=\{(['\"])(.+?)\1: 'words'\}", r"--words \2"),
    (r"kinds=\{(['\"])(.+?)\1: 'number'\}", r"--numbers \2"),
)


def as_options(text: str) -> str:
    """The text with names of options in place of arguments of ``open_source``."""
    for pattern, option in _WORDS:
        text = re.sub(pattern, option, text)
    return text


given: ContextVar[tuple[str, ...]] = ContextVar("given", default=())


def again(*more: str, without: Sequence[str] = ()) -> str:
    """The same command with ``more`` options, ready to be pasted into a shell."""
    words = [word for word in given.get() if word not in without]
    return shlex.join(["maxmargin", *words, *(word for word in more if word not in words)])


def command(*words: object) -> str:
    """Another command of ours, ready to be pasted."""
    return shlex.join(["maxmargin", *map(str, words)])

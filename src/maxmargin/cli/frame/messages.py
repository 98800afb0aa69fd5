"""What goes to standard error, and its words: errors of the library name parameters, people know options."""

from __future__ import annotations

import io
import os
import shlex
import sys
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

# Parameters of the library, and the options that stand for them; `kinds` has two, one for each kind.
OPTIONS = {
    "block_rows": "--block-rows",
    "checkpoint": "--checkpoint",
    "checkpoint_seconds": "--checkpoint-every",
    "column_groups": "--column-group",
    "data": "--array",
    "decimal": "--decimal",
    "delimiter": "--delimiter",
    "drop": "--drop",
    "encoding": "--encoding",
    "format": "--format",
    "group": "--group COLUMN",
    "header": "--header",
    "ids": "--id",
    "labels": "--label OLD=NEW",
    "memory_mb": "--memory",
    "missing": "--missing",
    "names": "--names a,b,c",
    "resume": "--resume",
    "model": "--model",
    "stream": "--stream",
    "target": "--target",
    "task": "--task",
    "top_k": "--top-k",
    "unknown_labels": "--unknown-labels",
    "training": "--training FILE",
    "validate": "--validate",
    "zero_based": "--zero-based",
}
KIND_OPTIONS = {"words": "--words", "number": "--numbers"}


class UsageError(Exception):
    """Options that contradict each other, or that lack something: exit code 2."""


class Interrupted(Exception):
    """Ctrl-C with the work saved: the message says how to resume; exit code 130."""


def option(parameter: str, value: Any = None) -> str:
    """A parameter of the library as an option, with its value where one is known."""
    if parameter == "kinds" and isinstance(value, Mapping):
        return " ".join(f"{KIND_OPTIONS[kind]} {shlex.quote(name)}" for name, kind in value.items())
    if parameter.startswith("max_"):
        return f"{parameter} (in Python, maxmargin.io.open_source)"
    name = OPTIONS.get(parameter, parameter)
    if value is None or value is True:
        return name
    if value is False:
        return f"no {name}"
    if isinstance(value, str):
        return f"{name} {value if value.isalnum() else repr(value)}"
    return f"{name} {value}"


def worded(problem: BaseException) -> str:
    """An error or a warning in the words of the command line."""
    if hasattr(problem, "message"):
        return str(problem.message(option))
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {problem.strerror}"
    if isinstance(problem, MemoryError):
        return f"not enough memory: {problem}" if str(problem) else "not enough memory"
    return str(problem) or type(problem).__name__


def check_out(out: Path | None, *inputs: Path | None, option: str = "--out") -> None:
    """Refuse, before any work, to overwrite an input file, and a path that no file can be written to."""
    from ...archive import check_writable

    if out is None:
        return
    for given in inputs:
        if given is not None and out.exists() and given.exists() and out.samefile(given):
            raise UsageError(f"{option} {out} is an input file and would be overwritten; give another name.")
    check_writable(out)


def command(*words: object) -> str:
    """Another command of ours, ready to be pasted into a shell."""
    return shlex.join(["maxmargin", *map(str, words)])


def say(text: str) -> None:
    """Print lines to standard error; the work continues if nobody reads them or their disk is full."""
    try:
        print(printable(text, keep="\n"), file=sys.stderr, flush=True)
    except OSError:
        silence("stderr")


def silence(stream: str) -> None:
    """Send what is still written to a standard stream, or flushed at exit, to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, getattr(sys, stream).fileno())
    except (OSError, ValueError):  # a stream without a file, as tests have
        setattr(sys, stream, io.StringIO())
    finally:
        os.close(null)


def printable(text: object, keep: str = "") -> str:
    """The text with control characters written as escapes, except those in ``keep``."""
    return "".join(_escaped(c) if c not in keep else c for c in str(text))


def _escaped(character: str) -> str:
    # Cc: control, Cf: format (such as turning the direction of writing), Cs: half of a pair, Zl/Zp: new line
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character.encode("unicode_escape").decode("ascii")
    return character

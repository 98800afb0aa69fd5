"""Exit codes, and the two ways a command ends early that are nobody's fault."""

from __future__ import annotations

from pathlib import Path

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

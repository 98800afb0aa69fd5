"""The command line, maxmargin: ``main`` runs a command and returns its exit code.

Nothing is imported here that a command may not need, so that ``maxmargin --help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .streams import open_streams

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` (those of the process unless given) ask for.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``maxmargin`` on the command line.

    Returns
    -------
    exit_code : int
        0 done; 1 failed, with ``error: ...`` on standard error; 2 wrong usage; 130 interrupted by Ctrl-C.
    """
    open_streams()
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # while Python was still importing, or already saying goodbye
        print("interrupted", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    try:
        from .frame import run
    except ModuleNotFoundError as absent:
        if absent.name not in ("cyclopts", "rich"):
            raise
        print(f"error: the command line needs {absent.name}: pip install 'maxmargin[cli]'", file=sys.stderr)
        return 1
    return run(arguments)

"""Standard streams that can be used, whatever the process was started with."""

from __future__ import annotations

import os
import sys

__all__ = ["open_streams"]

STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}


def open_streams() -> None:
    """Open closed streams on the null device, and escape characters that the encoding of a stream lacks.

    The descriptors are opened too: the next file would take the number of a closed stream, and what a library
    prints to that stream would end up in the file.
    """
    for descriptor, (name, mode) in enumerate(STREAMS.items()):
        _open_descriptor(descriptor)
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _open_descriptor(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null == descriptor:
            os.set_inheritable(null, True)
        else:
            os.dup2(null, descriptor)
            os.close(null)

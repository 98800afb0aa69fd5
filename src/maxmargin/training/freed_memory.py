"""Memory that was freed and still counts as used."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Return freed memory to the system, where the C library can.

    glibc keeps what arrays of less than 32 MiB have left. After the columns of a million rows have become one
    matrix that is 280 MiB which no fit would use again.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return
    trim(0)

"""Memory: how much the machine has left, and arrays that take it only as they are used."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

LARGE = 4 << 20  # bytes from which on NumPy asks for huge pages


def available_bytes() -> int:
    """Memory that can be had without swapping, as far as the system tells; 2 GB where it does not."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (OSError, ValueError):
        return 2_000_000_000


def lazy_array(n: int, dtype: Any) -> np.ndarray:
    """An array of n numbers that are not set, in small pages.

    NumPy asks for huge ones. Finding 600 MB of them was seen to take 2 s, of small ones 0.4 s.
    """
    n_bytes = n * np.dtype(dtype).itemsize
    if n_bytes < LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(n, dtype=dtype)
    pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype=dtype, count=n)


class MemoryPool:
    """Arrays of one size for solves that run side by side: a finished solve leaves its array to the next."""

    def __init__(self, n: int, dtype: Any) -> None:
        self.n, self.dtype = n, dtype
        self._free: list[np.ndarray] = []

    @contextmanager
    def borrow(self) -> Iterator[np.ndarray]:
        """An array for one solve; its contents are those of the solve before."""
        memory = self._free.pop() if self._free else lazy_array(self.n, self.dtype)
        yield memory
        self._free.append(memory)

"""Arrays whose pages are allocated on first use, and handed from one solve to the next."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

MIN_HUGE_PAGE_BYTES = 4 << 20  # NumPy requests huge pages for arrays of this size and above


def lazy_array(n: int, dtype: Any) -> np.ndarray:
    """An uninitialised array of n numbers, in small pages.

    NumPy requests huge pages. Allocating 600 MB took 2 s with huge pages and 0.4 s with small ones. Raises
    ``MemoryError`` at a limit of memory, as NumPy does.
    """
    n_bytes = n * np.dtype(dtype).itemsize
    if n_bytes < MIN_HUGE_PAGE_BYTES or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(n, dtype=dtype)
    try:
        pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(
            f"Unable to allocate {n_bytes / 2**20:.0f} MiB for an array of {n} numbers"
        ) from error
    return np.frombuffer(pages, dtype=dtype, count=n)


class MemoryPool:
    """Arrays of one size for concurrent solves: a finished solve hands its array to the next."""

    def __init__(self, n: int, dtype: Any) -> None:
        self.n, self.dtype = n, dtype
        self._free: list[np.ndarray] = []

    @contextmanager
    def borrow(self) -> Iterator[np.ndarray]:
        """An array for one solve; it still holds the data of the previous solve."""
        memory = self._free.pop() if self._free else lazy_array(self.n, self.dtype)
        yield memory
        self._free.append(memory)

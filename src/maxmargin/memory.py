"""How much memory the machine has left."""

from __future__ import annotations

import os


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

"""Memory of this process: the resident set, and its peak since a chosen moment.

``ru_maxrss`` starts at the parent's value and never falls, so Linux's own counters are used where they exist.
"""

import resource
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _field_mb(name):
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def resident_mb():
    """The current resident set."""
    return _field_mb("VmRSS")


def reset_peak():
    """Reset the peak; where the system cannot, it stays that of the whole process."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def peak_mb():
    """The peak of the resident set."""
    return _field_mb("VmHWM")

"""Memory of this process: what is resident, and the highest since a moment that one chooses.

``ru_maxrss`` starts at what the process was forked from and never falls, so Linux is asked for better.
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
    """What is resident now."""
    return _field_mb("VmRSS")


def reset_peak():
    """Count the peak from now on; where the system cannot, it stays that of the whole process."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def peak_mb():
    """The most that was resident."""
    return _field_mb("VmHWM")

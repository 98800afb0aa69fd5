"""Clock: functions timed in turn, and one row of the table from two times."""

import time

import numpy as np


def interleaved(functions, repeats, rest=0.0):
    """Median seconds of each function, called in turn so that a busy moment hits all of them.

    OpenBLAS's threads spin for a while after a product. ``rest`` seconds before each call wait for them, or
    the next function in turn would pay for the one before.
    """
    seconds = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(repeats):
        for function, times in zip(functions, seconds):
            time.sleep(rest)
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return [float(np.median(times)) for times in seconds]


def row(name, ours, peer, peer_seconds, target=None, *, at_most=False):
    """One line: ratio is ours/peer where a cost is bounded from above, else how many times as fast we are."""
    ratio = ours / peer_seconds if at_most else peer_seconds / ours
    met = None if target is None else ratio <= target if at_most else ratio >= target
    sign = "<=" if at_most else ">="
    return {
        "name": name,
        "ours_seconds": ours,
        "peer": peer,
        "peer_seconds": peer_seconds,
        "ratio": round(ratio, 3),
        "target": "" if target is None else f"{sign} {target}",
        "met": met,
    }

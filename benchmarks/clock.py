"""Timing: functions called in turn, and one row of the table from two times."""

import sys
import time

import numpy as np


def interleaved(functions, repeats, rest=0.0):
    """Median seconds of each function, called in turn so that a busy moment hits all of them.

    OpenBLAS's threads spin for a while after a product. Each call waits ``rest`` seconds for them; otherwise
    it would pay for the function before.
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
    ours, peer_seconds = float(ours), float(peer_seconds)
    ratio = ours / peer_seconds if at_most else peer_seconds / ours
    met = None if target is None else ratio <= target if at_most else ratio >= target
    sign = "<=" if at_most else ">="
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "peers": peer_seconds,
        "unit": " s",
        "ratio": round(ratio, 3),
        "target": "" if target is None else f"{sign} {target}",
        "met": met,
    }


def score(name, ours, peer, peers, target=None, *, at_most=False, unit=" %"):
    """One line about a number other than a time; the target, if any, bounds the number itself."""
    ours, peers = float(ours), None if peers is None else float(peers)
    met = None if target is None else bool(ours <= target if at_most else ours >= target)
    sign = "<=" if at_most else ">="
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "peers": peers,
        "unit": unit,
        "ratio": None,
        "target": "" if target is None else f"{sign} {target:.6g}{unit}",
        "met": met,
    }


def timed(function):
    """Seconds, and the result of the function."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def percent(model, X, y):
    return 100.0 * float(model.score(X, y))


def tell(rows):
    """Print rows as progress; there may be minutes between two of them."""
    for line in rows:
        peer = "" if line["peers"] is None else f"; {line['peer']}: {line['peers']:.4g}{line['unit']}"
        print(f"{line['name']}: {line['ours']:.4g}{line['unit']}{peer}", file=sys.stderr, flush=True)
    return rows

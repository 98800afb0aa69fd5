"""Timing: functions called in turn, and one row of the table from two times."""

import math
import os
import sys
import time

import numpy as np

ONCE = "BENCH_ONCE" in os.environ  # quick runs call each function once: its time means little
SECONDS = time.process_time if os.environ.get("BENCH_CLOCK") == "processor" else time.perf_counter
TURNS_BY_SECONDS = ((1.0, 5), (10.0, 3))  # below this many seconds so many turns; else the first call counts


def interleaved(functions, repeats, rest=0.0):
    """Median seconds of each function, called in turn so that a busy moment hits all of them.

    OpenBLAS's threads spin for a while after a product. Each call waits ``rest`` seconds for them; otherwise
    it would pay for the function before.
    """
    seconds = [[] for _ in functions]
    if not ONCE:
        for function in functions:
            function()
    for _ in range(repeats):
        for function, times in zip(functions, seconds):
            time.sleep(rest)
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return [float(np.median(times)) for times in seconds]


def turns(functions, *, n_turns=None, least_seconds=0.0, rest=0.0):
    """Seconds of named functions called in turn: ``{name: {"seconds": median, "all": [...], "calls": n}}``.

    The first call of each warms up and shows how long it takes. If the slowest is over ten seconds nothing
    is repeated; otherwise all have three turns, or five below a second. A turn of a short function is as many
    calls as take ``least_seconds``. On a busy machine, ``BENCH_CLOCK=processor`` counts processor time.
    """
    first = {name: _seconds(function, 1, rest) for name, function in functions.items()}
    longest = max(first.values())
    n = 0 if ONCE else n_turns or next((n for most, n in TURNS_BY_SECONDS if longest < most), 0)
    calls = {name: max(1, math.ceil(least_seconds / max(took, 1e-7))) for name, took in first.items()}
    times = {name: [] if n else [took] for name, took in first.items()}
    for _ in range(n):
        for name, function in functions.items():
            times[name].append(_seconds(function, calls[name], rest))
    return {
        name: {"seconds": float(np.median(took)), "all": took, "calls": calls[name]}
        for name, took in times.items()
    }


def _seconds(function, n_calls, rest):
    time.sleep(rest)
    start = SECONDS()
    for _ in range(n_calls):
        function()
    return (SECONDS() - start) / n_calls


def mean_row(name, rows, target=None):
    """The geometric mean of the ratios of some rows, as one line."""
    ratios = [r["ratio"] for r in rows if r["ratio"]]
    mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else None
    return score(name, mean, f"geometric mean of {len(ratios)}", None, target, unit=" times")


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
    ours, peers = (None if value is None else float(value) for value in (ours, peers))
    met = None if target is None or ours is None else bool(ours <= target if at_most else ours >= target)
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

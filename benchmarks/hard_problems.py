"""KernelSVC on hard problems: large C and narrow kernels, against scikit-learn-intelex and scikit-learn.

Gamma is a multiple of the median heuristic. Every solver runs at its loosest tolerance whose dual objective
is within 1e-3 of the best one known; finding that tolerance does not count. A fit at the limit of 120 s
counts as 120 s. Fits take turns: five times below 1 s, three times below 10 s, else once. Times are wall
times on two cores; the table has processor times too. ``few features`` are easy problems with many rows.
"""

import sys
from importlib.util import find_spec

import numpy as np
from clock import row
from hard_sets import rows_of
from limited_fit import fitted, limited_fit

from maxmargin.kernels import median_gamma

TITLE = "Hard kernel SVM problems"
LIMIT_SECONDS = 7200  # of a cell: up to 16 fits that are stopped, and the objectives of the others
FIT_LIMIT_SECONDS = 120.0
SETS = ("letter", "a9a", "covtype", "usps", "magic", "ring", "phoneme", "mnist8")
CS, GAMMAS = (1.0, 10.0, 100.0, 1e3, 1e4), (0.25, 1.0, 4.0, 16.0)
IN_BENCH = ((1.0, 1.0), (10.0, 16.0), (100.0, 0.25), (1e3, 1.0), (1e4, 4.0))  # five cells of each set
FEW_FEATURES = ("letter", "covtype, ten features", "magic", "200,000 x 3")
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
REFERENCE_TOLERANCE = 1e-4
DUAL_SLACK = 1e-3
MAX_IMBALANCE = 1e-6
SHORT_SECONDS = 0.1  # cells in which both peers are faster are not compared
TITLES = {"maxmargin": "KernelSVC", "intelex": "scikit-learn-intelex SVC", "scikit-learn": "scikit-learn SVC"}
N_QUICK_ROWS = 400


def name_of(data, C, gamma):
    return f"{data}; C {C:g}; gamma {gamma:g} x median"


def grid():
    """Every cell of the grid by name: data, C, gamma and the peers."""
    both = ("intelex", "scikit-learn")
    found = {name_of(s, C, g): (s, C, g, both) for s in SETS for C in CS for g in GAMMAS}
    large = {name_of("covtype 50,000", C, g): ("covtype 50,000", C, g, both[:1]) for C in CS for g in GAMMAS}
    few = {f"few features; {s}": (s, 10.0, 1.0, both) for s in FEW_FEATURES}
    return found | large | few


def cells(suite):
    if suite == "quick":
        return [name_of("ring", 100.0, 1.0)]
    if suite == "hard":
        return list(grid())
    if suite == "bench":
        return [name_of(s, C, g) for C, g in IN_BENCH for s in SETS] + [
            f"few features; {s}" for s in FEW_FEATURES
        ]
    return []


def is_valid(facts):
    return "dual" in facts and facts["imbalance"] <= MAX_IMBALANCE


def loosest(fit, least):
    """The facts of the fit at the loosest tolerance whose dual objective is at least ``least``."""
    for tol in TOLERANCES:
        facts = fit(tol=tol, certify=True) | {"tol": tol}
        if facts.get("limit") or "failure" in facts or (is_valid(facts) and facts["dual"] >= least):
            return facts
    return facts | {"failure": "no tolerance reaches the objective"}


def reference_of(fits):
    """The fit at the reference tolerance of the first method that ends with a valid dual objective."""
    for fit in fits.values():
        if is_valid(facts := fit(tol=REFERENCE_TOLERANCE, certify=True)):
            return facts
    return None


def in_turn(fits, found):
    """Medians of repeated fits; the number of turns depends on the slowest method that is repeated."""
    times = {method: [(f["seconds"], f["cpu_seconds"])] for method, f in found.items() if "seconds" in f}
    for turn in range(1, 5):
        for method, runs in times.items():
            n_turns = 5 if runs[0][0] < 1.0 else 3 if runs[0][0] < 10.0 else 1
            if turn < n_turns and not found[method].get("limit"):
                facts = fits[method](tol=found[method]["tol"])
                runs.append((facts["seconds"], facts["cpu_seconds"]))
    for method, runs in times.items():
        seconds, cpu = np.median(runs, axis=0)
        found[method] |= {"seconds": float(seconds), "cpu_seconds": float(cpu), "runs": len(runs)}
    return found


def measure(cell, quick):
    data, C, factor, peers = grid()[cell]
    found = rows_of(data, N_QUICK_ROWS if quick else None)
    if found is None:
        return {"failure": f"the file of {data} is missing"}
    X, y = found
    gamma = factor * float(median_gamma(X))
    options = {"C": C, "gamma": gamma, "cache_mb": None, "limit": FIT_LIMIT_SECONDS}
    if quick:  # in this process
        return {
            "methods": {
                m: fitted(m, X, y, options | {"tol": 1e-3, "certify": True})
                for m in ("maxmargin", "scikit-learn")
            }
        }
    methods = [m for m in ("maxmargin", *peers) if m != "intelex" or find_spec("sklearnex")]
    fits = {m: lambda m=m, **more: limited_fit(m, X, y, **options, **more) for m in methods}
    reference = reference_of(fits)
    if reference is None:
        return {"failure": f"no solver ends at tol {REFERENCE_TOLERANCE:g} within {FIT_LIMIT_SECONDS:g} s"}
    best, chosen = reference["dual"], {}
    for method in methods:
        chosen[method] = loosest(fits[method], best - DUAL_SLACK * abs(best))
        print(f"{cell}: {method} {chosen[method]}", file=sys.stderr, flush=True)
    duals = [f["dual"] for f in (reference, *chosen.values()) if is_valid(f)]
    return {
        "best": max(duals),
        "reference": reference,
        "methods": in_turn(fits, chosen),
    }


def compared(cell, methods):
    """Rows of one cell; a solver at the limit is named so."""
    ours = methods.get("maxmargin", {})  # none where the data are missing
    for method, facts in methods.items():
        if method == "maxmargin" or "seconds" not in facts or "seconds" not in ours:
            continue
        if max(f.get("seconds", 0.0) for m, f in methods.items() if m != "maxmargin") <= SHORT_SECONDS:
            continue
        title = TITLES[method] + (", at the limit" if facts.get("limit") else "")
        name = cell + (", ours at the limit" if ours.get("limit") else "")
        target = 1.0
        if cell.startswith("few features"):
            target = 2.0 if method == "intelex" else 3.0
        yield method, row(name, ours["seconds"], title, facts["seconds"], target)


def rows(records):
    found = [line for cell, r in records.items() for line in compared(cell, r.get("methods", {}))]
    lines = [line for _, line in found]
    for method, target in (("intelex", 2.0), ("scikit-learn", 4.0)):
        pairs = [(x["ours"], x["peers"]) for m, x in found if m == method and "few features" not in x["name"]]
        if pairs:
            ours, theirs = np.exp(np.mean(np.log(pairs), axis=0))
            name = f"hard problems: geometric mean of {len(pairs)} cells"
            lines.append(row(name, ours, TITLES[method], theirs, target))
    return lines


def tables(records):
    """Tolerances, processor times and objectives, relative to the best known."""
    lines = []
    for cell, record in records.items():
        for method, facts in record.get("methods", {}).items():
            line = {"problem": cell, "method": TITLES[method], "tol": facts.get("tol", "")}
            line["processor s"] = (
                f"{facts['cpu_seconds']:.3g}" if "cpu_seconds" in facts else facts.get("failure", "")
            )
            if record.get("best") and "dual" in facts:
                line["below the best dual"] = f"{(record['best'] - facts['dual']) / abs(record['best']):.1e}"
            line["support vectors"] = facts.get("n_support", "")
            line["at the limit"] = "yes" if facts.get("limit") else ""
            lines.append(line)
    return {"Hard kernel SVM problems: tolerances and objectives": lines}

"""KernelSVC with less memory than its kernel rows need, up to the whole of covtype.

Covtype with features in [0, 1], gamma 32 and C 32: a narrow kernel, for which half of the rows become support
vectors. A cache of a tenth of the kernel rows that the fit needs is compared with an unlimited one, and 1,000
MB with scikit-learn-intelex. ``make bench-large`` fits 464,810 rows in at most an hour and 8 GiB.
"""

from importlib.util import find_spec

import numpy as np
from clock import row, score, timed
from hard_sets import unit_covtype
from limited_fit import estimator, limited_fit
from memory import peak_mb

TITLE = "Kernel SVM in little memory"
LIMIT_SECONDS = 3 * 3600
OPTIONS = {"C": 32.0, "gamma": 32.0, "tol": 1e-3}
N_WHOLE, WHOLE_CACHE_MB = 464_810, 6500
BYTES_PER_VALUE = 4
CELLS = {
    "quick": ("a tenth; 1,500",),
    "bench": ("a tenth; 15,000", "intelex; 25,000", "intelex; 50,000"),
    "hard": (),
    "large": ("alone; 100,000", f"alone; {N_WHOLE:,}"),
}


def cells(suite):
    return list(CELLS[suite])


def tenth(X, y):
    """An unlimited cache, and one of a tenth of the rows of the support vectors against all samples."""
    free = limited_fit("maxmargin", X, y, **OPTIONS, cache_mb=8000, limit=1200.0)
    needed = free["n_support"] * len(y) * BYTES_PER_VALUE / (1 << 20)
    small = limited_fit("maxmargin", X, y, **OPTIONS, cache_mb=max(needed / 10, 1.0), limit=1200.0)
    return {"unlimited": free, "tenth": small, "needed_mb": needed}


def against_intelex(X, y):
    """1,000 MB for ours, 2,000 MB for the peer, in turn."""
    facts = {"maxmargin": limited_fit("maxmargin", X, y, **OPTIONS, cache_mb=1000, limit=1200.0)}
    if find_spec("sklearnex"):
        facts["intelex"] = limited_fit("intelex", X, y, **OPTIONS, cache_mb=2000, limit=1200.0)
    return facts


def alone(X, y, X_test, y_test):
    """A fit in this process, for its memory and its accuracy on rows that it has not seen."""
    model = estimator("maxmargin", *OPTIONS.values(), WHOLE_CACHE_MB, 7200.0)
    seconds, _ = timed(lambda: model.fit(X, y))
    return {
        "seconds": seconds,
        "gap": float(model.dual_gap_),
        "status": model.status_,
        "n_support": len(model.support_),
        "accuracy": 100.0 * float(np.mean(model.predict(X_test) == y_test)),
        "peak_mb": peak_mb(),
    }


def measure(cell, quick):
    kind, n_rows = cell.split("; ")
    found = unit_covtype(int(n_rows.replace(",", "")))
    if found is None:
        return {"failure": "covtype.npz is missing"}
    X, y, X_test, y_test = found
    if quick:
        X, y = X[:1500], y[:1500]
    if kind == "a tenth":
        return tenth(X, y)
    return against_intelex(X, y) if kind == "intelex" else alone(X, y, X_test, y_test)


def rows(records):
    lines = []
    for cell, r in records.items():
        name = f"covtype in [0, 1], {cell.split('; ')[1]} rows"
        if "tenth" in r:
            target = None if r["needed_mb"] < 100 else 3.0
            args = (r["tenth"]["seconds"], "an unlimited cache", r["unlimited"]["seconds"], target)
            lines.append(row(f"{name}: a tenth of the kernel rows in memory", *args, at_most=True))
        elif "intelex" in r:
            args = (
                r["maxmargin"]["seconds"],
                "scikit-learn-intelex SVC, 2,000 MB",
                r["intelex"]["seconds"],
                1.0,
            )
            lines.append(row(f"{name}: fit with 1,000 MB", *args))
        elif "accuracy" in r:
            is_whole = f"{N_WHOLE:,}" in cell
            lines += [
                score(
                    f"{name}: fit",
                    r["seconds"],
                    "",
                    None,
                    3600 if is_whole else None,
                    at_most=True,
                    unit=" s",
                ),
                score(
                    f"{name}: memory",
                    r["peak_mb"],
                    "",
                    None,
                    8192 if is_whole else None,
                    at_most=True,
                    unit=" MB",
                ),
                score(f"{name}: accuracy", r["accuracy"], "", None, 96.0 if is_whole else None),
                score(f"{name}: gap", r["gap"], "", None, 1e-3 if is_whole else None, at_most=True, unit=""),
            ]
    return lines

"""What the records say: errors by set and k, stalls, times to a gap, and the share of the rate's bound."""

import math
import statistics
from dataclasses import dataclass

SOURCE_STALL = 0.028  # 17 Flowers, the source's Figure 1
SOURCE_SECONDS = {"block QP": 2.5, "Frank-Wolfe": 0.5}  # to a gap of 1e-2
TOPS = {1: "accuracy", 3: "top_3", 5: "top_5"}


@dataclass(frozen=True)
class Summary:
    """Each a dict; see the functions that make them."""

    errors: dict
    curves: dict
    stalls: dict
    rate: dict


def summary(records):
    """Of all records."""
    kinds = {kind: [r for r in records if r["kind"] == kind] for kind in ("errors", "gap", "rate")}
    return Summary(
        _errors(kinds["errors"]), _curves(kinds["gap"]), _stalls(kinds["gap"]), _rate(kinds["rate"])
    )


def _errors(records):
    """(set, k) to top-1, top-3, top-5 errors in percent, means over splits, the costs and the splits."""
    cells = {}
    for r in records:
        cells.setdefault((r["set"], r["k"]), []).append(r)
    return {
        key: {
            "errors": {top: 100.0 - statistics.mean(r[name] for r in some) for top, name in TOPS.items()},
            "alpha": [1.0 / (r["C"] * r["n_train"]) for r in some],
            "n_splits": len(some),
            "gap": max(r["own_gap"] for r in some),
        }
        for key, some in cells.items()
    }


def _curves(records):
    """(set, method) to records of the gap, P - D of the "include" problem, in the order of epochs."""
    cells = {}
    for r in records:
        if r["method"] not in ("stall", "optimum"):
            line = r | {"gap": r["primal"] - r["dual"]}
            cells.setdefault((r["set"], r["method"]), []).append(line)
    return cells


def seconds_to(curve, gap):
    """Until the first moment with such a gap, or None."""
    return next((r["seconds"] for r in curve if r["gap"] <= gap), None)


def _stalls(records):
    """(set, k, C) to the gap that Lapin's domain ends with, its P above the optimum, and its own gap."""
    ends = {(r["set"], r["k"], r["C"], r["method"]): r for r in records}
    found = {}
    for (name, k, C, method), r in ends.items():
        if method == "stall" and (best := ends.get((name, k, C, "optimum"))):
            found[name, k, C] = {
                "gap": r["primal"] - r["dual"],
                "above": r["primal"] - best["primal"],
                "own_gap": r["own_gap"],
                "optimum_gap": best["primal"] - best["dual"],
            }
    return found


def bound(n, k, lam, t, sharp):
    """SPEC 6.1: 32 / (lambda (2n + t - t0)), or with 2 (1 + 1/k) for 32; None before t0."""
    constant = 2.0 * (1.0 + 1.0 / k) if sharp else 32.0
    t0 = max(0, math.ceil(n * math.log(4.0 * lam * n / constant)))
    return constant / (lam * (2 * n + t - t0)) if t >= t0 else None


def _rate(records):
    """C to a list by epochs: mean of D* - D over seeds, and both bounds."""
    optimum = {r["C"]: r for r in records if r["method"] == "optimum"}
    means = {}
    for r in records:
        if r["method"] != "optimum":
            means.setdefault((r["C"], r["epochs"]), []).append(r)
    found = {}
    for (C, epochs), some in means.items():
        n, k = some[0]["n_train"], some[0]["k"]
        # D* is at most the primal at the end of a long run: what is measured is never too small.
        short = statistics.mean(optimum[C]["primal"] - r["dual"] for r in some)
        bounds = [bound(n, k, 1.0 / (C * n), epochs * n, sharp) for sharp in (False, True)]
        line = {
            "epochs": epochs,
            "short": short,
            "printed": bounds[0],
            "sharp": bounds[1],
            "seeds": len(some),
        }
        found.setdefault(C, []).append(line)
    return found


def worst_share(lines, which):
    """The largest share of a bound that was reached, in percent."""
    return 100.0 * max(line["short"] / line[which] for line in lines if line[which] is not None)

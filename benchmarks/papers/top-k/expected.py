"""The numbers of a run that ``expected.toml`` has, and how far another run may be from them."""

from expectation import Value
from summary import SOURCE_STALL, worst_share

HEAD = """\
# What run.py must give again. Errors and shares of the rate's bound in percent, gaps in thousandths; ours =
# what we got, tolerance = how far another run may be from it, paper = what the source prints.
# Written by `run.py --update`, and by `run.py --quick --update` for the quick part.
"""
TOLERANCE = {"quick": 6.0, "full": 2.0}


def values(found, variant):
    """By table and cell."""
    tables = {
        "errors": {},
        "stall": {},
        "own gap of Lapin's domain": {},
        "last gap": {},
        "share of the bound": {},
    }
    for (name, k), cell in found.errors.items():
        for top, error in cell["errors"].items():
            tables["errors"][f"{name}, top-{k} SVM, top-{top} error"] = Value(error, TOLERANCE[variant])
    for (name, k, C), cell in found.stalls.items():
        key, height = f"{name}, k = {k}, C = {C:g}", 1e3 * cell["gap"]
        paper = 1e3 * SOURCE_STALL if name == "flowers" else None
        tables["stall"][key] = Value(height, max(1.0, 0.15 * height), paper)
        tables["own gap of Lapin's domain"][key] = Value(1e3 * cell["own_gap"], 1.0)
    for (name, method), curve in found.curves.items():
        if method in ("dual ascent", "Frank-Wolfe"):
            gap = 1e3 * curve[-1]["gap"]
            tables["last gap"][f"{name}, {method}"] = Value(gap, max(1.0, 0.5 * gap), 0.0)
    for C, lines in found.rate.items():
        for which in ("printed", "sharp"):
            share = worst_share(lines, which)
            tables["share of the bound"][f"C = {C:g}, {which}"] = Value(share, max(2.0, 0.3 * share))
    return tables

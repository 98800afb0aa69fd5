"""The numbers of a run that ``expected.toml`` has, and how far another run may be from them."""

from statistics import mean

from claims import PAPER
from expectation import Value
from methods import CONVENTIONAL, FOCUSED

HEAD = """\
# What run.py must give again, in percent and points. paper = what the source prints (Table 2); ours = what we
# got; tolerance = how far another run may be from ours.
# Written by `run.py --update`, and by `run.py --quick --update` for the quick part.
"""
TOLERANCE = {"quick": 6.0, "full": 1.5}


def values(accuracies, claims, variant):
    """By table and cell; the few folds of a quick run say nothing about the claims."""
    tables = {"table 2": {}, "figure 1": {}}
    for (name, kind, share, method), some in accuracies.items():
        printed = dict(zip((CONVENTIONAL, FOCUSED), PAPER[name])).get(method) if kind == "none" else None
        table, key = ("table 2", name) if kind == "none" else ("figure 1", f"{name}, {share} % {kind}")
        tables[table][f"{key}, {method}"] = Value(mean(some), TOLERANCE[variant], printed)
    if variant == "full":
        tables["claims"] = {
            f"{c.set}: {c.text}": Value(c.difference.mean, TOLERANCE[variant], c.paper) for c in claims
        }
    return tables

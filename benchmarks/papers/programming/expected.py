"""The numbers of a run that ``expected.toml`` has, and how far another run may be from them."""

from expectation import Value

PAPER = "close"  # all that the source says: "close to the discrimination of the usual SVM", without a number
HEAD = """\
# What run.py must give again. ours = what we got; tolerance = how far another run may be from it; accuracies
# in percent. paper = what the source says of the claims: it has words ("close"), no numbers, and ours is by
# how many points the claim holds when close means within 1.5 points.
# Written by `run.py --update`, and by `run.py --quick --update` for the quick part.
"""
TOLERANCE = {"quick": 4.0, "full": 1.0}  # a row that falls to the other side is 0.2 points in a quick run
WIDER = {"hinge LP": 3.0}  # it has many optima


def values(records, claims, variant):
    """By table and cell; a quick run's few rows say nothing about the claims."""
    accuracy = {
        f"{r['set']}, {r['group']}, {r['method']}": Value(
            r["accuracy"], TOLERANCE[variant] * WIDER.get(r["method"], 1.0)
        )
        for r in records
    }
    if variant == "quick":
        return {"accuracy": accuracy}
    held = {f"{c.set}: {c.text}": Value(c.margin, 2.0 * TOLERANCE[variant], PAPER) for c in claims}
    return {"accuracy": accuracy, "claims": held}

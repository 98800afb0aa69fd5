"""The numbers of a run that ``expected.toml`` has, and how far another run may be from them."""

from expectation import Value

HEAD = """\
# What run.py must give again, in percent (rho/T: of T). ours = what we got; tolerance = how far another run
# may be from it. The source prints no experiment of its own; paper = what it says of the claims, ours by how
# many points of training error a claim holds.
# Written by `run.py --update`, and by `run.py --quick --update` for the quick part.
"""
TOLERANCE = {"quick": 4.0, "full": 1.5}


def values(cells, claims, variant):
    """By table and cell."""
    tables = {"accuracy": {}, "Hamming decoding": {}, "refined bound": {}, "rho/T": {}}
    tolerance = TOLERANCE[variant]
    for key, cell in cells.items():
        name = ", ".join(key)
        tables["accuracy"][name] = Value(cell["accuracy"], tolerance)
        tables["Hamming decoding"][name] = Value(cell["hamming"], tolerance)
        tables["refined bound"][name] = Value(cell["refined"], 2.0 * tolerance)
        tables["rho/T"][name] = Value(100.0 * cell["distance"] / cell["n_columns"], 0.1)
    if variant == "full":
        tables["claims"] = {
            f"{c.set}, {c.columns}: {c.text}": Value(c.margin, max(tolerance, 0.25 * abs(c.margin)), "holds")
            for c in claims
        }
    return tables

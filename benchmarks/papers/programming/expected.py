"""What a run is expected to give, cell by cell: ``expected.toml`` read, compared and written."""

import math
import tomllib
from pathlib import Path

FILE = Path(__file__).parent / "expected.toml"
PAPER = "close"  # all that the source says: "close to the discrimination of the usual SVM", without a number
HEAD = """\
# What run.py must give again. ours = what we got; tolerance = how far another run may be from it; accuracies
# in percent. paper = what the source says of the claims: it has words ("close"), no numbers, and ours is by
# how many points the claim holds when close means within 1.5 points.
# Written by `run.py --update`, and by `run.py --quick --update` for the quick part.
"""
TOLERANCE = {"quick": 4.0, "full": 1.0}  # a row that falls to the other side is 0.2 points in a quick run


def values(records, claims):
    """The numbers of a run, by table and cell."""
    accuracy = {f"{r['set']}, {r['group']}, {r['method']}": r["accuracy"] for r in records}
    return {"accuracy": accuracy, "claims": {f"{c.set}: {c.text}": c.margin for c in claims}}


def failures(found, variant):
    """The cells of this variant ("quick" or "full") that are not as expected, in words."""
    wrong = []
    for table, cells in tomllib.loads(FILE.read_text(encoding="utf-8"))[variant].items():
        for key, cell in cells.items():
            value = found[table].get(key)
            if value is None:
                wrong.append(f"{table} | {key}: not measured")
            elif not abs(value - cell["ours"]) <= cell["tolerance"]:
                wrong.append(f"{table} | {key}: {value:.2f}, expected {cell['ours']} +- {cell['tolerance']}")
    return wrong


def update(found, variant):
    """Write what was found as what is expected; the other variant stays."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    tables[variant] = {
        table: {key: _entry(table, key, value, variant) for key, value in cells.items()}
        for table, cells in found.items()
        if not (variant == "quick" and table == "claims")  # few rows say nothing about them
    }
    lines = [HEAD]
    for name in sorted(tables):
        for table, cells in tables[name].items():
            lines.append(f'[{name}."{table}"]')
            lines += [f'"{key}" = {{ {_inline(entry)} }}' for key, entry in cells.items()]
            lines.append("")
    FILE.write_text("\n".join(lines), encoding="utf-8")


def _entry(table, key, value, variant):
    paper = {"paper": PAPER} if table == "claims" else {}
    wider = 2.0 if table == "claims" else 3.0 if key.endswith("hinge LP") else 1.0  # it has many optima
    tolerance = TOLERANCE[variant] * wider
    return paper | {"ours": round(value, 2), "tolerance": math.ceil(10.0 * tolerance) / 10.0}


def _inline(entry):
    return ", ".join(f'{key} = "{v}"' if isinstance(v, str) else f"{key} = {v}" for key, v in entry.items())

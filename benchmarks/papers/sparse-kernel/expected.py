"""What a run is expected to give, cell by cell: ``expected.toml`` read, compared and written."""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "expected.toml"
PAPER = {  # Table 1 and the text of section 4
    "USPS0": (228, 98.05),
    "Adult": (6650, 80.87),
    "MNIST8": (760, 99.37),
    "MNIST8+N": (11642, 89.71),
}
HEAD = """\
# What run.py must give again, as medians over its repetitions.
# paper = what the source prints, where it does; ours = what we got; tolerance = how far another run may be
# from ours. Accuracies and margins (of the findings: positive where they hold) in points, 100 = all right.
# Written by `run.py --update`, and by `run.py --quick --repetitions 5 --update` for the quick part.
"""


@dataclass(frozen=True)
class Value:
    """One number of a run; ``spread`` is its standard deviation over repetitions."""

    ours: float
    spread: float
    paper: float | None = None
    least_tolerance: float = 0.5


def values(cells, findings):
    """The numbers of a run, by table and cell."""
    tables = {"table 1": {}, "accuracy": {}, "findings": {}}
    for (name, group, method, budget), cell in sorted(cells.items()):
        if group == "unbudgeted":
            n_support, accuracy = PAPER[name]
            tables["table 1"][f"{name}, accuracy"] = Value(cell.median, cell.deviation, accuracy)
            tables["table 1"][f"{name}, #SV"] = Value(cell.n_support, 0.05 * cell.n_support, n_support)
        else:
            tables["accuracy"][f"{name}, {group}, {method}, B = {budget}"] = Value(
                cell.median, cell.deviation
            )
    for f in findings:
        key = f"({f.number}) {f.set}: {f.claim}"
        tables["findings"][key] = Value(f.margin, 0.0, least_tolerance=max(1.0, 0.25 * abs(f.margin)))
    return tables


def failures(found, variant):
    """The cells of this variant ("quick" or "full") that are not as expected, in words."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))[variant]
    wrong = []
    for table, cells in tables.items():
        for key, cell in cells.items():
            value = found[table].get(key)
            if value is None:
                wrong.append(f"{table} | {key}: not measured")
            elif not abs(value.ours - cell["ours"]) <= cell["tolerance"]:
                wrong.append(
                    f"{table} | {key}: {value.ours:.2f}, expected {cell['ours']} +- {cell['tolerance']}"
                )
    return wrong


def update(found, variant):
    """Write what was found as what is expected; the other variant stays."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    tables[variant] = {
        table: {key: _entry(value, variant) for key, value in cells.items()} for table, cells in found.items()
    }
    if variant == "quick":
        del tables[variant]["findings"]  # one repetition says nothing about them
    lines = [HEAD]
    for name in sorted(tables):
        for table, cells in tables[name].items():
            lines.append(f'[{name}."{table}"]')
            lines += [f'"{key}" = {{ {_inline(entry)} }}' for key, entry in cells.items()]
            lines.append("")
    FILE.write_text("\n".join(lines), encoding="utf-8")


def _entry(value, variant):
    """A quick run is one repetition, not the median of five."""
    least, factor = (2.0, 5.0) if variant == "quick" else (value.least_tolerance, 3.0)
    tolerance = max(least, factor * value.spread)
    paper = {} if value.paper is None else {"paper": value.paper}
    return paper | {"ours": round(value.ours, 2), "tolerance": math.ceil(10.0 * tolerance) / 10.0}


def _inline(entry):
    return ", ".join(f"{key} = {value}" for key, value in entry.items())

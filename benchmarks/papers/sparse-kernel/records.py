"""Records of single fits, kept as CSV, and their summary: mean, deviation and median over repetitions."""

import csv
import statistics
from dataclasses import dataclass

COLUMNS = {
    "set": str,
    "group": str,
    "method": str,
    "budget": int,
    "seed": int,
    "n_support": int,
    "accuracy": float,
    "strength": float,
    "seconds": float,
}
DIGITS = {"accuracy": ".2f", "strength": ".0e", "seconds": ".2f"}
KEY = ("set", "group", "method", "budget")


@dataclass(frozen=True)
class Cell:
    """What the repetitions of one setting gave."""

    mean: float
    deviation: float
    median: float
    n_support: int
    strength: float


def write(records, path):
    """One line for each fit, in a fixed order."""
    ordered = sorted(records, key=lambda r: [r[name] for name in (*KEY, "seed")])
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows([format(r[name], DIGITS.get(name, "")) for name in COLUMNS] for r in ordered)


def read(path):
    """The records of a file that ``write`` made."""
    with open(path, newline="") as file:
        return [{name: kind(line[name]) for name, kind in COLUMNS.items()} for line in csv.DictReader(file)]


def summary(records):
    """A ``Cell`` for each (set, group, method, budget)."""
    together = {}
    for record in records:
        together.setdefault(tuple(record[name] for name in KEY), []).append(record)
    return {key: _cell(some) for key, some in together.items()}


def _cell(some):
    accuracies = [r["accuracy"] for r in some]
    deviation = statistics.stdev(accuracies) if len(some) > 1 else 0.0
    n_support = round(statistics.median(r["n_support"] for r in some))
    return Cell(
        statistics.mean(accuracies), deviation, statistics.median(accuracies), n_support, some[0]["strength"]
    )

"""One record for each fit, and their summary: mean, deviation and median over repetitions."""

import statistics
from dataclasses import dataclass

from record_file import RecordFile

KEY = ("set", "group", "method", "budget")
RECORDS = RecordFile(
    {
        "set": str,
        "group": str,
        "method": str,
        "budget": int,
        "seed": int,
        "n_support": int,
        "accuracy": float,
        "strength": float,
        "seconds": float,
    },
    key=(*KEY, "seed"),
    digits={"accuracy": ".2f", "strength": ".0e", "seconds": ".2f"},
)


@dataclass(frozen=True)
class Cell:
    """What the repetitions of one setting gave."""

    mean: float
    deviation: float
    median: float
    n_support: int
    strength: float


def ordered(records):
    """In an order that does not depend on which fit ended first."""
    return sorted(records, key=lambda record: [record[name] for name in RECORDS.key])


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

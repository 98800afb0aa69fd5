"""Records of single fits, kept as CSV; an empty cell is a number that does not exist."""

import csv

COLUMNS = {
    "set": str,
    "group": str,
    "method": str,
    "n_train": int,
    "C": float,
    "gamma": float,
    "accuracy": float,
    "seconds": float,
    "n_support": int,
    "n_features": int,
    "gap": float,
    "status": str,
}
DIGITS = {"C": "g", "gamma": ".3g", "accuracy": ".2f", "seconds": ".2f", "gap": ".1e"}


def write(records, path):
    """One line for each fit, in the order of the run."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows([_cell(name, record[name]) for name in COLUMNS] for record in records)


def _cell(name, value):
    return "" if value is None else format(value, DIGITS.get(name, ""))


def read(path):
    """The records of a file that ``write`` made."""
    with open(path, newline="") as file:
        return [
            {name: kind(line[name]) if line[name] else None for name, kind in COLUMNS.items()}
            for line in csv.DictReader(file)
        ]


def merged(records):
    """One record for each set, group and method, the last of several, where the first one was."""
    return list({(r["set"], r["group"], r["method"]): r for r in records}.values())

"""One record for each decoder on each fold."""

import statistics

from record_file import RecordFile

RECORDS = RecordFile(
    {
        "set": str,
        "outliers": str,  # how they were made, or "none"
        "share": int,  # outliers added, percent of the rows to learn from
        "method": str,  # the decoder
        "repetition": int,
        "fold": int,
        "n_train": int,  # outliers included
        "n_columns": int,
        "C": float,
        "accuracy": float,  # of the test rows, percent
        "training_accuracy": float,  # of the decoder on the outputs that it was fitted to, percent
        "seconds": float,  # to fit the decoder
        "column_seconds": float,  # to fit the columns once, and without a fold
    },
    key=("set", "outliers", "share", "method", "repetition", "fold"),
    digits={
        "accuracy": ".3f",
        "training_accuracy": ".2f",
        "C": "g",
        "seconds": ".3f",
        "column_seconds": ".3f",
    },
)


def accuracies(records):
    """Accuracies by (set, outliers, share, method), in the order of repetitions and folds."""
    together = {}
    for r in sorted(records, key=lambda r: (r["repetition"], r["fold"])):
        together.setdefault((r["set"], r["outliers"], r["share"], r["method"]), []).append(r["accuracy"])
    return together


def training(records):
    """Without outliers: (mean training accuracy, median seconds) by (set, method), and columns' seconds."""
    found = {}
    some = [r for r in records if r["outliers"] == "none"]
    for name, method in dict.fromkeys((r["set"], r["method"]) for r in some):
        these = [r for r in some if (r["set"], r["method"]) == (name, method)]
        found[name, method] = (
            statistics.mean(r["training_accuracy"] for r in these),
            statistics.median(r["seconds"] for r in these),
        )
        found[name, "columns"] = statistics.median(r["column_seconds"] for r in these)
    return found

"""One record for each decoder on each fold."""

import statistics

from record_file import RecordFile, together

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
        "chosen": float,  # the margin, or nu, that a learned decoder chose
        "n_constraints": int,  # that took part, of n_train (n_classes - 1)
        "seconds": float,  # to fit the decoder; of a shared machine, so the report does not have them
        "column_seconds": float,  # to fit the columns once, and without a fold
    },
    key=("set", "outliers", "share", "method", "repetition", "fold"),
    digits={
        "accuracy": ".3f",
        "training_accuracy": ".2f",
        "C": "g",
        "chosen": "g",
        "seconds": ".3f",
        "column_seconds": ".3f",
    },
)


def accuracies(records):
    """Accuracies by (set, outliers, share, method), in the order of repetitions and folds."""
    ordered = sorted(records, key=lambda r: (r["repetition"], r["fold"]))
    groups = together(ordered, ("set", "outliers", "share", "method"))
    return {key: [r["accuracy"] for r in some] for key, some in groups.items()}


def training(records):
    """Mean training accuracy by (set, method), without outliers."""
    groups = together([r for r in records if r["outliers"] == "none"], ("set", "method"))
    return {key: statistics.mean(r["training_accuracy"] for r in some) for key, some in groups.items()}

"""One record for each fit of a code, and their summary over folds."""

import statistics

from record_file import RecordFile

KEY = ("set", "columns", "method")
RECORDS = RecordFile(
    {
        "set": str,
        "columns": str,  # "kernel" or "linear"
        "method": str,  # the code
        "fold": int,
        "n_train": int,
        "n_columns": int,
        "distance": float,
        "C": float,
        "gamma": float,
        "accuracy": float,  # of the test rows, by the code's usual decoder, percent
        "hamming": float,  # the same by Hamming decoding
        "training_error": float,  # of Hamming decoding, percent
        "wrong_outputs": float,  # share of wrong signs at non-zero entries of the code, percent
        "printed": float,  # bounds on the training error, percent
        "refined": float,
        "seconds": float,
        "status": str,
    },
    key=(*KEY, "fold"),
    digits=dict.fromkeys(
        ("accuracy", "hamming", "training_error", "wrong_outputs", "printed", "refined"), ".3f"
    )
    | {"C": "g", "gamma": ".4g", "distance": "g", "seconds": ".3f"},
)
MEANS = ("accuracy", "hamming", "training_error", "wrong_outputs", "printed", "refined")


def summary(records):
    """For each (set, columns, code) means over the folds, and the median of the seconds."""
    together = {}
    for record in records:
        together.setdefault(tuple(record[name] for name in KEY), []).append(record)
    return {key: _cell(some) for key, some in together.items()}


def _cell(some):
    cell = {name: statistics.mean(r[name] for r in some) for name in MEANS}
    accuracies = [r["accuracy"] for r in some]
    return cell | {
        "deviation": statistics.stdev(accuracies) if len(some) > 1 else 0.0,
        "seconds": statistics.median(r["seconds"] for r in some),
        "n_columns": some[0]["n_columns"],
        "distance": some[0]["distance"],
        "C": statistics.median(r["C"] for r in some),
        "n_folds": len(some),
        "converged": all(r["status"] == "converged" for r in some),
        "least_slack": tuple(
            min(r[bound] - r["training_error"] for r in some) for bound in ("printed", "refined")
        ),
    }

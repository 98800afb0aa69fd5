"""Records of three kinds in one file: errors of a model, gaps of a method, and its dual from many seeds."""

from record_file import RecordFile

RECORDS = RecordFile(
    {
        "kind": str,  # "errors", "gap" or "rate"
        "set": str,
        "method": str,
        "k": int,
        "C": float,  # alpha = 1 / (C n)
        "seed": int,  # of errors: the number of the split
        "epochs": int,
        "n_train": int,
        "accuracy": float,  # percent of the test rows: the right class is first,
        "top_3": float,  # among the first three,
        "top_5": float,  # and five
        "seconds": float,  # of the processor, one thread
        "primal": float,  # with the true class included
        "dual": float,
        "own_gap": float,  # relative, to the primal of the loss that was trained
    },
    key=("kind", "set", "method", "k", "C", "seed", "epochs"),
    digits=dict.fromkeys(("accuracy", "top_3", "top_5"), ".3f")
    | {"C": ".4g", "seconds": ".3f", "primal": ".10g", "dual": ".10g", "own_gap": ".3g"},
)


def record(kind, name, method, k, **numbers):
    """One, with nothing where nothing is given."""
    return dict.fromkeys(RECORDS.columns) | {"kind": kind, "set": name, "method": method, "k": k} | numbers

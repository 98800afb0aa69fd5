"""One record for each fit."""

from record_file import RecordFile

RECORDS = RecordFile(
    {
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
    },
    key=("set", "group", "method"),
    digits={"C": "g", "gamma": ".3g", "accuracy": ".2f", "seconds": ".2f", "gap": ".1e"},
)

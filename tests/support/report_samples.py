"""Small models, tables and reports that tests of the report share."""

import csv
import io as text_io

import numpy as np
from sklearn.pipeline import Pipeline

from maxmargin import SparseKernelClassifier
from maxmargin.io import open_source
from maxmargin.table.preparation import TablePreparation

NASTY = [
    "<script>alert(1)</script>",
    "]]>",
    "<!-- ",
    "&lt;b&gt;",
    "' onload=alert(1) x='",
    '" onmouseover="alert(1)',
    "</style><style>*{display:none}</style>",
    "\u202egnp.exe",
    "a\u0000b\u0007c",
    "javascript:alert(1)",
    "https://example.org/x.js",
    "x" * 5_000,
    "שלום",
    "字字字",
]


def table(n_rows=240, classes=("no", "yes"), words=("red", "green", "blue"), seed=0):
    """A text of CSV: two numbers, a column of words with gaps, and a class that follows from them."""
    rng = np.random.default_rng(seed)
    out = text_io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["size", "weight in kg", "colour", "class"])
    for i in range(n_rows):
        k = i % len(classes)
        size = 100.0 + 20.0 * k + rng.normal(0.0, 7.0)
        word = words[(k + int(rng.integers(2))) % len(words)]
        gap = rng.random() < 0.05
        writer.writerow([f"{size:.3f}", f"{rng.normal(3.0, 1.0):.2f}", "" if gap else word, classes[k]])
    return out.getvalue()


def written(folder, name, text):
    """The file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def source(path):
    """It, open for reading."""
    return open_source(path, target="class")


def fitted(path, budget=12, **parameters):
    """A pipeline learnt from the file, as ``maxmargin train`` makes them."""
    block = next(source(path).blocks())
    preparation = TablePreparation().fit(block)
    model = SparseKernelClassifier(budget, random_state=0, **parameters)
    model.fit(preparation.transform(block), block.target)
    return Pipeline([("table", preparation), ("model", model)])


def record(path=None, **more):
    """A record as ``train`` writes it, without the parts that tests do not need."""
    return {
        "command": "maxmargin train train.csv --target class",
        "data": {"file": "train.csv", "n_rows": 240, "n_features": 3, "n_features_out": 6, "dropped": {}},
        "model": "sparse-kernel",
        "given_parameters": {"budget": 12},
        "seed": 7,
        "fitted_on": "all rows",
        "versions": {"maxmargin": "0.1.0", "numpy": "2.0"},
        "fingerprint": "f" * 64,
        "status": "budget_full",
        "seconds": {"reading": 0.25, "solver": 1.5, "total": 1.8},
    } | more

"""Model files that are written once, with what they predict, and are to be read for ever.

    python tests/pinned_models.py

writes those of ``MAKERS`` that are not in ``tests/data/version-1`` yet, and never replaces one: a file that a
released library wrote cannot be written again. A new format gets a folder of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin as mm
from maxmargin.io import save
from maxmargin.table.preparation import TablePreparation
from support.saved_models import WORDS, data, quiet, stream, table

FOLDER = Path(__file__).parents[1] / "data" / "version-1"
METHODS = ("decision_function", "predict", "predict_proba")


def rows(name: str) -> Any:
    """The rows that a model is asked about."""
    return table() if name == "table" else data()[0]


X, y = data()
MAKERS: dict[str, Callable[[], Any]] = {
    "scaled": lambda: make_pipeline(StandardScaler(), mm.KernelSVC(random_state=0)).fit(X, y),
    "linear": lambda: mm.LinearSVC(decoder="prior", random_state=0).fit(X, WORDS[y]),
    "csr": lambda: mm.KernelSVC(kernel="laplacian", code="one-vs-rest", random_state=0).fit(
        data(3, "float32", "csr")[0], y
    ),
    "budget": lambda: mm.SparseKernelClassifier(8, random_state=0).fit(X, y),
    "stream": lambda: stream(mm.KernelPegasos(random_state=0)),
    "table": lambda: make_pipeline(TablePreparation(), mm.LinearSVC(random_state=0)).fit(table(), WORDS[y]),
    "columns": lambda: mm.OutputCodeClassifier(mm.LinearSVC(), random_state=0).fit(X, y == 1),
}


def answers(model: Any, name: str) -> dict[str, np.ndarray]:
    """What a model says, by method."""
    found = {m: getattr(model, m)(rows(name)) for m in METHODS if hasattr(model, m)}
    return {m: values.astype(str) if values.dtype == object else values for m, values in found.items()}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in MAKERS.items():
        if not (FOLDER / f"{name}.mm").exists():
            model = quiet(make)
            save(model, FOLDER / f"{name}.mm", record={"name": name})
            np.savez_compressed(FOLDER / f"{name}.npz", **answers(model, name))

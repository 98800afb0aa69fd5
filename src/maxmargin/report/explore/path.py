"""How good the smaller models inside a budgeted one are on the rows that the report is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...evaluation import n_bytes_of
from ...methods.budget import SparseKernelClassifier, at_budget, path_predictions
from ...metrics import Confusion, share_interval
from .machine import Machine

__all__ = ["PathCounts", "path_counts", "path_document"]

MAX_CLASSES = 250  # of matrices of counts, one for each budget
MAX_PRODUCTS = 200_000  # for a row: support vectors, times outputs of all models
MIN_POINTS, MAX_POINTS = 6, 48
NO_PATH = "This model has no path of smaller models: only a model under a budget (sparse-kernel) has one."


@dataclass
class PathCounts:
    """Counts of (true class, predicted class) for each budget."""

    machine: Machine
    budgets: list[int]
    counts: list[Confusion]

    def add(self, X: Any, labels: np.ndarray) -> None:
        """Count some prepared rows."""
        rows = path_predictions(self.machine.inner, self.machine.placed(X), self.budgets)
        for counts, predicted in zip(self.counts, rows):
            counts.add(labels, predicted)


def path_counts(classifier: Any, machine: Machine | str) -> PathCounts | str:
    """Nothing counted yet; or why there is no path."""
    if isinstance(machine, str) or not isinstance(machine.inner, SparseKernelClassifier):
        return NO_PATH
    inner = machine.inner
    budgets = inner.budget_path_["budget"].tolist()
    if len(budgets) < 2:
        return "The path of this model has only one budget."
    n_classes = len(classifier.classes_)
    if n_classes > MAX_CLASSES:
        return f"Budgets are compared for at most {MAX_CLASSES} classes; this model has {n_classes:,}."
    room = MAX_PRODUCTS // max(1, inner.n_support_ * inner.code_.n_columns)
    n_points = int(np.clip(room, MIN_POINTS, MAX_POINTS))
    places = np.linspace(0, len(budgets) - 1, min(len(budgets), n_points)).astype(int)
    names = [str(label) for label in classifier.classes_]
    chosen = [budgets[k] for k in places.tolist()]
    return PathCounts(machine, chosen, [Confusion(names) for _ in chosen])


def path_document(model: Any, path: PathCounts, shown: list[int], n_unknown: int) -> dict[str, Any]:
    """Accuracy, counts of some classes, the size of a model file and the work for a row, for each budget."""
    n_features = path.machine.inner.support_vectors_.shape[1]
    n_outputs = path.machine.inner.code_.n_columns
    return {
        "budgets": path.budgets,
        "n_rows": path.counts[0].n_rows,
        "right": [counts.n_right for counts in path.counts],
        "intervals": [share_interval(counts.n_right, counts.n_rows) for counts in path.counts],
        "balanced": [counts.balanced_accuracy(n_unknown) for counts in path.counts],
        "classes": shown,
        "counts": [counts.matrix[np.ix_(shown, shown)].ravel().tolist() for counts in path.counts],
        "bytes": _bytes_along(model, path),
        "work": [budget * (n_features + n_outputs) for budget in path.budgets],
    }


def _bytes_along(model: Any, path: PathCounts) -> list[int | None]:
    """Sizes of model files: that of the whole, less what the classifier saves by its smaller budget."""
    inner = path.machine.inner
    whole, full = n_bytes_of(model), n_bytes_of(inner)
    own = [n_bytes_of(at_budget(inner, budget)) for budget in path.budgets]
    if whole is None or full is None:
        return [None for _ in own]
    return [None if size is None else whole - full + size for size in own]

"""Accuracy with flipped labels, by loss, budget and cost: the benchmark ``noisy_labels``."""

import noisy_labels
import numpy as np

CALLS = {  # how the guide writes the models of the benchmark
    "hinge, 20": '`SparseKernelClassifier(20, loss="hinge")`',
    "hinge, 100": '`SparseKernelClassifier(100, loss="hinge")`',
    "squared-hinge, 20": "`SparseKernelClassifier(20)`, the squared hinge",
    "squared-hinge, 100": "`SparseKernelClassifier(100)`",
    "log, 100": '`SparseKernelClassifier(100, loss="log")`',
}
SHARES, N_SPLITS = (0.0, 0.1, 0.2, 0.3), 5


def measure():
    """Columns and lines."""
    found = {s: np.mean([noisy_labels.accuracies(k, s) for k in range(N_SPLITS)], axis=0) for s in SHARES}
    columns = ["labels flipped", *(f"{100 * share:.0f} %" for share in SHARES)]
    lines = [
        [CALLS.get(name, f"`{name}`"), *(f"{100 * found[share][i]:.1f}" for share in SHARES)]
        for i, name in enumerate(noisy_labels.MODELS)
    ]
    return columns, lines

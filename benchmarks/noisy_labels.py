"""Labels flipped at random: accuracy on rows with clean labels, of losses, budgets and costs.

The table of docs/guide/noisy-labels.md: digits, even against odd, 60 % of the rows for training, means over
random splits.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import KernelSVC, PathCV, SparseKernelClassifier

MODELS = {
    "hinge, 20": SparseKernelClassifier(20, loss="hinge", random_state=0),
    "hinge, 100": SparseKernelClassifier(100, loss="hinge", random_state=0),
    "squared-hinge, 20": SparseKernelClassifier(20, random_state=0),
    "squared-hinge, 100": SparseKernelClassifier(100, random_state=0),
    "log, 100": SparseKernelClassifier(100, loss="log", random_state=0),
    "KernelSVC(C=1)": KernelSVC(C=1),
    "KernelSVC(C=100)": KernelSVC(C=100),
    "PathCV(KernelSVC())": PathCV(KernelSVC(), random_state=0),
}


def accuracies(split, share):
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y % 2, test_size=0.4, stratify=y, random_state=split)
    flipped = np.random.default_rng(split).random(len(y)) < share
    return [model.fit(X, np.where(flipped, 1 - y, y)).score(X_test, y_test) for model in MODELS.values()]


def run(repeats, quick):
    """The table of the guide, and no timed rows; ``repeats`` is not used."""
    n_splits, flipped = (1, (0.2,)) if quick else (5, (0.0, 0.1, 0.2, 0.3))
    found = {share: np.mean([accuracies(s, share) for s in range(n_splits)], axis=0) for share in flipped}
    lines = [
        {"model": name}
        | {f"{100 * share:.0f} % flipped": f"{100 * found[share][i]:.1f}" for share in flipped}
        for i, name in enumerate(MODELS)
    ]
    return [], {"Noisy labels, accuracy in %": lines}

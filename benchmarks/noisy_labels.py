"""Labels flipped at random: accuracy on rows with clean labels, of losses, budgets and costs.

    python benchmarks/noisy_labels.py --splits 5

prints the table of docs/guide/noisy-labels.md: digits, even against odd, 60 % of the rows for training, means
over random splits.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import KernelSVC, PathCV, SparseKernelClassifier

FLIPPED = (0.0, 0.1, 0.2, 0.3)
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


def accuracies(split: int, share: float) -> list[float]:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y % 2, test_size=0.4, stratify=y, random_state=split)
    flipped = np.random.default_rng(split).random(len(y)) < share
    return [model.fit(X, np.where(flipped, 1 - y, y)).score(X_test, y_test) for model in MODELS.values()]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--splits", type=int, default=5)
    n_splits = arguments.parse_args().splits
    columns = [np.mean([accuracies(s, share) for s in range(n_splits)], axis=0) for share in FLIPPED]
    print("| labels flipped | " + " | ".join(f"{100 * share:.0f} %" for share in FLIPPED) + " |")
    for name, row in zip(MODELS, np.transpose(columns)):
        print(f"| {name} | " + " | ".join(f"{100 * value:.1f}" for value in row) + " |")


if __name__ == "__main__":
    main()

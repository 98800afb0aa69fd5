"""The README's plot: accuracy on ten digits against support vectors, one budgeted fit and the exact SVM.

MNIST is read from ``mnist.npz`` in the folder MAXMARGIN_DATA; ``--quick`` uses scikit-learn's small digits
instead. ``python examples/few_support_vectors.py picture.png`` takes two minutes on two cores.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import KernelSVC, SparseKernelClassifier

EXACT = {"C": 10.0, "gamma": 0.02}
BUDGETS = (25, 50, 100, 200, 400, 800, 1600)


def mnist():
    """60,000 and 10,000 pictures of 784 pixels, between 0 and 1."""
    with np.load(Path(os.environ["MAXMARGIN_DATA"]) / "mnist.npz") as data:
        X, X_test = (
            np.float32(data[name].reshape(len(data[name]), -1)) / 255 for name in ("X_train", "X_test")
        )
        return X, X_test, data["y_train"], data["y_test"]


def digits():
    """1,797 pictures of 64 pixels."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(np.float32(X) / 16, y, random_state=0, stratify=y)


def measured(X, X_test, y, y_test, budgets):
    """Support vectors, accuracy and seconds of the exact SVM, and (budget, accuracy) along one path."""
    start = time.perf_counter()
    exact = KernelSVC(**EXACT).fit(X, y)
    middle = time.perf_counter()
    sparse = SparseKernelClassifier(max(budgets), gamma=EXACT["gamma"], random_state=0).fit(X, y)
    end = time.perf_counter()
    models = [sparse.truncate(b) for b in budgets[:-1]] + [sparse]
    accuracies = [100 * model.score(X_test, y_test) for model in models]
    whole = len(exact.support_), 100 * exact.score(X_test, y_test), middle - start
    return whole, accuracies, end - middle


def draw(whole, accuracies, budgets, path):
    """Plot accuracy against support vectors on a logarithmic axis."""
    figure, ax = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    ax.plot(
        budgets,
        accuracies,
        "o-",
        color="#0072b2",
        label="SparseKernelClassifier: one fit, its path over budgets",
    )
    ax.plot(whole[0], whole[1], "s", color="#d55e00", label="KernelSVC: the exact SVM")
    for b, accuracy in zip(budgets, accuracies):
        ax.annotate(
            f"{accuracy:.1f} %", (b, accuracy), (6, -11), textcoords="offset points", ha="left", fontsize=8
        )
    ax.annotate(f"{whole[1]:.1f} %", whole[:2], (6, -11), textcoords="offset points", ha="left", fontsize=8)
    ax.set_xscale("log")
    ax.set_xticks([*budgets, whole[0]], minor=False)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.minorticks_off()
    low, high = ax.get_ylim()
    ax.set_ylim(low - 0.08 * (high - low), high)
    ax.set_xlabel("support vectors, shared by the ten classes")
    ax.set_ylabel("test accuracy, %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main(path, quick=False):
    """Measure, plot, and print the plotted numbers."""
    budgets = BUDGETS[:4] if quick else BUDGETS
    whole, accuracies, seconds = measured(*(digits() if quick else mnist()), budgets)
    draw(whole, accuracies, budgets, path)
    print(f"exact: {whole[1]:.2f} % with {whole[0]:,} support vectors, {whole[2]:.1f} s")
    for b, accuracy in zip(budgets, accuracies):
        print(f"budget {b:5}: {accuracy:.2f} %")
    print(f"one fit of {max(budgets)}: {seconds:.1f} s; plot written to {path}")


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--quick"]
    main(arguments[0] if arguments else "few-support-vectors.png", "--quick" in sys.argv)

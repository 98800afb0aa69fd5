"""The program of ``make demo``: certified linear and kernel SVMs beside scikit-learn's, on its data sets."""

import time
import warnings

import numpy as np
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVC, LinearSVC, SparseKernelClassifier

DATA_SETS = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
HEADER = ("data set", "model", "accuracy", "support vectors", "gap", "seconds")
C = 0.1
BUDGETS = (200, 100, 50, 25, 10)


def models(n_classes):
    """Names and models; with two classes every code is the same single column."""
    codes = ("one-vs-rest", "one-vs-one") if n_classes > 2 else ("one-vs-rest",)
    for loss in ("hinge", "squared-hinge"):
        for code in codes:
            words = [loss, code] if n_classes > 2 else [loss]
            yield f"LinearSVC ({', '.join(words)})", LinearSVC(C, loss=loss, code=code)
    yield 'scikit-learn SVC(kernel="linear")', svm.SVC(C=C, kernel="linear")
    yield "scikit-learn LinearSVC", svm.LinearSVC(C=C / 2)  # its squared hinge has no 1/2


def held_out(load):
    """Standardised training and test rows; a quarter are test rows."""
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


def measure(model, X_train, X_test, y_train, y_test):
    """Accuracy on the held-out part, support vectors, gap and seconds of the fit, as text."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap column shows it
        model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    return (*scores(model, X_test, y_test), f"{seconds:.3f}")


def scores(model, X_test, y_test):
    """Accuracy, support vectors and gap of a fitted model, as text."""
    n_support = f"{np.sum(model.n_support_)}" if hasattr(model, "n_support_") else "-"
    gap = f"{model.dual_gap_:.1e}" if hasattr(model, "dual_gap_") else "-"
    return f"{model.score(X_test, y_test):.3f}", n_support, gap


def budget_rows():
    """Digits under a budget: one fit, its smaller models along the path, and SVMs without a budget."""
    X, y = load_digits(return_X_y=True)
    data = train_test_split(X / 16, y, test_size=0.25, stratify=y, random_state=0)
    model = SparseKernelClassifier(BUDGETS[0], random_state=0)
    yield "digits", f"SparseKernelClassifier({BUDGETS[0]})", *measure(model, *data)
    for budget in BUDGETS[1:]:
        start = time.perf_counter()
        small = model.truncate(budget)
        seconds = time.perf_counter() - start
        yield "digits", f"  its first {budget}, refitted", *scores(small, data[1], data[3]), f"{seconds:.3f}"
    yield "digits", "KernelSVC(C=10)", *measure(KernelSVC(C=10), *data)
    yield "digits", "scikit-learn SVC(C=10)", *measure(svm.SVC(C=10), *data)


def print_table(rows):
    """Print columns as wide as their widest entry, text to the left and numbers to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def main():
    rows = [HEADER]
    for name, load in DATA_SETS.items():
        data = held_out(load)
        n_classes = len(set(data[2]))
        rows += [(name, title, *measure(model, *data)) for title, model in models(n_classes)]
    print("Linear SVMs\n")
    print_table(rows)
    print("\nKernel SVMs with and without a budget of support vectors, which the ten classes share\n")
    print_table([HEADER, *budget_rows()])
    print(
        "\ngap: relative upper bound on how far the objective is above its minimum; under a budget, for the"
        "\n     chosen support vectors. '-': not reported. Accuracy is measured on a held-out quarter."
    )


if __name__ == "__main__":
    main()

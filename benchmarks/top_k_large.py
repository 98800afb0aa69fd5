"""The top-k SVM on many rows: MNIST against scikit-learn's one-vs-rest, and 1,000 classes within 4 GiB.

Seconds are processor time on one thread.
"""

import json
import subprocess
import sys
import time
import warnings

import numpy as np
from clock import row, score, tell
from datasets import mnist, text_like
from memory import peak_mb
from sklearn.svm import LinearSVC
from top_k_references import fitted

FULL_SIZES = (100_000, 10_000, 1_000)  # samples, features, classes
QUICK_SIZES = (400, 200, 20)
EPOCHS = 2


def against_one_vs_rest(n):
    """One run of each, since they take minutes."""
    digits = mnist(n)
    if digits is None:
        return []
    X, y = digits
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinearSVC(random_state=0).fit(X, y)
    peer = time.process_time() - start
    rows = []
    for k in (1, 3):
        model, seconds = fitted(X, y, k, 1.0, tol=1e-2)
        label = f"top-{k} SVM, MNIST {n:,} x 784, gap {model.dual_gap_:.1e}, {model.n_iter_} steps"
        rows.append(row(label, seconds, "scikit-learn LinearSVC, one-vs-rest", peer, 1.0))
    return tell(rows)


def sparse_rows(n, d, m):
    """Rows with 50 entries; the class is the random direction with the largest product."""
    X, _ = text_like(n, d, density=50.0 / d)
    directions = np.random.default_rng(1).normal(size=(d, m))
    y = [np.argmax(X[i : i + 5_000] @ directions, axis=1) for i in range(0, n, 5_000)]
    return X, np.concatenate(y)


def worker(n, d, m):
    """Run in its own process: seconds and gap of the fit."""
    X, y = sparse_rows(n, d, m)
    model, seconds = fitted(X, y, 5, 1.0, epochs=EPOCHS)
    return {"mb": peak_mb(), "seconds": seconds, "gap": model.dual_gap_, "classes": len(model.classes_)}


def within_memory(n, d, m):
    """Peak memory of the whole process, Python and the data included."""
    command = [sys.executable, __file__, *map(str, (n, d, m))]
    done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    label = (
        f"top-5 SVM, sparse {n:,} x {d:,}, {done['classes']:,} classes, {EPOCHS} epochs to gap "
        f"{done['gap']:.1e} in {done['seconds']:.0f} s: peak of the process"
    )
    return tell([score(label, done["mb"], "4 GiB", 4096.0, 4096.0, at_most=True, unit=" MB")])


def run(repeats=1, quick=False):
    """Rows of both comparisons."""
    return against_one_vs_rest(300 if quick else 60_000) + within_memory(
        *(QUICK_SIZES if quick else FULL_SIZES)
    )


if __name__ == "__main__":
    print(json.dumps(worker(*map(int, sys.argv[1:]))))

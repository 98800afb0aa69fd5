"""Splice sites in DNA with a string kernel: 100 support vectors where a full SVM keeps most sequences.

The data, 3,190 sequences of 60 bases (UCI, splice-junction gene sequences), are in ``splice_seq.npz`` in the
folder named by the environment variable MAXMARGIN_DATA.
"""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from maxmargin import SparseKernelClassifier

HEADER = ("model", "accuracy", "support vectors", "gap", "seconds")
BIT_COUNTS = np.array([i.bit_count() for i in range(1 << 16)], dtype=np.uint8)


def same_words(X, Z):
    """The share of words of one, two or three letters that two sequences have at the same positions.

    The count is a product of indicators, one for each word and place, so this is a kernel (after Raetsch and
    Sonnenburg's weighted degree kernel). X and Z are arrays of strings of 60 letters; the result has one row
    for each entry of X. An unread base (N, D, S or R in the data) matches no other.
    """
    same = np.zeros((len(X), len(Z)), dtype=np.uint64)  # bit p: the letters at place p are the same
    for letter in "ACGT":
        same |= places(X, letter)[:, None] & places(Z, letter)
    pairs = same & (same >> np.uint64(1))
    triples = pairs & (same >> np.uint64(2))
    return (n_ones(same) + n_ones(pairs) + n_ones(triples)) / (60 + 59 + 58)


def places(sequences, letter):
    """For each sequence, the positions of that letter as the bits of one number."""
    letters = np.array(sequences, dtype="U60").view(np.uint32).reshape(-1, 60)
    return (letters == ord(letter)) @ (np.uint64(1) << np.arange(60, dtype=np.uint64))


def n_ones(numbers):
    """The number of 1 bits in each number."""
    return BIT_COUNTS[numbers.view(np.uint16)].reshape(*numbers.shape, 4).sum(axis=2, dtype=np.uint8)


def load():
    """Sequences and the names of their classes, or None."""
    path = Path(os.environ.get("MAXMARGIN_DATA", "."), "splice_seq.npz")
    if not path.exists():
        return None
    data = np.load(path)
    return data["seq"], data["class_names"][data["y"]]


def timed(fit):
    """The result of the function, and its seconds."""
    start = time.perf_counter()
    return fit(), time.perf_counter() - start


def line(name, model, accuracy, seconds):
    gap = f"{model.dual_gap_:.1e}" if hasattr(model, "dual_gap_") else "-"
    return name, f"{accuracy:.3f}", f"{np.sum(model.n_support_)}", gap, f"{seconds:.2f}"


def main():
    data = load()
    if data is None:
        print("splice_seq.npz not found; set MAXMARGIN_DATA to the folder that contains it.")
        return
    X, X_test, y, y_test = train_test_split(*data, test_size=0.25, stratify=data[1], random_state=0)
    model, seconds = timed(lambda: SparseKernelClassifier(100, kernel=same_words, random_state=0).fit(X, y))
    rows = [HEADER, line("SparseKernelClassifier, fitted", model, model.score(X_test, y_test), seconds)]
    for budget in (50, 25, 10):
        small, seconds = timed(lambda budget=budget: model.truncate(budget))
        rows.append(line(f"  its first {budget}, refitted", small, small.score(X_test, y_test), seconds))
    full, seconds = timed(lambda: SVC(kernel="precomputed").fit(same_words(X, X), y))
    rows.append(line("scikit-learn SVC", full, full.score(same_words(X_test, X), y_test), seconds))
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
    for name, *numbers in rows:
        print(name.ljust(widths[0]), *(c.rjust(w) for c, w in zip(numbers, widths[1:])), sep="  ")
    print("\nthe first three support vectors (EI: an exon ends midway, IE: one begins, N: neither):")
    for row in model.support_[:3]:
        print(f"  {y[row]:2}  {X[row]}")


if __name__ == "__main__":
    main()

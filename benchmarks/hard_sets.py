"""The data of the hard kernel SVM problems, all of them as float32 rows and labels."""

import gzip
import os
from pathlib import Path

import datasets
import numpy as np


def table(name):
    """A table of MAXMARGIN_DATA/tables, standardised, rows shuffled; None where the file is missing."""
    path = Path(os.environ.get("MAXMARGIN_DATA", "")) / "tables" / f"{name}.csv.gz"
    if not path.is_file():
        return None
    with gzip.open(path, "rt") as file:
        lines = [line.strip().rsplit(",", 1) for line in file.readlines()[1:] if line.strip()]
    X = np.array([numbers.split(",") for numbers, _ in lines], dtype=np.float64)
    y = np.unique([label for _, label in lines], return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(y))
    return ((X - X.mean(axis=0)) / X.std(axis=0))[order], y[order]


def unit_covtype(n):
    """n rows of covtype with every feature scaled to [0, 1], class 2 against the rest, and 20,000 others."""
    file = datasets._file("covtype.npz")
    if file is None:
        return None
    order = np.random.default_rng(0).permutation(581_012)
    X, y = file["X"].astype(np.float32), (file["y"] == 2).astype(int)
    low, high = X.min(axis=0), X.max(axis=0)
    kept = np.concatenate([order[:n], order[-20_000:]])
    X, y = (X[kept] - low) / np.maximum(high - low, 1e-6), y[kept]
    return X[:n], y[:n], X[n:], y[n:]


def usps():
    file = datasets._file("usps.npz")
    return None if file is None else (file["X_train"], file["y_train"].astype(int))


def mnist8():
    if datasets._file("mnist.npz") is None:
        return None
    X, y, _, _ = datasets.eight_or_not()
    return X[:10_000] / 255.0, y[:10_000]


def adult():
    found = datasets.adult()
    return None if found is None else (found[0][:15_000].toarray(), found[1][:15_000])


def ten_numbers(n):
    """The ten numeric features of covtype, standardised."""
    found = datasets.covtype(n)
    return None if found is None else (found[0][:, :10], found[1])


def three_columns(n=200_000):
    """Nearly separable synthetic classes: a curved surface in three dimensions, one label of 500 is wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) * X[:, 2] > 0
    wrong = rng.random(n) < 0.002
    return X, (y ^ wrong).astype(int)


SETS = {
    "letter": datasets.letter,
    "a9a": adult,
    "covtype": lambda: datasets.covtype(15_000),
    "usps": usps,
    "magic": lambda: table("magic"),
    "ring": lambda: table("ring"),
    "phoneme": lambda: table("phoneme"),
    "mnist8": mnist8,
    "covtype 50,000": lambda: datasets.covtype(50_000),
    "covtype, ten features": lambda: ten_numbers(50_000),
    "200,000 x 3": three_columns,
}


def rows_of(name, n_rows=None):
    """Training rows in float32 and labels of a set; None where its file is missing."""
    found = SETS[name]()
    if found is None:
        return None
    X, y = found[:2]
    return np.ascontiguousarray(X[:n_rows], dtype=np.float32), np.asarray(y[:n_rows])

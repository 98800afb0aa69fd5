"""Data for the benchmarks: real data sets from MAXMARGIN_DATA, and synthetic ones from a seed."""

import os
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits


def mnist(n):
    """The first n training digits, pixels in [0, 1], float32; None where the file is missing."""
    path = Path(os.environ.get("MAXMARGIN_DATA", "")) / "mnist.npz"
    if not path.is_file():
        return None
    with np.load(path) as file:
        return file["X_train"][:n].astype(np.float32) / 255.0, file["y_train"][:n].astype(int)


def text_like(n, d, density=0.001, seed=0):
    """Sparse rows of length 1 whose features are as unevenly frequent as words; two noisy linear classes."""
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, d + 1) ** -0.8
    per_row = max(1, round(density * d))
    words = rng.choice(d, size=n * per_row, p=frequency / frequency.sum()).astype(np.int32)
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    X = sparse.csr_array((rng.exponential(size=n * per_row), words, starts), shape=(n, d))
    X.sum_duplicates()
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(n), np.diff(X.indptr)), weights=X.data**2))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    scores = X @ rng.normal(size=d)
    return X, (scores + 0.3 * scores.std() * rng.normal(size=n) > 0).astype(int)


def _file(name):
    path = Path(os.environ.get("MAXMARGIN_DATA", "")) / name
    return np.load(path) if path.is_file() else None


def mnist_test():
    """The 10,000 test digits, as ``mnist``."""
    with _file("mnist.npz") as file:
        return file["X_test"].astype(np.float32) / 255.0, file["y_test"].astype(int)


def adult():
    """a9a as CSR, float32, official split; None where the file is missing."""
    file = _file("a9a.npz")
    if file is None:
        return None

    def csr(name):
        parts = (file[f"{name}_data"].astype(np.float32), file[f"{name}_indices"], file[f"{name}_indptr"])
        return sparse.csr_array(parts, shape=tuple(file[f"{name}_shape"]))

    return csr("X_train"), file["y_train"], csr("X_test"), file["y_test"]


def covtype(n_train):
    """Class 2 against the rest, rows shuffled, numbers standardised; n_train rows and 81,012 to test on."""
    file = _file("covtype.npz")
    if file is None:
        return None
    order = np.random.default_rng(0).permutation(581_012)
    kept = np.concatenate([order[:n_train], order[500_000:]])
    X, y = file["X"][kept].astype(np.float32), (file["y"][kept] == 2).astype(int)
    numbers = X[:, :10]
    numbers -= numbers[:n_train].mean(axis=0)
    numbers /= np.maximum(numbers[:n_train].std(axis=0), 1e-6)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def mnist_split():
    """All digits: training rows and labels, test rows and labels; pixels 0 .. 255, as they are stored."""
    with _file("mnist.npz") as file:
        return tuple(file[name] for name in ("X_train", "y_train", "X_test", "y_test"))


def eight_or_not():
    """MNIST8: the digit 8 (1) against the others (0)."""
    X, y, X_test, y_test = mnist_split()
    return X, (y == 8).astype(int), X_test, (y_test == 8).astype(int)


def zero_or_not():
    """USPS0: the digit 0 (1) against the others (0), to train; without the file scikit-learn's digits."""
    file = _file("usps.npz")
    if file is None:
        X, y = load_digits(return_X_y=True)
        return (X / 8.0 - 1.0).astype(np.float32), (y == 0).astype(int)
    return file["X_train"].astype(np.float32), (file["y_train"] == 0).astype(int)


def adult_dense():
    """a9a as an array."""
    X, y, X_test, y_test = adult()
    return X.toarray(), y, X_test.toarray(), y_test


def letter():
    """Official split of 16,000 and 4,000 letters, standardised on the training part, or None."""
    file = _file("letter.npz")
    if file is None:
        return None
    X, X_test = file["X_train"].astype(np.float64), file["X_test"].astype(np.float64)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    standard = [((rows - mean) / deviation).astype(np.float32) for rows in (X, X_test)]
    return standard[0], file["y_train"].astype(int), standard[1], file["y_test"].astype(int)

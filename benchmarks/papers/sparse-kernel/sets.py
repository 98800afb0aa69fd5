"""The four tasks of the paper: USPS0, Adult, MNIST8, and MNIST8+N with a tenth of its labels flipped."""

import functools
from dataclasses import dataclass

import numpy as np
from frame import data_folder
from scipy import sparse

RBF = {"kernel": "rbf", "gamma": 0.01}
POLYNOMIAL = {"kernel": "polynomial", "gamma": 1.0, "coef0": 1.0, "degree": 4}
FILES = {"USPS0": "usps", "Adult": "a9a", "MNIST8": "mnist", "MNIST8+N": "mnist"}
DIGIT = {"usps": 0, "mnist": 8}
CLEAN, NOISY = ("USPS0", "MNIST8"), ("Adult", "MNIST8+N")
FLIPPED = 0.1
HELD_OUT = 0.1
QUICK_ROWS = 3_000, 2_000  # of the training and the test set


@dataclass(frozen=True)
class Task:
    """Rows with labels -1 and +1, and the kernel that the paper uses on them."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    kernel: dict

    @property
    def scale(self):
        """The mean of k(x, x): alpha as a share of it means the same for every kernel."""
        if self.kernel is RBF:
            return 1.0
        return float(np.mean((1.0 + np.sum(self.X**2, axis=1)) ** 4))


def folder():
    """Where the data are, or None."""
    return data_folder(FILES.values())


def task(name, seed, quick):
    """A task with the label noise of this seed; all of its rows, or the first of a fixed shuffle."""
    X, y, X_test, y_test = _arrays(FILES[name], quick)
    if name.endswith("+N"):
        flipped = np.random.default_rng([seed, 1]).permutation(len(y))[: round(FLIPPED * len(y))]
        y = y.copy()
        y[flipped] *= -1
    return Task(X, y, X_test, y_test, POLYNOMIAL if name == "Adult" else RBF)


def split(name, seed, quick):
    """The training set alone, a tenth of it as the test set."""
    whole = task(name, seed, quick)
    order = np.random.default_rng([seed, 2]).permutation(len(whole.y))
    judge, learn = np.split(order, [round(HELD_OUT * len(order))])
    return Task(whole.X[learn], whole.y[learn], whole.X[judge], whole.y[judge], whole.kernel)


@functools.cache
def _arrays(file, quick):
    with np.load(folder() / f"{file}.npz") as arrays:
        parts = [_part(arrays, file, part) for part in ("train", "test")]
    if quick:
        parts = [_some(X, y, n) for (X, y), n in zip(parts, QUICK_ROWS)]
    return *parts[0], *parts[1]


def _part(arrays, file, part):
    """Features and labels: pixels in [-1, 1], Adult's indicators as they are."""
    if file == "a9a":
        csr = tuple(arrays[f"X_{part}_{name}"] for name in ("data", "indices", "indptr"))
        X = sparse.csr_matrix(csr, shape=tuple(arrays[f"X_{part}_shape"])).toarray()
        return X.astype(np.float32), arrays[f"y_{part}"].astype(int)
    X = arrays[f"X_{part}"].astype(np.float32)
    if file == "mnist":
        X = X / np.float32(127.5) - np.float32(1.0)
    return X, np.where(arrays[f"y_{part}"] == DIGIT[file], 1, -1)


def _some(X, y, n):
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return X[chosen], y[chosen]

"""Outliers for a training set, in two readings: the source says how many it adds, not what they are.

It calls an outlier a row that lies far from the boundaries, on the wrong side of many of them.

far
    Features three times as wide as the data's own (which are standardised), the label any class with equal
    chance.
mislabelled
    A copy of a training row under another label, any other with equal chance.
"""

import numpy as np

KINDS = ("far", "mislabelled")
WIDTH = 3.0


def with_outliers(X, y, kind, share, seed):
    """The rows, and ``share`` percent of their number more."""
    rng = np.random.default_rng(seed)
    n, n_classes = round(share * len(y) / 100), int(y.max()) + 1
    if kind == "far":
        more, labels = WIDTH * rng.normal(size=(n, X.shape[1])), rng.integers(0, n_classes, n)
    else:
        copied = rng.integers(0, len(y), n)
        more, labels = X[copied], (y[copied] + rng.integers(1, n_classes, n)) % n_classes
    return np.vstack([X, more]), np.concatenate([y, labels])

"""Rows to learn from and rows to judge by."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Set:
    """Rows and labels of both kinds."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def first(self, n):
        """The first so many rows to learn from."""
        return Set(self.X[:n], self.y[:n], self.X_test, self.y_test)


def split(data, n):
    """At most n of the rows to learn from, a third of them to judge by: how parameters are chosen."""
    n = min(n, len(data.y))
    cut = 2 * n // 3
    return Set(data.X[:cut], data.y[:cut], data.X[cut:n], data.y[cut:n])


def standardised(X, X_test):
    """Both, by mean and deviation of the first; a constant feature becomes 0."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, 1.0).astype(X.dtype)
    return (X - mean) / deviation, (X_test - mean) / deviation

"""Data for the benchmarks: real sets from MAXMARGIN_DATA, and made ones from a seed."""

import os
from pathlib import Path

import numpy as np
from scipy import sparse


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

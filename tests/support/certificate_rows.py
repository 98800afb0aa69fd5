"""Small data sets of every kind, for certificates: scales, offsets, precisions, layouts, weights."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy import sparse


@dataclass(frozen=True)
class Case:
    """What is drawn; the numbers themselves come from a seed."""

    seed: int
    n_samples: int
    n_features: int
    n_classes: int
    scale: float
    offset: float
    dtype: str
    layout: str
    separation: float
    weighted: bool

    def data(self):
        rng = np.random.default_rng(self.seed)
        Z = rng.normal(size=(self.n_samples, self.n_features))
        y = rng.integers(0, self.n_classes, self.n_samples)
        y[: self.n_classes] = np.arange(self.n_classes)
        moved = rng.random(self.n_features) < 0.6
        X = self.offset * moved + self.scale * (Z + self.separation * y[:, None])
        if self.layout == "sparse":
            X[rng.random(X.shape) < 0.4] = 0.0
        X = X.astype(self.dtype)
        weight = None
        if self.weighted:
            weight = rng.choice([0.0, 0.5, 1.0, 2.0, 3.3], self.n_samples)
            weight[: self.n_classes] = 1.0
        return sparse.csr_array(X) if self.layout != "dense" else X, y, weight


def powers(low, high):
    return st.integers(low, high).map(lambda k: 10.0**k)


def cases(dtypes=("float64", "float32")):
    return st.builds(
        Case,
        seed=st.integers(0, 2**32 - 1),
        n_samples=st.integers(6, 12),
        n_features=st.integers(1, 4),
        n_classes=st.sampled_from([2, 2, 3]),
        scale=powers(-6, 6),
        offset=st.one_of(st.just(0.0), powers(0, 9), powers(0, 9).map(lambda size: -size)),
        dtype=st.sampled_from(dtypes),
        layout=st.sampled_from(["dense", "sparse", "full CSR"]),
        separation=st.sampled_from([0.0, 1.0, 3.0]),
        weighted=st.booleans(),
    )

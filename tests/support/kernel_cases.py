"""Kernels, row layouts and tolerances that the kernels' tests run over."""

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels import (
    RBF,
    Exponential,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
)

KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    Polynomial(degree=2.5, gamma=0.01, coef0=2.0),
    RBF(gamma=0.3),
    Sigmoid(gamma=0.2, coef0=-0.1),
    Laplacian(gamma=0.4),
    Exponential(gamma=0.6),
]
TOLERANCE = {np.float32: 2e-6, np.float64: 1e-13}
ids = [f"{k.name}{getattr(k, 'degree', '')}" for k in KERNELS]


def csr(X, index=np.int32):
    S = sp.csr_array(X)
    return sp.csr_array((S.data, S.indices.astype(index), S.indptr.astype(index)), shape=S.shape)


LAYOUTS = {"dense": np.ascontiguousarray, "csr32": csr, "csr64": lambda X: csr(X, np.int64)}


def rows(n, d, dtype=np.float64, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * (rng.random((n, d)) < density)).astype(dtype)


def assert_close(K, expected, dtype, factor=1.0):
    scale = max(1.0, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(K, expected, rtol=0, atol=factor * TOLERANCE[dtype] * scale)

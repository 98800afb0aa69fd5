"""Points, weights and kernel matrices for the eigen features' tests."""

import numpy as np

from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map.features import find_eigen_features as features_of

METHODS = ["exact", "randomized", "pivoted-cholesky", "landmarks"]


def points(n=200, d=4, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def weights(n=200, seed=1):
    return np.random.default_rng(seed).integers(1, 5, size=n).astype(float)


def rbf_matrix(X, gamma):
    X = np.asarray(X, dtype=np.float64)
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def of(X, n_components, method, kernel=None, seed=0, **options):
    data = KernelData(kernel or RBF(gamma=0.2), X, np.arange(X.shape[0]), n_threads=2)
    return features_of(data, n_components, method=method, rng=np.random.default_rng(seed), **options)

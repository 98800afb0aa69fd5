"""Data, kernels and solvers that the Lagrangian SVM's tests run over."""

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from maxmargin.data.rows import Rows
from maxmargin.kernels import Linear
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map.features import find_eigen_features
from maxmargin.methods.lagrangian.systems import EigenSystem, FeatureSystem, KernelSystem

SOLVERS = ("newton", "lagrangian")


def noisy(seed, n=60, d=4, C=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, C * rng.uniform(0.2, 3.0, size=n)


def rbf(X, Z):
    return np.exp(-0.3 * ((X[:, None] - Z) ** 2).sum(axis=2))


def dot(X, Z):
    return X @ Z.T


def standardised(load, classes=None):
    X, y = load(return_X_y=True)
    keep = slice(None) if classes is None else np.isin(y, classes)
    return StandardScaler().fit_transform(X[keep]), y[keep]


def systems(X, cost):
    """Every form of one and the same system, that of a linear kernel."""
    rows, K = Rows(X, np.arange(len(X))), X @ X.T
    found = find_eigen_features(
        KernelData(Linear(), X, rows.index), X.shape[1], rng=np.random.default_rng(0), weight=cost
    )
    turned = Rows(found.features, rows.index)
    return {
        "features": FeatureSystem(rows, cost),
        "csr": FeatureSystem(Rows(sparse.csr_array(X), rows.index), cost),
        "kernel": KernelSystem(K + 1.0, cost),
        "eigen": EigenSystem(turned, cost, found.eigenvalues),
        "eigen, factorised": FeatureSystem(turned, cost),
    }

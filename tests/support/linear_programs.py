"""Data and features for linear programs."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from maxmargin.data.rows import Rows
from maxmargin.methods.linear_program.features import RawFeatures


def raw(X):
    return RawFeatures(Rows(X, np.arange(len(X))))


def made(n, d, informative=8, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, :informative].sum(axis=1) + noise * rng.normal(size=n) > 0.3, 1, 0)


def standardised(load, classes=None):
    X, y = load(return_X_y=True)
    if classes is not None:
        X, y = X[np.isin(y, classes)], y[np.isin(y, classes)]
    return StandardScaler().fit_transform(X), y

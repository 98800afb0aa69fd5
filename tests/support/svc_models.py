"""Overlapping blobs, the losses of KernelSVC, and a model's coefficients for every row."""

import numpy as np
from sklearn.datasets import make_blobs

LOSSES = ["hinge", "squared-hinge"]


def blobs(n=300, centers=2, spread=3.0, seed=0):
    X, y = make_blobs(n, n_features=4, centers=centers, cluster_std=spread, random_state=seed)
    return X / 4.0, y


def coefficients(model, n, column=0):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_[column]
    return a

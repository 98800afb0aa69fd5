"""Slow, obvious kernels: double loops in float64. What the compiled ones are compared with."""

import math

import numpy as np
import scipy.sparse as sp

FORMULAS = {
    "linear": lambda x, z, k: x @ z,
    "polynomial": lambda x, z, k: (k.gamma * (x @ z) + k.coef0) ** k.degree,
    "rbf": lambda x, z, k: math.exp(-k.gamma * ((x - z) @ (x - z))),
    "sigmoid": lambda x, z, k: math.tanh(k.gamma * (x @ z) + k.coef0),
    "exponential": lambda x, z, k: math.exp(-k.gamma * math.sqrt((x - z) @ (x - z))),
    "laplacian": lambda x, z, k: math.exp(-k.gamma * np.abs(x - z).sum()),
}


def dense64(X):
    return (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64)


def reference(kernel, X, Z):
    X, Z = dense64(X), dense64(Z)
    K = [[FORMULAS[kernel.name](x, z, kernel) for z in Z] for x in X]
    return np.array(K).reshape(len(X), len(Z))

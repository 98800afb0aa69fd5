"""Data for budgeted classifiers, a quick fit, and the objective from what a model stores."""

import numpy as np

from maxmargin import SparseKernelClassifier
from maxmargin.kernels import RBF
from maxmargin.losses import LOSSES

OWN_LOSSES = ["squared-hinge", "log", "squared", "hinge"]


def noisy(n=150, n_classes=2, seed=0, d=3, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    latent = X[:, 0] + 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=n)
    return X, np.digitize(latent, np.quantile(latent, np.arange(1, n_classes) / n_classes))


def fitted(X, y, budget=12, weight=None, **parameters):
    parameters = {"alpha": 1e-2, "gamma": 0.5, "random_state": 0} | parameters
    return SparseKernelClassifier(budget, **parameters).fit(X, y, weight)


def objective_of(model, X, y, weight=None):
    """The objective from the stored support vectors and coefficients, and nothing else."""
    weight = np.ones(len(y)) if weight is None else weight
    Y = model.code_.targets(np.searchsorted(model.classes_, y))
    kernel, a, loss = RBF(gamma=model.gamma_), model.dual_coef_.T, LOSSES[model.loss]
    c = np.where(Y != 0, weight[:, None], 0.0)
    losses = (c / c.sum(axis=0) * loss.value(Y * (kernel(X, model.support_vectors_) @ a))).sum()
    Z = model.support_vectors_
    return losses + 0.5 * model.alpha_ * np.einsum("it,ij,jt->", a, kernel(Z, Z), a)

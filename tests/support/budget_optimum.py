"""The optimum for given support vectors, by a QP or a general minimiser."""

import numpy as np
from scipy.optimize import minimize

from maxmargin.losses import LOSSES

from .reference import svm_primal

PRECISE = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 50}


def costs(Y, weight):
    c = np.where(Y != 0.0, weight[:, None], 0.0)
    return c / c.sum(axis=0)


def best(K_nS, K_SS, Y, weight, loss, alpha):
    """The least objective, column by column: by a QP for the hinges, by L-BFGS and BFGS for the others."""
    total = 0.0
    for y, c in zip(Y.T, costs(Y, weight).T):
        Phi = np.linalg.solve(np.linalg.cholesky(K_SS), K_nS.T).T[c > 0]
        if "hinge" in loss:
            total += alpha * svm_primal(Phi, y[c > 0], c[c > 0] / alpha, loss.replace("-", "_"), "none")[2]
        else:
            total += minimum(Phi, y[c > 0], c[c > 0], LOSSES[loss], alpha)
    return total


def minimum(Phi, y, c, loss, alpha):
    def value(v):
        m = y * (Phi @ v)
        gradient = Phi.T @ (c * y * loss.slope(m)) + alpha * v
        return c @ loss.value(m) + 0.5 * alpha * v @ v, gradient

    found = minimize(value, np.zeros(Phi.shape[1]), jac=True, method="L-BFGS-B", options=PRECISE)
    assert np.linalg.norm(value(found.x)[1]) ** 2 / (2 * alpha) <= 1e-8 * found.fun  # its own duality gap
    return found.fun

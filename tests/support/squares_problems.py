"""Least-squares problems, their objective, and a referee for each penalty."""

import numpy as np

from maxmargin.data.rows import Rows
from maxmargin.methods.least_squares.columns import SquaresOnRows
from maxmargin.methods.least_squares.data import SquaresData
from maxmargin.solving.result import Stop

from .reference_squares import lasso_primal, ridge_in_extended_precision, shortest_least_squares

PENALTIES = {"none": None, "ridge": "ridge", "lasso": "lasso"}


def noisy(seed, n=40, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, rng.uniform(0.2, 3.0, size=n)


def solved(penalty, X, y, weight, C=1.0, free=True, tol=1e-9, callback=None):
    data = SquaresData(Rows(X, np.arange(X.shape[0])), weight, free)
    return SquaresOnRows(data, penalty).at(C).solve(y, None, Stop(tol=tol, max_iter=1000), callback)


def objective(penalty, X, y, weight, C, w, b):
    cost = weight if penalty == "none" else C * weight
    norm = {"none": 0.0, "ridge": 0.5 * w @ w, "lasso": np.abs(w).sum()}[penalty]
    return norm + 0.5 * cost @ (y - X @ w - b) ** 2


def referee(penalty, X, y, weight, C, free):
    if penalty == "none":
        return shortest_least_squares(X, y, weight, free)
    solve = ridge_in_extended_precision if penalty == "ridge" else lasso_primal
    return solve(X, y, C * weight, free)

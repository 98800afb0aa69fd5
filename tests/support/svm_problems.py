"""Small SVM problems, kernel matrices by their formula, and the promise of a solver checked."""

import numpy as np
import pytest

from maxmargin.kernels import RBF, Linear, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.methods.kernel_svm.problem import SvmProblem
from maxmargin.solving.result import Status

from .reference import kernel_svm_bounds

LOSSES = ["hinge", "squared-hinge"]
UNLIMITED = 10**9


def naive(kernel, X, Z=None):
    """The kernel matrix in double precision, by its formula."""
    X = np.asarray(X, dtype=np.float64)
    Z = X if Z is None else np.asarray(Z, dtype=np.float64)
    if isinstance(kernel, Precomputed):
        return X
    if isinstance(kernel, RBF):
        return np.exp(-kernel.gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))
    if isinstance(kernel, Linear):
        return X @ Z.T
    return (kernel.gamma * X @ Z.T + kernel.coef0) ** kernel.degree


def noisy(seed, n=60, d=3, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, rng.uniform(0.2, 3.0, size=n)


HALF = RBF(0.5)


def problem_of(X, y, cost, loss="hinge", kernel=HALF, n_threads=1):
    return SvmProblem(KernelData(kernel, X, np.arange(len(y)), n_threads), y, cost, loss == "squared-hinge")


def rounding(problem, a):
    """How wrong a relative gap may be: f, computed from coefficients, is a difference of large numbers."""
    K = naive(problem.kernel.kernel, problem.kernel.X)
    return 64 * np.finfo(float).eps * (1.0 + np.abs(K).max() * np.abs(a).sum())


def assert_solved(problem, result, tol):
    """The promise: a status, bounds from nothing but the coefficients, the optimality of every sample."""
    loss = "squared-hinge" if problem.squared else "hinge"
    K, a, y = naive(problem.kernel.kernel, problem.kernel.X), result.coef, problem.y
    primal, dual = kernel_svm_bounds(a, result.intercept, K, y, problem.cost, loss)
    slack = rounding(problem, a) * problem.cost.sum() / primal
    if result.status is not Status.CONVERGED:  # rounding of outputs alone may exceed tol
        assert result.status in (Status.STALLED, Status.MAX_ITER)
        assert tol < result.history[-1].gap <= tol + slack
        assert slack > tol
    assert all(check.gap >= -1e-9 for check in result.history)
    assert result.objective == pytest.approx(primal, rel=1e-10 + slack)
    assert (primal - dual) / primal <= tol + slack
    # KKT: what a sample loses by not being where it should be is part of the gap
    f = K @ a + result.intercept
    r = 1.0 - y * f
    missed = (
        0.5 * problem.cost * np.maximum(0.0, r) ** 2 - a * y * r + 0.5 * a**2 / problem.cost
        if problem.squared
        else problem.cost * np.maximum(0.0, r) - a * y * r
    )
    assert missed.max() <= (tol + slack) * primal
    return primal

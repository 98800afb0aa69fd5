"""What referees of certificates share: rows, outputs in many digits, what rounding can do to them."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from maxmargin import kernels

from . import certified_problems as problems
from .extended_qp import array, lu_solver, number, zeros

ERRORS_OF_OUTPUTS = 16  # in units of roundoff of the sizes of their terms
# kernel values have the rows' precision
CERTIFIED_AS_GIVEN = {
    *("KernelSVC", "KernelSVR", "LaSVM", "OneClassSVM", "SparseKernelClassifier", "SparseKernelRegressor"),
}


class Judgement(NamedTuple):
    """The objective, a bound on the optimum, what counts as 0, and where rounding can put the objective."""

    primal: object
    bound: object
    tiny: float
    least: object
    most: object


def judgement(penalty, loss, errors, bound, tiny):
    """Of ``penalty + loss(0)``; ``loss(e)`` is the loss if all margins are better by e.

    ``errors`` are what rounding can do to margins and to the penalty.
    """
    e, p = errors
    return Judgement(penalty + loss(0 * e), bound, tiny, penalty - p + loss(e), penalty + p + loss(-e))


def linear_errors(X, w, b):
    """What double precision can do to ``X w + b``; the penalty has no error."""
    terms = (np.abs(array(X)) @ np.abs(array(w))).max() + abs(number(b)) + 1
    return ERRORS_OF_OUTPUTS * number(np.finfo(np.float64).eps) * terms, number(0)


def expansion_errors(model, X, coef, b):
    """What rounding can do to ``sum_j coef_j k(., z_j) + b`` on X, and to its squared norm."""
    dtype = X.dtype if type(model).__name__ in CERTIFIED_AS_GIVEN else np.float64
    Z, a = dense(model.support_vectors_), np.abs(array(coef))
    if not len(Z):
        return number(0), number(0)
    size = lambda X, Z: np.abs(kernel_or_linear(model)(X, Z))  # noqa: E731
    if kernel_of(model) is None:
        size = lambda X, Z: np.abs(array(X)) @ np.abs(array(Z)).T  # noqa: E731
    unit = ERRORS_OF_OUTPUTS * number(np.finfo(dtype).eps)
    return unit * (size(X, Z).max(axis=0) @ a + abs(number(b)) + 1), unit * (a @ size(Z, Z) @ a)


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


class Data:
    """Rows that count, their class numbers and weights."""

    def __init__(self, model, X, y, weight):
        self.X = dense(X)
        self.weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        kept = self.weight > 0
        self.X, self.weight = self.X[kept], self.weight[kept]
        self.labels = np.asarray(y, dtype=np.float64)[kept]
        if hasattr(model, "classes_"):
            self.labels = np.searchsorted(model.classes_, np.asarray(y)[kept])

    def columns(self, model):
        for t in range(model.code_.n_columns):
            which, targets = model.code_.column(self.labels, t)
            yield t, self.X[which], array(targets), self.weight[which]


def kernel_of(model):
    """A function ``k(X, Z)`` in extended precision; None for the linear kernel."""
    kernel = model.kernel_
    if isinstance(kernel, kernels.Linear):
        return None
    return lambda X, Z: problems.kernel_values(kernel, X, Z)


def expansion(model, X, coef, b):
    """Outputs on X and the squared norm of ``sum_j coef_j k(., z_j) + b``."""
    Z, k = dense(model.support_vectors_), kernel_of(model)
    if k is None:
        w = problems.combined(Z, coef)
        return problems.linear_outputs(X, w, b), number(sum(p * p for p in w))
    if not len(Z):
        return np.full(len(X), number(b)), number(0)
    coef = array(coef)
    return k(X, Z) @ coef + number(b), coef @ k(Z, Z) @ coef


def features(model, X, *, free):
    """(Phi, K) for a bound: the rows, or a root of the kernel matrix and the matrix itself.

    Phi is None if the kernel is indefinite on the rows.
    """
    k = kernel_of(model)
    if k is None:
        return (problems.shifted(X) if free else array(X)), None
    K = k(X, X)
    return problems.root(K), K


def eigen_features(model, X):
    """Features of X that a model on eigen features is linear in: ``k(X, landmarks) @ projection``."""
    found = model.eigen_features_found
    return kernel_or_linear(model)(X, dense(found.points)) @ array(found.projection)


def kernel_or_linear(model):
    return lambda X, Z: problems.kernel_values(model.kernel_, X, Z)


def eigen_outputs(model, X, t):
    """Outputs of a model on eigen features, as it predicts them, and its coefficients w of the features."""
    P, a = array(model.eigen_features_found.projection), array(model.dual_coef_[t])
    f = kernel_or_linear(model)(X, dense(model.support_vectors_)) @ a + number(model.intercept_[t])
    if hasattr(model, "coef_"):
        return f, array(model.coef_[t])
    size = np.abs(P).max(axis=0) if P.shape[1] else zeros(0)
    return f, lu_solver((P / size).T @ (P / size))((P / size).T @ a) / size


def eigen_errors(model, X, w, b):
    """What rounding can do to outputs of features ``k(x, landmarks) @ projection``."""
    found = model.eigen_features_found
    size = np.abs(kernel_or_linear(model)(X, dense(found.points))).max(axis=0) @ np.abs(
        array(found.projection)
    )
    unit = ERRORS_OF_OUTPUTS * number(np.finfo(np.float64).eps)
    return unit * (size @ np.abs(w) + abs(number(b)) + 1), number(0)


def excess(found):
    """The objective's excess over its bound, as a share of it, like ``dual_gap_``; 0 if there is no bound."""
    if found.bound is None:
        return 0.0
    scale = max(abs(found.primal), abs(found.bound), type(found.primal)(found.tiny))
    return float((found.primal - found.bound) / scale) if scale > 0 else 0.0

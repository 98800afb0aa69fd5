"""The true excess of a fitted model over the optimum, from its fitted attributes and the data as given.

``excesses(model, X, y, weight)`` has one (primal, bound, tiny) for each problem that the model certifies:
one a column, or one for all columns together.
"""

import numpy as np
from scipy import sparse

from maxmargin import kernels

from . import certified_problems as problems
from .extended_qp import array, lu_solver, number, zeros


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


class Data:
    """Rows that count, their class numbers and weights."""

    def __init__(self, model, X, y, weight):
        self.X = dense(X)
        self.weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        kept = self.weight > 0
        self.X, self.weight = self.X[kept], self.weight[kept]
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


def _loss(model):
    return getattr(model, "loss", "hinge").replace("_", "-")


def linear_svc(model, data):
    intercept = "none" if not model.fit_intercept else "penalised" if model.penalize_intercept else "free"
    for t, X, y, weight in data.columns(model):
        w, b, cost = model.coef_[t], model.intercept_[t], array(model.C * weight)
        f = problems.linear_outputs(X, w, b)
        penalty = (array(w) @ array(w) + (number(b) ** 2 if intercept == "penalised" else 0)) / 2
        primal = penalty + cost @ problems.losses(_loss(model), y * f)
        Phi = problems.shifted(X) if intercept == "free" else array(X)
        if _loss(model) == "log":
            bound = problems.log_bound(Phi, y, cost, intercept)
        else:
            bound = problems.margin_bound(Phi, y, cost, _loss(model), intercept)
        yield primal, bound, _tiny(cost, _loss(model))


def _tiny(cost, loss):
    at_zero = {"hinge": 1.0, "squared-hinge": 0.5, "squared": 0.5, "log": np.log(2.0)}[loss]
    return float(cost.sum()) * at_zero * np.finfo(float).eps


def kernel_svm(model, data):
    for t, X, y, weight in data.columns(model):
        f, norm = expansion(model, X, model.dual_coef_[t], model.intercept_[t])
        cost, (Phi, K) = array(model.C * weight), features(model, X, free=True)
        primal = norm / 2 + cost @ problems.losses(_loss(model), y * f)
        bound = None if Phi is None else problems.margin_bound(Phi, y, cost, _loss(model), "free", K)
        yield primal, bound, _tiny(cost, _loss(model))


def lagrangian(model, data):
    for t, X, y, weight in data.columns(model):
        cost, b = array(model.C * weight), model.intercept_[t]
        if model.space_ == "linear":
            f, w = problems.linear_outputs(X, model.coef_[t], b), array(model.coef_[t])
            norm, Phi, K = w @ w, array(X), None
        elif model.space_ == "eigen":
            f, w = eigen_outputs(model, X, t)
            norm, Phi, K = w @ w, eigen_features(model, X), None
        else:
            f, norm = expansion(model, X, model.dual_coef_[t], b)
            Phi, K = features(model, X, free=False)
        primal = (norm + number(b) ** 2) / 2 + cost @ problems.losses("squared-hinge", y * f)
        bound = None
        if Phi is not None:
            bound = problems.margin_bound(Phi, y, cost, "squared-hinge", "penalised", K)
        yield primal, bound, _tiny(cost, "squared-hinge")


def least_squares(model, data):
    for t, X, y, weight in data.columns(model):
        w, b = model.coef_[t], model.intercept_[t]
        cost = array(model.C * weight if model.penalty else weight)
        r = y - problems.linear_outputs(X, w, b)
        norm = {None: number(0), "ridge": array(w) @ array(w) / 2, "lasso": np.abs(array(w)).sum()}
        primal = norm[model.penalty] + cost @ r**2 / 2
        free = bool(model.fit_intercept)
        bound = {
            None: problems.plain_squares_minimum,
            "ridge": problems.ridge_bound,
            "lasso": problems.lasso_bound,
        }[model.penalty](X, y, cost, free)
        yield primal, bound, _tiny(cost, "squared")


def linear_program(model, data):
    cost = lambda weight: array(model.C * weight)  # noqa: E731
    joint = model.multi_class == "joint"

    def of(X):
        if hasattr(model, "trace_captured_"):
            return eigen_features(model, X)
        if model.kernel is not None:
            return problems.kernel_values(model.kernel_, X, X)
        return problems.shifted(X) if model.fit_intercept else array(X)

    def outputs(X, t):
        if hasattr(model, "trace_captured_"):
            return eigen_outputs(model, X, t)
        if model.kernel is None:
            return problems.linear_outputs(X, model.coef_[t], model.intercept_[t]), array(model.coef_[t])
        return expansion(model, X, model.dual_coef_[t], model.intercept_[t])[0], array(model.dual_coef_[t])

    if joint:
        G = len(model.classes_)
        scores, norms = zip(*(outputs(data.X, g) for g in range(G)))
        F = np.stack(scores, axis=1)
        own = F[np.arange(len(F)), data.labels][:, None]
        missing = np.maximum(number(0), 1 - own + F)
        missing[np.arange(len(F)), data.labels] = 0
        primal = sum(np.abs(w).sum() for w in norms) + cost(data.weight) @ missing.sum(axis=1)
        bound = problems.hinge_program_bound(
            of(data.X), data.labels, cost(data.weight), G, bool(model.fit_intercept)
        )
        yield primal, bound, _tiny(cost(data.weight), "hinge") * (G - 1)
        return
    for t, X, y, weight in data.columns(model):
        f, w = outputs(X, t)
        primal = np.abs(w).sum() + cost(weight) @ problems.losses("hinge", y * f)
        bound = problems.hinge_program_bound(of(X), y, cost(weight), None, bool(model.fit_intercept))
        yield primal, bound, _tiny(cost(weight), "hinge")


def _class_scores(model, data):
    """Scores (n, n_classes), sums of squared norms; two classes are stored as their difference."""
    linear = hasattr(model, "coef_")
    rows = model.coef_ if linear else model.dual_coef_
    found = []
    for coef, b in zip(rows, model.intercept_):
        if linear:
            norm = array(coef) @ array(coef)
            found.append((problems.linear_outputs(data.X, coef, b), norm, number(b)))
        else:
            found.append((*expansion(model, data.X, coef, b), number(b)))
    if len(found) == 1:
        f, norm, b = found[0]
        found = [(-f / 2, norm / 4, -b / 2), (f / 2, norm / 4, b / 2)]
    F, norms, b = zip(*found)
    return np.stack(F, axis=1), sum(norms), np.array(b)


def all_pairs(model, data):
    F, norm, _ = _class_scores(model, data)
    n, cost, G = len(F), array(model.C * data.weight), len(model.classes_)
    missing = np.maximum(number(0), 1 - F[np.arange(n), data.labels][:, None] + F)
    missing[np.arange(n), data.labels] = 0
    Phi, K = features(model, data.X, free=True)
    bound = None if Phi is None else problems.all_pairs_bound(Phi, data.labels, cost, G, K)
    yield norm / 2 + cost @ missing.sum(axis=1), bound, _tiny(cost, "hinge") * (G - 1)


def top_k(model, data):
    F, norm, b = _class_scores(model, data)
    n, k, exclude = len(F), model.k, model.true_class == "exclude"
    u = 1 + F - F[np.arange(n), data.labels][:, None]
    u[np.arange(n), data.labels] = -(number(10) ** 4000) if exclude else 0
    loss = array(np.maximum(0, np.sort(u, axis=1)[:, -k:].sum(axis=1))) / k
    mass = array(data.weight / data.weight.sum())
    if model.fit_intercept:
        norm = norm + b @ b
    Phi, K = features(model, data.X, free=False)
    tiny = np.finfo(float).eps
    if Phi is None:
        yield number(model.alpha) * norm / 2 + mass @ loss, None, tiny
        return
    if model.fit_intercept:
        Phi, K = np.hstack([Phi, array(np.ones((n, 1)))]), None if K is None else K + 1
    bound = problems.top_k_bound(Phi, data.labels, mass, model.alpha, k, exclude, len(model.classes_), K)
    yield number(model.alpha) * norm / 2 + mass @ loss, bound, tiny


def budgeted(model, data):
    if not model.n_support_:
        return
    Z, alpha = dense(model.support_vectors_), number(model.alpha_)
    k = kernel_or_linear(model)
    L = problems.root(k(Z, Z))
    if L is None:
        return
    total = number(0), number(0), 0.0
    for t, X, y, weight in data.columns(model):
        f, norm = expansion(model, X, model.dual_coef_[t], 0.0)
        cost, B = array(weight / weight.sum()), k(X, Z).T
        for i in range(len(B)):  # Phi = L^-1 k(Z, X), transposed
            B[i] = (B[i] - L[i, :i] @ B[:i]) / L[i, i]
        primal = alpha * norm / 2 + cost @ problems.losses(_loss(model), y * f)
        if "hinge" in _loss(model):
            bound = alpha * problems.margin_bound(B.T, y, cost / alpha, _loss(model), "none")
        else:
            bound = problems.smooth_minimum(B.T, y, cost, _loss(model), alpha)
        total = total[0] + primal, total[1] + bound, total[2] + _tiny(cost, _loss(model))
    yield total


REFEREES = {
    "AllPairsSVC": all_pairs,
    "KernelSVC": kernel_svm,
    "LaSVM": kernel_svm,
    "LagrangianSVC": lagrangian,
    "LeastSquaresClassifier": least_squares,
    "LinearProgramSVC": linear_program,
    "LinearSVC": linear_svc,
    "SparseKernelClassifier": budgeted,
    "TopKSVC": top_k,
}


def excesses(model, X, y, weight):
    """(primal, bound, tiny) of each problem; a bound of None is not known: the kernel is indefinite."""
    return list(REFEREES[type(model).__name__](model, Data(model, X, y, weight)))


def relative(primal, bound, tiny):
    """The excess over a bound as a share of the objective, like ``dual_gap_``; 0 if there is no bound."""
    if bound is None:
        return 0.0
    scale = max(abs(primal), abs(bound), type(primal)(tiny))
    return float((primal - bound) / scale) if scale > 0 else 0.0

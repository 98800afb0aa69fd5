"""The true excess of a fitted model over the optimum, from its fitted attributes and the data as given.

``judgements(model, X, y, weight)`` has one ``Judgement`` for each problem that the model certifies: one a
column, or one for all columns together.
"""

import numpy as np

from . import certified_problems as problems
from .extended_qp import array, number
from .judgement import (
    Data,
    Judgement,
    dense,
    eigen_errors,
    eigen_features,
    eigen_outputs,
    expansion,
    expansion_errors,
    features,
    judgement,
    kernel_or_linear,
    linear_errors,
)
from .machine_bounds import nu_bound, one_class_bound, residual_bound
from .regression_problems import at_zeros, dual_form, loss_range, loss_values


def _loss(model):
    return getattr(model, "loss", "hinge").replace("_", "-")


def linear_svc(model, data):
    intercept = "none" if not model.fit_intercept else "penalised" if model.penalize_intercept else "free"
    for t, X, y, weight in data.columns(model):
        w, b, cost = model.coef_[t], model.intercept_[t], array(model.C * weight)
        f = problems.linear_outputs(X, w, b)
        penalty = (array(w) @ array(w) + (number(b) ** 2 if intercept == "penalised" else 0)) / 2
        loss, errors = _margin_loss(_loss(model), cost, y * f), linear_errors(X, w, b)
        Phi = problems.shifted(X) if intercept == "free" else array(X)
        if _loss(model) == "log":
            bound = problems.log_bound(Phi, y, cost, intercept)
        else:
            bound = problems.margin_bound(Phi, y, cost, _loss(model), intercept)
        yield judgement(penalty, loss, errors, bound, _tiny(cost, _loss(model)))


def _margin_loss(name, cost, m):
    return lambda e: cost @ problems.losses(name, m, e)


def _tiny(cost, loss):
    at_zero = {"hinge": 1.0, "squared-hinge": 0.5, "squared": 0.5, "log": np.log(2.0)}[loss]
    return float(cost.sum()) * at_zero * np.finfo(float).eps


def kernel_svm(model, data):
    if getattr(model, "nu", None) is not None:
        yield from nu_svm(model, data)
        return
    for t, X, y, weight in data.columns(model):
        f, norm = expansion(model, X, model.dual_coef_[t], model.intercept_[t])
        cost, (Phi, K) = array(model.C * weight), features(model, X, free=True)
        errors = expansion_errors(model, X, model.dual_coef_[t], model.intercept_[t])
        bound = None if Phi is None else problems.margin_bound(Phi, y, cost, _loss(model), "free", K)
        loss = _margin_loss(_loss(model), cost, y * f)
        yield judgement(norm / 2, loss, errors, bound, _tiny(cost, _loss(model)))


def nu_svm(model, data):
    """The outputs have margins of 1 where those of the problem have rho."""
    for t, X, y, weight in data.columns(model):
        f, norm = expansion(model, X, model.dual_coef_[t], model.intercept_[t])
        total, C, nu = array(weight).sum(), number(model.C_[t]), number(model.nu)
        rho = 1 / (C * total) if C > 0 else number(0)  # zero coefficients
        share, (Phi, K) = array(weight) / total, features(model, X, free=True)
        e, p = expansion_errors(model, X, model.dual_coef_[t], model.intercept_[t])
        bound = None if Phi is None else nu_bound(Phi, y, share, model.nu, K)
        loss = _margin_loss("hinge", rho * share, y * f)
        G, first = kernel_or_linear(model)(X, X).astype(np.float64), int(np.argmax(np.asarray(y) > 0))
        radius = np.abs(G.diagonal() - 2 * G[:, first] + G[first, first]).max()
        earned = lambda e, loss=loss, gain=nu * rho: loss(e) - gain  # noqa: E731
        tiny = 0.5 * model.nu**2 * float(max(1e-10 * radius, 2.0**-49 * np.abs(G.diagonal()).max()))
        yield judgement(rho * rho * norm / 2, earned, (e, rho * rho * p), bound, tiny)


def lagrangian(model, data):
    for t, X, y, weight in data.columns(model):
        cost, b = array(model.C * weight), model.intercept_[t]
        if model.space_ == "linear":
            f, w = problems.linear_outputs(X, model.coef_[t], b), array(model.coef_[t])
            norm, Phi, K, errors = w @ w, array(X), None, linear_errors(X, w, b)
        elif model.space_ == "eigen":
            f, w = eigen_outputs(model, X, t)
            norm, Phi, K, errors = w @ w, eigen_features(model, X), None, eigen_errors(model, X, w, b)
        else:
            f, norm = expansion(model, X, model.dual_coef_[t], b)
            (Phi, K), errors = (
                features(model, X, free=False),
                expansion_errors(model, X, model.dual_coef_[t], b),
            )
        bound = None
        if Phi is not None:
            bound = problems.margin_bound(Phi, y, cost, "squared-hinge", "penalised", K)
        penalty, loss = (norm + number(b) ** 2) / 2, _margin_loss("squared-hinge", cost, y * f)
        yield judgement(penalty, loss, errors, bound, _tiny(cost, "squared-hinge"))


def least_squares(model, data):
    for t, X, y, weight in data.columns(model):
        w, b = model.coef_[t], model.intercept_[t]
        cost = array(model.C * weight if model.penalty else weight)
        r = y - problems.linear_outputs(X, w, b)
        norm = {None: number(0), "ridge": array(w) @ array(w) / 2, "lasso": np.abs(array(w)).sum()}
        loss = lambda e, r=r, cost=cost: cost @ problems.losses("squared", 1 - np.abs(r), e)  # noqa: E731
        free = bool(model.fit_intercept)
        bound = {
            None: problems.plain_squares_minimum,
            "ridge": problems.ridge_bound,
            "lasso": problems.lasso_bound,
        }[model.penalty](X, y, cost, free)
        yield judgement(norm[model.penalty], loss, linear_errors(X, w, b), bound, _tiny(cost, "squared"))


def linear_program(model, data):
    cost = lambda weight: array(model.C * weight)  # noqa: E731
    joint = model.multi_class == "joint"
    size = lambda w: np.abs(w).sum()  # noqa: E731

    def of(X):
        if hasattr(model, "trace_captured_"):
            return eigen_features(model, X)
        if model.kernel is not None:
            return problems.kernel_values(model.kernel_, X, X)
        return problems.shifted(X) if model.fit_intercept else array(X)

    def outputs(X, t):
        b = model.intercept_[t]
        if hasattr(model, "trace_captured_"):
            f, w = eigen_outputs(model, X, t)
            return f, w, eigen_errors(model, X, w, b)[0]
        if model.kernel is None:
            w = model.coef_[t]
            return problems.linear_outputs(X, w, b), array(w), linear_errors(X, w, b)[0]
        a = model.dual_coef_[t]
        return expansion(model, X, a, b)[0], array(a), expansion_errors(model, X, a, b)[0]

    if joint:
        G = len(model.classes_)
        scores, coefs, errors = zip(*(outputs(data.X, g) for g in range(G)))
        loss = _pairs_loss(np.stack(scores, axis=1), data, cost(data.weight))
        bound = problems.hinge_program_bound(
            of(data.X), data.labels, cost(data.weight), G, bool(model.fit_intercept)
        )
        tiny = _tiny(cost(data.weight), "hinge") * (G - 1)
        yield judgement(sum(map(size, coefs)), loss, (2 * max(errors), number(0)), bound, tiny)
        return
    for t, X, y, weight in data.columns(model):
        f, w, error = outputs(X, t)
        loss = _margin_loss("hinge", cost(weight), y * f)
        bound = problems.hinge_program_bound(of(X), y, cost(weight), None, bool(model.fit_intercept))
        yield judgement(size(w), loss, (error, number(0)), bound, _tiny(cost(weight), "hinge"))


def _pairs_loss(F, data, cost):
    """The loss of pairs of classes, of margins that are better by e."""
    every = np.arange(len(F))

    def loss(e):
        missing = np.maximum(number(0), 1 - F[every, data.labels][:, None] + F - e)
        missing[every, data.labels] = 0
        return cost @ missing.sum(axis=1)

    return loss


def _class_scores(model, data):
    """Scores (n, n_classes), squared norm, intercepts, errors; two classes are stored as their difference."""
    linear = hasattr(model, "coef_")
    rows = model.coef_ if linear else model.dual_coef_
    found = []
    for coef, b in zip(rows, model.intercept_):
        if linear:
            norm, errors = array(coef) @ array(coef), linear_errors(data.X, coef, b)
            found.append((problems.linear_outputs(data.X, coef, b), norm, number(b), *errors))
        else:
            errors = expansion_errors(model, data.X, coef, b)
            found.append((*expansion(model, data.X, coef, b), number(b), *errors))
    if len(found) == 1:
        f, norm, b, e, p = found[0]
        found = [(-f / 2, norm / 4, -b / 2, e, p), (f / 2, norm / 4, b / 2, e, p)]
    F, norms, b, e, p = zip(*found)
    return np.stack(F, axis=1), sum(norms), np.array(b), (2 * max(e), sum(p))


def all_pairs(model, data):
    F, norm, _, errors = _class_scores(model, data)
    cost, G = array(model.C * data.weight), len(model.classes_)
    Phi, K = features(model, data.X, free=True)
    bound = None if Phi is None else problems.all_pairs_bound(Phi, data.labels, cost, G, K)
    yield judgement(norm / 2, _pairs_loss(F, data, cost), errors, bound, _tiny(cost, "hinge") * (G - 1))


def top_k(model, data):
    F, norm, b, (e, p) = _class_scores(model, data)
    n, k, exclude = len(F), model.k, model.true_class == "exclude"
    mass = array(data.weight / data.weight.sum())

    def loss(e):
        u = 1 + F - F[np.arange(n), data.labels][:, None] - e
        u[np.arange(n), data.labels] = -(number(10) ** 4000) if exclude else 0
        return mass @ array(np.maximum(0, np.sort(u, axis=1)[:, -k:].sum(axis=1))) / k

    if model.fit_intercept:
        norm = norm + b @ b
    Phi, K = features(model, data.X, free=False)
    alpha, tiny = number(model.alpha), np.finfo(float).eps
    if Phi is None:
        yield judgement(alpha * norm / 2, loss, (e, alpha * p), None, tiny)
        return
    if model.fit_intercept:
        Phi, K = np.hstack([Phi, array(np.ones((n, 1)))]), None if K is None else K + 1
    bound = problems.top_k_bound(Phi, data.labels, mass, model.alpha, k, exclude, len(model.classes_), K)
    yield judgement(alpha * norm / 2, loss, (e, alpha * p), bound, tiny)


def budgeted(model, data):
    if not model.n_support_:
        return
    alpha = number(model.alpha_)
    L = problems.root(kernel_or_linear(model)(*2 * [dense(model.support_vectors_)]))
    if L is None:
        return
    found = []
    for t, X, y, weight in data.columns(model):
        f, norm = expansion(model, X, model.dual_coef_[t], 0.0)
        cost, B = array(weight / weight.sum()), whitened(model, X, L)
        e, p = expansion_errors(model, X, model.dual_coef_[t], 0.0)
        loss = _margin_loss(_loss(model), cost, y * f)
        if "hinge" in _loss(model):
            bound = alpha * problems.margin_bound(B.T, y, cost / alpha, _loss(model), "none")
        else:
            bound = problems.smooth_minimum(B.T, y, cost, _loss(model), alpha)
        found.append(judgement(alpha * norm / 2, loss, (e, alpha * p), bound, _tiny(cost, _loss(model))))
    yield Judgement(*map(sum, zip(*found)))


def whitened(model, X, L):
    """``L^-1 k(Z, X)`` for the support vectors Z with ``k(Z, Z) = L L'``."""
    B = kernel_or_linear(model)(X, dense(model.support_vectors_)).T
    for i in range(len(B)):
        B[i] = (B[i] - L[i, :i] @ B[:i]) / L[i, i]
    return B


def budgeted_regression(model, data):
    if not model.n_support_:
        return
    L = problems.root(kernel_or_linear(model)(*2 * [dense(model.support_vectors_)]))
    if L is None:
        return
    X, y, alpha = data.X, data.labels, number(model.alpha_)
    a, b, cost = model.dual_coef_[0], model.intercept_[0], data.weight / data.weight.sum()
    f, norm = expansion(model, X, a, b)
    low, high, ridge, kink = dual_form(model, cost / model.alpha_)
    form = low, high, bool(ridge.any()), kink
    own = array(y) - number(b)
    bound = alpha * residual_bound(whitened(model, X, L).T, own, cost / model.alpha_, form, free=False)
    loss = lambda e: array(cost) @ loss_range(array(y) - f, e, model, number)  # noqa: E731
    e, p = expansion_errors(model, X, a, b)
    tiny = float(cost @ loss_values(y - b, model)) * np.finfo(float).eps
    yield judgement(alpha * norm / 2, loss, (e, alpha * p), bound, tiny)


def regression(model, data):
    X, a, b = data.X, model.dual_coef_[0], model.intercept_[0]
    f, norm = expansion(model, X, a, b)
    Phi, K = features(model, X, free=True)
    yield _regression(model, data, f, norm, expansion_errors(model, X, a, b), (Phi, K))


def linear_svr(model, data):
    X, w, b = data.X, model.coef_, model.intercept_[0]
    free = model.fit_intercept and not model.penalize_intercept
    Phi, norm = problems.shifted(X) if free else array(X), array(w) @ array(w)
    if model.fit_intercept and model.penalize_intercept:
        Phi, norm = np.hstack([Phi, array(np.ones((len(X), 1)))]), norm + number(b) ** 2
    f = problems.linear_outputs(X, w, b)
    yield _regression(model, data, f, norm, linear_errors(X, w, b), (Phi, None), free)


def _regression(model, data, f, norm, errors, features, free=True):
    y, cost, (Phi, K) = data.labels, model.C * data.weight, features
    low, high, ridge, kink = dual_form(model, cost)
    form = low, high, bool(ridge.any()), kink
    bound = None if Phi is None else residual_bound(Phi, y, cost, form, K, free=free)
    r = array(y) - f
    loss = lambda e: array(cost) @ loss_range(r, e, model, number)  # noqa: E731
    at_zero = loss_values(y - at_zeros(model, y, data.weight), model)
    return judgement(norm / 2, loss, errors, bound, float(cost @ at_zero) * np.finfo(float).eps)


def one_class(model, data):
    X, cost = data.X, data.weight / (model.nu * data.weight.sum())
    a, rho = model.dual_coef_[0], model.offset_[0]
    f, norm = expansion(model, X, a, -rho)
    Phi, K = features(model, X, free=False)
    bound = None if Phi is None else one_class_bound(Phi, cost, K)
    loss = lambda e: array(cost) @ np.maximum(number(0), -f - e) - number(rho)  # noqa: E731
    largest = np.abs(kernel_or_linear(model)(X, X).diagonal()).max()
    yield judgement(norm / 2, loss, expansion_errors(model, X, a, -rho), bound, 0.5e-9 * float(largest))


REFEREES = {
    "AllPairsSVC": all_pairs,
    "KernelSVC": kernel_svm,
    "KernelSVR": regression,
    "LaSVM": kernel_svm,
    "LagrangianSVC": lagrangian,
    "LeastSquaresClassifier": least_squares,
    "LinearProgramSVC": linear_program,
    "LinearSVC": linear_svc,
    "LinearSVR": linear_svr,
    "OneClassSVM": one_class,
    "SparseKernelClassifier": budgeted,
    "SparseKernelRegressor": budgeted_regression,
    "TopKSVC": top_k,
}


def judgements(model, X, y, weight):
    """That of each problem; a bound of None is not known: the kernel is indefinite."""
    return list(REFEREES[type(model).__name__](model, Data(model, X, y, weight)))

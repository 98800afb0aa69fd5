"""The gap of a budgeted fit to float32 rows holds for the kernel of those rows in exact arithmetic."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import SparseKernelClassifier
from maxmargin.kernels import RBF
from maxmargin.methods.budget import final_refit

GAMMA = 0.05


def noisy(n=400, d=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    score = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n)
    return X, (score > 0.0).astype(int)


def excess(model, X, y):
    """How far the model is above the optimum for its support vectors, relative to it, by Newton in double."""
    Z, alpha, t = model.support_vectors_.astype(np.float64), model.alpha_, 2.0 * y - 1.0
    L = np.linalg.cholesky(RBF(GAMMA)(Z))
    phi = np.linalg.solve(L, RBF(GAMMA)(Z, X.astype(np.float64))).T

    def value(v):
        return np.mean(0.5 * np.maximum(0.0, 1.0 - t * (phi @ v)) ** 2) + 0.5 * alpha * v @ v

    v = first = L.T @ model.dual_coef_[0]
    for _ in range(100):
        on = t * (phi @ v) < 1.0
        G = phi[on].T @ ((phi @ v - t)[on]) / len(t) + alpha * v
        step = -np.linalg.solve(phi[on].T @ phi[on] / len(t) + alpha * np.eye(len(v)), G)
        rate = next((r for r in 0.5 ** np.arange(30) if value(v + r * step) < value(v)), 0.0)
        if rate == 0.0:
            break
        v = v + rate * step
    return (value(first) - value(v)) / value(first)


def fitted(alpha, X, y, **parameters):
    return SparseKernelClassifier(
        150, alpha=alpha, gamma=GAMMA, kernel="rbf", random_state=0, **parameters
    ).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("alpha", "container"),
    [
        (1e-4, np.asarray),
        (1e-6, sparse.csr_array),
        (1e-8, np.asarray),
        (1e-10, sparse.csr_array),
        (1e-11, np.asarray),
    ],
)
def test_excess_is_within_the_reported_gap(alpha, container):
    X, y = noisy()
    model = fitted(alpha, container(X), y)
    if sparse.issparse(model.support_vectors_):
        model.support_vectors_ = model.support_vectors_.toarray()
    left = excess(model, X, y)
    assert left <= model.dual_gap_ + 0.1 * model.tol
    assert model.status_ == "stalled" or left <= model.tol


def test_features_that_do_not_fit_have_bounds_in_double(monkeypatch):
    X, y = noisy()
    whole = fitted(1e-10, X, y)
    monkeypatch.setattr(final_refit, "rounding_decides", lambda problem, refit, tol: (refit, True))
    monkeypatch.setattr(final_refit, "ROWS_PER_KERNEL_CALL", 128)
    with pytest.warns(match="stalled|converged|gap"):
        small = fitted(1e-10, X, y, cache_mb=0.4)
    assert excess(whole, X, y) <= whole.dual_gap_ + 1e-9
    assert excess(small, X, y) <= small.dual_gap_ + 1e-9


def test_float64_rows_measure_nothing(monkeypatch):
    monkeypatch.setattr(final_refit, "rounding_of", None)
    X, y = noisy(200)
    assert fitted(1e-6, X.astype(np.float64), y).dual_gap_ <= 1e-3

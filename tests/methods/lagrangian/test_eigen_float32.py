"""Eigen features of float32 rows: gaps include what rounding does, or the features are computed in double."""

from unittest import mock

import numpy as np
import pytest

from maxmargin import LagrangianSVC, LinearProgramSVC
from maxmargin.methods.eigen_map import MAX_AUTO_EXACT_ROWS, find_eigen_features
from maxmargin.methods.lagrangian import estimator

N_ROWS = MAX_AUTO_EXACT_ROWS + 100


def float32_rows():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(N_ROWS, 4)) + 3.0).astype(np.float32)
    return X, np.sin(2.0 * X[:, 0]) + (X[:, 1] - 3.0) ** 2 + 0.3 * rng.normal(size=N_ROWS) > 1.0


@pytest.mark.parametrize(("C", "n_finds"), [(1.0, 1), (1e5, 2)])
def test_the_gap_is_that_of_the_features_in_double(C, n_finds):
    """At C = 1e5 a gap of 1e-9 was reported, and 4e-5 was true."""
    (X, y), found = float32_rows(), []

    def find(*arguments, **options):
        found.append(find_eigen_features(*arguments, **options))
        return found[-1]

    model = LagrangianSVC(C=C, kernel="rbf", gamma=0.05, n_components=120, tol=1e-5, random_state=0)
    with mock.patch.object(estimator, "find_eigen_features", find):
        model.fit(X, y)
    assert model.status_ == "converged"
    assert len(found) == n_finds
    rows, landmarks = X.astype(np.float64), model.support_vectors_.astype(np.float64)
    assert model.support_vectors_.dtype == np.float32
    K = np.exp(-0.05 * np.square(rows[:, None] - landmarks).sum(axis=2))
    P, a, b = found[-1].projection, model.dual_coef_[0], model.intercept_[0]
    w = np.linalg.lstsq(P, a, rcond=None)[0]
    missing = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * (K @ a + b))
    objective = 0.5 * (w @ w + b * b) + 0.5 * C * missing @ missing
    best = LagrangianSVC(C=C, tol=1e-9).fit(K @ P, y)
    assert best.status_ == "converged"
    assert (objective - best.objective_) / objective <= model.dual_gap_ + 1e-6


def test_programs_have_features_in_double():
    """Kernel values at new points are in float32, so that small eigenvalues are dropped as in float32."""
    X, y = float32_rows()
    single, double = (
        LinearProgramSVC(kernel="rbf", gamma=0.05, features="eigen", n_components=60, random_state=0).fit(
            X.astype(dtype), y
        )
        for dtype in (np.float32, np.float64)
    )
    assert single.support_vectors_.dtype == np.float32
    assert single.coef_.shape[1] <= double.coef_.shape[1]
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-5)

"""Small fits in one native call, against the solver in NumPy, one step at a time, and with limits."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from support.reference import svm_objective, svm_primal

from maxmargin import LinearSVC
from maxmargin.io import Checkpoint
from maxmargin.methods.linear import estimator, small

INTERCEPTS = {"free": {}, "penalised": {"penalize_intercept": True}, "none": {"fit_intercept": False}}


def blobs(seed=0, n=120, d=6, n_classes=4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d)) + 1.2 * rng.normal(size=(n_classes, d))[y]
    X[rng.random((n, d)) < 0.3] = 0.0
    return X.astype(dtype), y


def same_bits(first, second):
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)
    assert first.dual_gap_ == second.dual_gap_
    assert first.n_iter_ == second.n_iter_
    assert first.n_support_ == second.n_support_
    for ours, theirs in zip(first.history_, second.history_):
        assert [(c.n_iter, c.primal, c.dual) for c in ours] == [(c.n_iter, c.primal, c.dual) for c in theirs]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize(("n", "d"), [(80, 5), (40, 70), (9000, 3)])
def test_the_objective_is_that_of_the_referee(n, d, loss, intercept):
    X, y = blobs(1, n, d, 2)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, size=n)
    model = LinearSVC(C=0.7, loss=loss, tol=1e-8, **INTERCEPTS[intercept]).fit(X, y, weight)
    assert model.status_ == "converged"
    signs, cost = np.where(y == 1, 1.0, -1.0), 0.7 * weight
    found = svm_objective(model.coef_[0], model.intercept_[0], X, signs, cost, loss, intercept)
    assert found == pytest.approx(model.objective_, rel=1e-11)
    if n < 1000:
        _, _, best = svm_primal(X, signs, cost, loss, intercept)
        assert found <= best * (1 + 1e-6)
        assert model.history_[0][-1].dual <= best * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_all_columns_end_where_the_solver_in_numpy_ends(monkeypatch, loss, intercept, code, kind):
    X, y = blobs(3, dtype=np.float32 if kind == "float32" else np.float64)
    X = sparse.csr_array(X) if kind == "sparse" else X
    model = LinearSVC(loss=loss, code=code, tol=1e-9, **INTERCEPTS[intercept]).fit(X, y)
    monkeypatch.setattr(estimator, "is_small", lambda data: False)
    other = LinearSVC(loss=loss, code=code, tol=1e-9, **INTERCEPTS[intercept]).fit(X, y)
    assert model.status_ == other.status_ == "converged"
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-8)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-4)
    # multipliers with a share of 0 in one and of 1e-10 in the other
    assert abs(model.n_support_ - other.n_support_) <= 0.1 * len(y)


@pytest.mark.parametrize("max_steps", [60, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_steps_one_at_a_time_and_any_threads_end_in_the_same_bits(monkeypatch, tmp_path, loss, max_steps):
    monkeypatch.setattr(small, "MAX_SMALL_STEPS", max_steps)
    X, y = blobs(4)
    whole = LinearSVC(loss=loss, tol=1e-7, n_jobs=1).fit(X, y)
    assert whole.status_ == "converged"
    same_bits(whole, LinearSVC(loss=loss, tol=1e-7, n_jobs=3).fit(X, y))
    seen = []
    watched = LinearSVC(loss=loss, tol=1e-7).set_callbacks(lambda check, state: seen.append(check) and False)
    same_bits(whole, watched.fit(X, y))
    assert len(seen) >= sum(map(len, whole.history_))
    path = Checkpoint(tmp_path / "fit", resume=True)
    kept = LinearSVC(loss=loss, tol=1e-7).set_checkpoint(path).fit(X, y)
    same_bits(whole, kept)


def test_a_callback_stops_the_fit_at_its_certificate():
    X, y = blobs(5, n_classes=2)
    model = LinearSVC(tol=1e-9).set_callbacks(lambda check, state: check.n_iter == 3).fit(X, y)
    assert model.status_ == "stopped"
    assert model.n_iter_ == 3
    signs = np.where(y == 1, 1.0, -1.0)
    found = svm_objective(model.coef_[0], model.intercept_[0], X, signs, np.ones(len(y)), "hinge", "free")
    assert found == pytest.approx(model.objective_, rel=1e-11)


@pytest.mark.parametrize("watched", [False, True])
def test_max_iter_ends_a_small_fit(watched):
    X, y = blobs(6, n_classes=2)
    model = LinearSVC(tol=1e-12, max_iter=4)
    if watched:
        model.set_callbacks(lambda check, state: False)
    with pytest.warns(match="max_iter"):
        model.fit(X, y)
    assert model.status_ == "max_iter"
    assert model.n_iter_ == 4


def test_a_deadline_ends_a_small_fit_with_a_certificate():
    X, y = blobs(7, n=2000, d=100, n_classes=12)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        model = LinearSVC(tol=1e-13, code="one-vs-one", max_seconds=0.05).fit(X, y)
    assert np.isfinite(model.objective_)
    assert model.coef_.shape == (66, 100)


def test_rows_far_from_the_origin_are_moved_and_left_to_newton(monkeypatch):
    X, y = blobs(8, n_classes=2)
    chosen = []
    monkeypatch.setattr(estimator, "is_small", lambda data: chosen.append(small.is_small(data)) or chosen[-1])
    near, far = LinearSVC().fit(X, y), LinearSVC().fit(X + 1e6, y)
    assert chosen == [True, False]
    assert far.objective_ == pytest.approx(near.objective_, rel=2e-4)

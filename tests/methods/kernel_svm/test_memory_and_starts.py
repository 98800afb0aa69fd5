"""KernelSVC with other memory, threads, warm starts and paths over C."""

import itertools

import numpy as np
import pytest
from support.reference import kernel_svm_bounds
from support.svc_models import LOSSES, blobs, coefficients

from maxmargin import KernelSVC
from maxmargin.kernels import RBF
from maxmargin.methods.kernel_svm import working_set


@pytest.mark.parametrize("loss", LOSSES)
def test_memory_and_shrinking_do_not_change_the_optimum(loss, monkeypatch):
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", 0)
    monkeypatch.setattr(working_set, "N_INITIAL_ROWS", 100)
    X, y = blobs(400, centers=3)
    exact = KernelSVC(1.0, loss=loss, tol=1e-7).fit(X, y)
    for cache_mb in (1e-6, 0.05, 1.0, "auto"):
        for shrinking in (True, False):
            model = KernelSVC(1.0, loss=loss, tol=1e-3, cache_mb=cache_mb, shrinking=shrinking).fit(X, y)
            assert model.status_ == "converged"
            assert model.objective_ == pytest.approx(exact.objective_, rel=1e-3)
            assert model.objective_ >= exact.objective_ * (1 - 1e-7)
            assert 0.0 <= model.history_[0][-1].hit_rate <= 1.0


@pytest.mark.parametrize("cache_mb", [0.2, 1.0, "auto"])
@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest"])
def test_threads_change_no_bit(cache_mb, code):
    """Nor does the memory that columns share, which are solved at one time or one after the other."""
    X, y = blobs(1800, centers=4)
    first, *others = (
        KernelSVC(1.0, code=code, tol=1e-4, cache_mb=cache_mb, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 4)
    )
    for other in others:
        np.testing.assert_array_equal(other.dual_coef_, first.dual_coef_)
        np.testing.assert_array_equal(other.intercept_, first.intercept_)


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start_reaches_the_same_optimum_sooner(loss, monkeypatch):
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", 0)
    X, y = blobs(1500, centers=3)
    model = KernelSVC(1.0, loss=loss, tol=1e-5, warm_start=True).fit(X, y)
    again = model.n_iter_
    assert model.fit(X, y).n_iter_ < again
    for C in (1.5, 0.5):
        cold = KernelSVC(C, loss=loss, tol=1e-5).fit(X, y)
        model.set_params(C=C).fit(X, y)
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-5)
    few = KernelSVC(0.5, loss=loss, tol=1e-5).fit(X[:300], y[:300])
    assert model.fit(X[:300], y[:300]).objective_ == few.objective_  # another problem: a cold start


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "centers"), [(300, 3), (6200, 2)])
def test_path_over_C_equals_separate_fits_and_computes_less(loss, n, centers):
    """Up, down and twice the same; recomputed bounds of every model, the settled samples' included."""
    X, y = blobs(n, centers=centers)
    Cs, given = [0.01, 0.3, 10.0, 10.0, 0.1], np.where(np.arange(n) % 3, 1.0, 2.0)
    base = KernelSVC(loss=loss, gamma=0.2, tol=1e-4)
    models = base.path(X, y, Cs, sample_weight=given)
    assert not hasattr(base, "status_")
    computed, K = 0, RBF(gamma=0.2)(X, X)
    for C, model in zip(Cs, models):
        assert (model.C, model.status_) == (C, "converged")
        cold = KernelSVC(C, loss=loss, gamma=0.2, tol=1e-4).fit(X, y, given)
        computed += sum(history[-1].kernel_values for history in cold.history_)
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-4)
        for t in range(model.code_.n_columns):
            pair = np.isin(y, model.classes_[model.code_.matrix[:, t] != 0])
            target = np.where(y[pair] == model.classes_[model.code_.matrix[:, t] > 0][0], 1.0, -1.0)
            a, cost = coefficients(model, n, t)[pair], C * given[pair]
            a *= 1.0 - 1e-13  # rounding at the bound is none of the referee's business
            primal, dual = kernel_svm_bounds(
                a, model.intercept_[t], K if pair.all() else K[np.ix_(pair, pair)], target, cost, loss
            )
            assert primal - dual <= 1.01e-4 * primal
    if n > 300:
        assert sum(history[-1].kernel_values for history in models[-1].history_) < 0.7 * computed


def test_path_refuses_an_invalid_grid():
    X, y = blobs()
    for Cs in ([], [1.0, -1.0], "wide", [[1.0]], [np.nan]):
        with pytest.raises(ValueError, match="Cs must be a list"):
            KernelSVC().path(X, y, Cs)


def test_history_reports_kernel_values_and_support():
    X, y = blobs(2000)
    model = KernelSVC(1.0, gamma=0.5).fit(X, y)
    history = model.history_[0]
    assert history[-1].kernel_values >= 2000 * model.n_support_ * 0.2
    assert all(later.kernel_values >= earlier.kernel_values for earlier, later in itertools.pairwise(history))
    assert model.cache_mb_ <= 1000
    assert model.n_support_ == len(model.support_) == history[-1].n_support

"""Warm starts and streams of SparseKernelClassifier."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from support.budget_models import fitted, noisy, objective_of

from maxmargin import SparseKernelClassifier
from maxmargin.kernels import RBF
from maxmargin.methods.budget import growth_sample
from maxmargin.methods.budget.path import stated_budgets


def test_warm_start_extends_the_model():
    X, y = noisy(300)
    model = fitted(X, y, 8, alpha="auto", warm_start=True)
    first, alpha, support = model.objective_, model.alpha_, model.support_
    model.set_params(budget=24).fit(X, y)
    assert model.n_support_ == 24
    assert model.support_ is not None
    assert model.budget_path_["budget"].tolist() == stated_budgets(24)
    again = clone(model).fit(X, y)  # a clone knows nothing
    assert again.n_support_ == 24
    same = fitted(X, y, 8, alpha="auto", warm_start=True).fit(X, y)
    assert same.alpha_ == pytest.approx(alpha)
    assert same.objective_ <= first * (1 + 2e-3)
    assert same.budget_path_["budget"].tolist() == list(range(1, 9))
    assert len(set(support) & set(same.support_)) >= 4
    with pytest.raises(ValueError, match=r"with 24 support vectors.*budget=5.*raise the budget"):
        model.set_params(budget=5).fit(X, y)
    with pytest.raises(ValueError, match=r"another kind: they have shape \(8, 3\), X has shape \(300, 2\)"):
        same.fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"of the classes \[0, 1\], but y has \['no', 'yes'\]; set"):
        same.fit(X, np.where(y == 1, "no", "yes"))


@pytest.mark.parametrize("alpha", [1e-1, "auto"])
def test_published_warm_start_chooses_no_row_twice(alpha):
    X, y = noisy(60)
    model = SparseKernelClassifier.as_published(20, alpha=alpha, warm_start=True, random_state=0).fit(X, y)
    first = model.support_
    model.set_params(budget=100).fit(X, y)
    assert model.support_[: len(first)].tolist() == first.tolist()
    assert len(np.unique(model.support_)) == model.n_support_
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    model.fit(X, y)
    assert len(np.unique(model.support_)) == model.n_support_


def test_warm_starts_keep_the_chosen_alpha_on_sampled_rows(monkeypatch):
    monkeypatch.setattr(growth_sample, "MIN_SAMPLE_ROWS", 400)
    monkeypatch.setattr(growth_sample, "CHEAP_ROWS_TIMES_COLUMNS", 400)
    X, y = make_moons(4000, noise=0.3, random_state=0)
    model = SparseKernelClassifier(20, warm_start=True, random_state=0).fit(X, y)
    chosen = model.alpha_
    for budget in (22, 24, 26):  # at none of these is alpha chosen anew
        model.set_params(budget=budget).fit(X, y)
    assert model.alpha_ == pytest.approx(chosen)


def test_warm_start_on_a_precomputed_kernel_without_its_support_vectors():
    X, y = noisy(100)
    K = RBF(gamma=0.5)(X, X)
    model = fitted(K, y, 6, kernel="precomputed", warm_start=True)
    weight = np.ones(100)
    weight[model.support_] = 0.0
    before = model.support_
    model.set_params(budget=10).fit(K, y, weight)
    assert model.n_support_ == 10
    assert np.isin(model.support_, np.arange(100)).all()
    assert len(set(before) & set(model.support_)) >= 1
    np.testing.assert_array_equal(model.support_vectors_, model.support_)


def test_stream_ends_near_the_fit_on_all_rows():
    X, y = noisy(600, 3)
    whole = fitted(X, y, 25)
    stream = SparseKernelClassifier(25, alpha=1e-2, gamma=0.5, random_state=0)
    for rows in np.array_split(np.arange(600), 6):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        assert stream.support_ is None
        assert stream.n_support_ <= 25
    assert objective_of(stream, X, y) <= 1.05 * whole.objective_
    assert stream.objective_ == pytest.approx(objective_of(stream, X, y), rel=1e-8)  # the sample is all rows
    assert len(stream.budget_path_["budget"])


def test_stream_keeps_the_chosen_alpha():
    X, y = noisy(900, noise=1.5)
    stream = SparseKernelClassifier(15, gamma=0.5, random_state=0)
    parts = np.array_split(np.arange(900), 3)
    alphas = [stream.partial_fit(X[rows], y[rows], classes=[0, 1]).alpha_ for rows in parts]
    whole = SparseKernelClassifier(15, gamma=0.5, random_state=0).fit(X, y)
    assert 0.1 <= alphas[-1] / whole.alpha_ <= 10
    assert 0.1 <= alphas[1] / alphas[0] <= 10


def test_interrupted_batch_can_be_repeated():
    X, y = noisy(200)
    model = SparseKernelClassifier(8, alpha=1e-2, gamma=0.5, random_state=0)
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    straight = pickle.loads(pickle.dumps(model)).partial_fit(X[100:], y[100:])

    def interrupt(check, state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(interrupt).partial_fit(X[100:], y[100:])
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(model.dual_coef_, straight.dual_coef_)


def test_fit_discards_the_stream_before_it():
    X, y = noisy(200)
    other, labels = noisy(200, seed=9)
    model = SparseKernelClassifier(10, alpha=1e-2, gamma=0.5, random_state=0)
    model.partial_fit(other, 1 - labels, classes=[0, 1]).fit(X[:100], y[:100])
    model.partial_fit(X[100:], y[100:])
    straight = fitted(X[:100], y[:100], 10).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(model.decision_function(X), straight.decision_function(X))

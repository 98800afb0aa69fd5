"""``AutoSVC``: the stages of its search on more and more rows, and metadata routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, cross_validate

from maxmargin import AutoSVC
from maxmargin.auto import cost, estimator, search
from maxmargin.auto.candidates import Candidate
from maxmargin.auto.folds import StageFits
from maxmargin.methods.kernel_svm import row_cache
from maxmargin.selection import KernelFolds


def rings(n, seed=0):
    """Two classes that no hyperplane separates."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (np.linalg.norm(X, axis=1) > 1.2).astype(int)


def test_a_loss_of_a_sample_is_said_to_be_that(monkeypatch):
    monkeypatch.setattr(search, "MAX_ROWS_AT_ONCE", 100)
    monkeypatch.setattr(search, "FIRST_ROWS", 60)
    X, y = rings(150)
    whole = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert "rows at most" not in whole.choice_
    monkeypatch.setattr(estimator, "SEARCH_OPERATIONS_SHARE", 1e-6)
    model = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert "of models of 61 rows at most, where the final one has 150" in model.choice_


def test_weights_and_groups_are_routed():
    X, y = rings(60)
    weight, groups = np.arange(60.0) + 1.0, np.arange(60) // 2
    with config_context(enable_metadata_routing=True):
        model = AutoSVC(cv=2, learn_metric=None, random_state=0).set_fit_request(
            sample_weight=True, groups=True
        )
        given = {"sample_weight": weight, "groups": groups}
        by_weight = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        found = cross_validate(
            model, X, y, cv=GroupKFold(2), scoring=by_weight, params=given, return_estimator=True
        )
    train = next(iter(GroupKFold(2).split(X, y, groups)))[0]
    direct = AutoSVC(cv=2, learn_metric=None, random_state=0).fit(
        X[train], y[train], weight[train], groups[train]
    )
    np.testing.assert_array_equal(found["estimator"][0].predict_proba(X), direct.predict_proba(X))


def test_finalists_cut_within_a_fold_are_compared_on_the_folds_before(monkeypatch):
    """Scores of a group that did not end would make the trials' known rows differ."""
    run = StageFits.run

    def cut(self, trials, folds):
        if folds[0] < search.RACING_FOLDS:
            return run(self, trials, folds)
        run(self, trials, folds[:1])
        return False

    monkeypatch.setattr(StageFits, "run", cut)
    with pytest.warns(ConvergenceWarning, match="before all candidates were compared"):
        model = AutoSVC(random_state=0, learn_metric=None).fit(*rings(80))
    assert model.status_ == "time_limit"


def held_kernels(monkeypatch):
    """The shared kernel matrices that later fits hold, as a list that grows."""
    held, answers = [], KernelFolds.answers

    def counted(self, *given):
        held.append(self)
        return answers(self, *given)

    monkeypatch.setattr(KernelFolds, "answers", counted)
    return held


def test_a_kernel_matrix_beyond_its_limit_is_not_held(monkeypatch):
    """Every fold computes its own rows then; the held-out scores are those of a shared matrix."""
    X, y = rings(80)
    held = held_kernels(monkeypatch)
    monkeypatch.setattr(cost, "MAX_SHARED_KERNEL_BYTES", 8.0 * 80**2)
    shared = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert held
    held.clear()
    monkeypatch.setattr(cost, "MAX_SHARED_KERNEL_BYTES", 8.0 * 80**2 - 1.0)
    separate = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert not held
    np.testing.assert_allclose(separate.candidates_["loss"], shared.candidates_["loss"], atol=2 / 80)
    assert np.mean(separate.predict(X) == shared.predict(X)) >= 0.95


def test_the_memory_that_is_free_changes_no_bit(monkeypatch):
    """It decides neither whether a matrix is shared nor which solver a fold has."""
    X, y = rings(80)
    held = held_kernels(monkeypatch)
    monkeypatch.setattr(row_cache, "available_bytes", lambda: 2**40)
    expected = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    n_held = len(held)
    monkeypatch.setattr(row_cache, "available_bytes", lambda: 4 * 80**2)
    found = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert len(held) == 2 * n_held
    assert all(folds.limit == 1e9 for folds in held)
    for name, values in expected.candidates_.items():
        np.testing.assert_array_equal(found.candidates_[name], values)


def test_what_is_counted_is_what_is_shared():
    """Kernel values once for all folds and values of C up to the limit, and for each of them beyond."""
    candidate = Candidate("rbf", "one-vs-rest", "standardised", None, 2)
    for X, n_rows in ((np.ones((10, 3)), 7905), (np.ones((10, 3), dtype=np.float32), 11180)):
        labels = np.arange(10) % 2
        small, large = (cost.shape_of(X, labels, n / 10) for n in (n_rows, n_rows + 1))
        assert small.is_shared
        assert not large.is_shared
        once, each = (
            s.folds(candidate, 3, 2, 5) - 2 * s.scaled(0.8)._solves(candidate, 3) for s in (small, large)
        )
        assert once == pytest.approx(small.n_rows**2 * small._value(candidate))
        assert each == pytest.approx(2 * 3 * (0.8 * large.n_rows) ** 2 * large._value(candidate))

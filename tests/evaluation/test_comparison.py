"""Several models side by side: the same rows for all, failures told, numbers as if measured by hand."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import SVC
from support.memory_source import MemorySource

from maxmargin import LinearSVC, SparseKernelClassifier
from maxmargin.evaluation.compare import compare
from maxmargin.metrics.confusion import share_interval
from maxmargin.table.blocks import sample, shuffled_folds, taken, whole
from maxmargin.table.preparation import TablePreparation
from maxmargin.training.held_out import HeldOut
from maxmargin.training.models import PEERS, named_estimator


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    inside = (X**2).sum(axis=1) < 1.4
    return MemorySource(X * [1.0, 50.0], np.where(inside ^ (rng.random(300) < 0.05), "in", "out"))


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no such luck")


class Recording(ClassifierMixin, BaseEstimator):
    """ModelAnswers by one feature, and says whenever it is fitted."""

    def __init__(self, name="", log=None):
        self.name, self.log = name, log

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.log.append((self.name, len(y)))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(np.abs(X[:, 0]) < 1.0, "in", "out")


def test_rows_are_what_fits_by_hand_give(rings):
    linear, kernel, failed = compare(
        rings, {"linear": LinearSVC(random_state=0), "svc": SVC(), "bad": Failing()}, validate=0.3, seed=3
    )
    block, labels, numbers = whole(rings)
    out = HeldOut(0.3, 3).of_block(labels, numbers)
    table = TablePreparation().fit(block.features[~out])
    X, test = table.transform(block.features[~out]), table.transform(block.features[out])
    right = {}
    for row, estimator in ((linear, LinearSVC(random_state=0)), (kernel, SVC())):
        model = estimator.fit(X, block.target[~out])
        right[row.name] = model.predict(test) == block.target[out]
        assert row.accuracy == right[row.name].mean()
        assert row.accuracy_interval == share_interval(right[row.name].sum(), out.sum())
        assert row.error is None
    assert kernel.n_support == len(SVC().fit(X, block.target[~out]).support_)
    assert (linear.gap, kernel.gap) == (LinearSVC(random_state=0).fit(X, block.target[~out]).dual_gap_, None)
    a, b = right["linear"], right["svc"]
    n_only = (a & ~b).sum(), (b & ~a).sum()
    assert linear.p_value == binomtest(int(n_only[0]), int(sum(n_only))).pvalue
    assert kernel.p_value is None
    assert (failed.accuracy, failed.error) == (None, "RuntimeError: no such luck")
    assert min(linear.fit_seconds, linear.predict_seconds, linear.n_bytes, kernel.n_bytes) > 0


def test_folds_judge_every_row_once_and_models_take_turns(rings):
    log, told = [], []
    models = {name: Recording(name, log) for name in "abc"}
    rows = compare(rings, models, folds=4, repeats=2, progress=lambda *said: told.append(said))
    assert [name for name, _ in log] == list("abcbcacab" * 3)[:24]
    assert {n for _, n in log} == {225}
    assert [done for _, done, _ in told] == list(range(24))
    assert {total for *_, total in told} == {24}
    expected = np.mean([a == b for a, b in zip(_by_one_feature(rings), rings.y)])
    for row in rows:
        assert len(row.fold_accuracies) == 4
        assert row.accuracy == pytest.approx(np.mean(row.fold_accuracies))
        assert abs(row.accuracy - expected) < 0.05  # standardised by each fold's own training rows


def _by_one_feature(rings):
    return np.where(np.abs(TablePreparation().fit_transform(rings.X)[:, 0]) < 1.0, "in", "out")


def test_warnings_belong_to_the_model_that_gave_them(rings):
    (row,) = compare(rings, {"short": SparseKernelClassifier(20, max_iter=1, random_state=0)})
    assert any("max_iter" in text for text in row.warnings)


def test_names_of_models():
    for name in PEERS:
        assert clone(named_estimator(name, 0)).get_params()["random_state"] == 0
    assert named_estimator("sparse-kernel", 5).random_state == 5
    with pytest.raises(ValueError, match=r"models are auto, sparse-kernel, .*sklearn-svc; got 'svm'"):
        named_estimator("svm", 0)


def test_what_cannot_be_compared_is_refused(rings):
    with pytest.raises(ValueError, match="at least one model"):
        compare(rings, [])
    with pytest.raises(ValueError, match="folds=301 are more"):
        compare(rings, {"a": SVC()}, folds=301)
    with pytest.raises(ValueError, match="below 1"):
        compare(rings, {"a": SVC()}, validate=1.0)
    with pytest.raises(ValueError, match="`target`"):
        compare(MemorySource(rings.X, None), {"a": SVC()})
    with pytest.raises(ValueError, match="one class, 'in'"):
        compare(MemorySource(rings.X, np.full(300, "in")), {"a": SVC()})


def test_folds_and_samples_have_each_class_in_proportion():
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    folds = shuffled_folds(labels, 5, 1)
    for k in range(5):
        assert np.bincount(labels[folds == k]).tolist() == [12, 6, 2]
    assert (folds != shuffled_folds(labels, 5, 2)).any()
    block, *_ = whole(MemorySource(np.arange(100.0)[:, None], labels))
    part = sample(block, labels, 34, 0)
    assert part.n_rows == 34
    assert np.abs(np.bincount(part.target) - [20, 10, 3.4]).max() <= 1
    np.testing.assert_array_equal(taken(block, np.array([5, 2])).features[:, 0], [5.0, 2.0])

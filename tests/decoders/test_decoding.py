"""Learned decoders inside classifiers, and what prediction by a code offers."""

import os
import pickle
import signal
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score

from maxmargin import (
    KernelPegasos,
    KernelSVC,
    LeastSquaresClassifier,
    LinearProgramSVC,
    LinearSVC,
    SparseKernelClassifier,
    top_k_accuracy,
)
from maxmargin.base.fold_outputs import outputs_by_refits
from maxmargin.codes import Code, one_vs_one, one_vs_rest
from maxmargin.decoders import DECODERS, Margins
from maxmargin.solving import Deadline
from maxmargin.solving.result import Stop


@dataclass(frozen=True, eq=False)
class Remembers(Margins):
    """A decoder that learns by heart what it was given."""

    given: tuple = ()
    name: str = field(default="remembers", init=False)
    learns_from: ClassVar = "outputs"

    def fit(self, F, y, code, sample_weight=None):
        return type(self)((F, y, sample_weight))


class RemembersFolds(Remembers):
    learns_from: ClassVar = "out-of-fold"


def classes(n_classes=4, n=80, seed=0):
    X, y = make_blobs(n, n_features=3, centers=n_classes, cluster_std=3.0, random_state=seed)
    return X / 5.0, y


def in_canonical_order(model, X, y):
    return clone(model)._begin(X, y, None, Deadline()).data


@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest"])
def test_a_decoder_is_given_the_outputs_on_the_training_rows(code):
    X, y = classes()
    model = LinearSVC(code=code, decoder=Remembers()).fit(X, y)
    F, labels, weight = model.decoder_.given
    index = in_canonical_order(model, X, y).rows.index
    assert_allclose(F, model.column_outputs(X)[index], atol=1e-12)
    assert_array_equal(labels, y[index])
    assert_array_equal(weight, 1.0)


@pytest.mark.parametrize("learner", [Remembers, RemembersFolds])
@pytest.mark.parametrize("estimator", [KernelSVC(code="sparse-random"), LeastSquaresClassifier()], ids=str)
def test_weights_order_and_threads_change_no_bit_of_what_is_learned_from(estimator, learner):
    X, y = classes()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weight))
    estimator = clone(estimator).set_params(decoder=learner(), random_state=0)
    weighted = clone(estimator).set_params(n_jobs=1).fit(X, y, weight).decoder_.given
    repeated = clone(estimator).set_params(n_jobs=3).fit(X[rows], y[rows]).decoder_.given
    for one, other in zip(weighted, repeated, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    "code", ["one-vs-one", "one-vs-rest", Code.sparse_random(4, 6)], ids=["one", "rest", "sparse"]
)
def test_outputs_out_of_fold_are_those_of_fits_without_the_fold(code):
    X, y = classes()
    model = LinearSVC(tol=1e-9, code=code, decoder=RemembersFolds(), random_state=1).fit(X, y)
    data = in_canonical_order(model, X, y)
    fold = model._folds(data, 5)
    F, labels, _ = model.decoder_.given
    for k in range(5):
        train, held = data.rows.index[fold != k], data.rows.index[fold == k]
        refit = LinearSVC(tol=1e-9, code=model.code_, decoder="margins").fit(X[train], y[train])
        assert_allclose(F[fold == k], refit.column_outputs(X[held]), atol=1e-4)
    assert_array_equal(np.bincount(fold[labels == 0]).round(-1), 0)  # every fold has its share of a class


@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest", "sparse-random"])
def test_shared_kernel_work_gives_what_refits_give(code):
    X, y = classes()
    y[np.flatnonzero(y == 3)[1:]] = 2  # one row of class 3 is left
    model = KernelSVC(tol=1e-9, gamma=0.5, code=code, random_state=0)
    data = model._begin(X, y, None, Deadline()).data
    model.fit(X, y)
    fold, stop = model._folds(data, 5), Stop(tol=1e-9, max_iter=10_000)
    shared = model._out_of_fold(data, fold, stop, None, 1)
    refits = outputs_by_refits(model, data, fold, stop, None, 1)
    assert_allclose(shared.outputs, refits.outputs, atol=1e-5)
    assert shared.gap <= 1e-9
    assert refits.gap <= 1e-9


def test_a_class_left_out_leaves_its_columns_constant():
    X, y = classes(3, 30)
    y[np.flatnonzero(y == 2)[1:]] = 1
    for code, expected in (("one-vs-one", {1: -1.0, 2: -1.0}), ("one-vs-rest", {2: -1.0})):
        model = LinearSVC(code=code, decoder=RemembersFolds()).fit(X, y)
        F, labels, _ = model.decoder_.given
        alone = F[labels == 2][0]
        assert {t: alone[t] for t in expected} == expected


ESTIMATORS = [
    LinearSVC(),
    KernelSVC(),
    LeastSquaresClassifier(),
    LinearProgramSVC(),
    KernelPegasos(random_state=0),
    SparseKernelClassifier(10, random_state=0),
]


@pytest.mark.parametrize("decoder", [name for name, d in DECODERS.items() if d.learns_from != "nothing"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_classifier_learns_to_decode(estimator, decoder):
    X, y = classes()
    y[np.flatnonzero(y == 3)[1:]] = 2  # a class with one sample
    model = clone(estimator).set_params(code="one-vs-one", decoder=decoder).fit(X, y)
    assert model.decoder_.name == decoder
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert_array_equal(model.decode(model.column_outputs(X)), model.predict(X))
    assert model.score(X, y) > 0.6
    two = clone(model).fit(X[y < 2], y[y < 2])
    assert_array_equal(two.predict(X), two.column_outputs(X)[:, 0] > 0)


@pytest.mark.parametrize("decoder", DECODERS)
def test_renamed_classes_are_renamed_predictions(decoder):
    X, y = classes(4, 60)
    order = np.array([2, 0, 3, 1])
    code = one_vs_one(4)
    model = KernelSVC(code=code, decoder=decoder).fit(X, y)
    renamed = KernelSVC(code=Code(code.matrix[np.argsort(order)]), decoder=decoder).fit(X, order[y])
    assert_array_equal(renamed.predict(X), order[model.predict(X)])


@pytest.mark.parametrize(
    ("code", "decoder"),
    [("one-vs-rest", "hamming"), ("one-vs-rest", "probabilistic"), (Code.dense_random(100, 60), "hinge")],
    ids=["rest", "rest, probabilities", "dense"],
)
def test_a_hundred_classes(code, decoder):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(100, 20)) * 5
    X, y = np.repeat(centres, 2, axis=0) + rng.normal(size=(200, 20)), np.repeat(np.arange(100), 2)
    model = LeastSquaresClassifier(code=code, decoder=decoder).fit(X, y)
    assert model.decision_function(X[::2]).shape == (100, 100)
    assert model.score(X[::2], y[::2]) > 0.5
    assert_array_equal(model.predict(X), model.decode(model.column_outputs(X)))


def test_probabilities_come_with_a_decoder_that_has_them():
    X, y = classes()
    assert not hasattr(LinearSVC(), "predict_proba")
    assert hasattr(LinearSVC(decoder="probabilistic"), "predict_proba")
    with pytest.raises(AttributeError) as error:
        LinearSVC().fit(X, y).predict_proba  # noqa: B018
    assert "a decoder that gives probabilities, 'probabilistic' or 'coupling'" in str(error.value.__cause__)
    for model in (KernelSVC(decoder="coupling"), SparseKernelClassifier(10, decoder="probabilistic")):
        P = model.set_params(random_state=0).fit(X, y).predict_proba(X)
        assert_allclose(P.sum(axis=1), 1.0)
        assert_array_equal(P.argmax(axis=1), model.predict(X))
        assert_allclose(model.predict_log_proba(X), np.log(P))


def test_what_cannot_be_learned_is_refused():
    X, y = classes()
    with pytest.raises(ValueError, match="decoder='coupling' needs a column for each pair"):
        KernelSVC(code="one-vs-rest", decoder="coupling").fit(X, y)
    with pytest.raises(ValueError, match="partial_fit cannot learn a decoder"):
        KernelPegasos(decoder="probabilistic").partial_fit(X, y, classes=np.arange(4))
    with pytest.raises(ValueError, match="multi_class='joint' has no decoder"):
        LinearProgramSVC(multi_class="joint", decoder="probabilistic").fit(X, y)


@pytest.mark.parametrize("estimator", [KernelSVC(), LinearSVC()], ids=lambda e: type(e).__name__)
def test_ctrl_c_ends_fits_without_a_fold(estimator):
    X, y = classes()
    n_own = sum(len(history) for history in clone(estimator).fit(X, y).history_)
    seen = []

    def interrupt(check, state):
        seen.append(check)
        if len(seen) == n_own + 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = clone(estimator).set_params(decoder="probabilistic", n_jobs=1).set_callbacks(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_leave_one_out_scores_are_not_those_of_a_decoder_that_has_seen_the_row():
    X, y = classes()
    assert hasattr(LeastSquaresClassifier().fit(X, y), "loo_scores_")
    assert not hasattr(LeastSquaresClassifier(decoder="probabilistic").fit(X, y), "loo_scores_")


# ---- explanations ----


def test_an_explanation_tells_what_was_corrected():
    X, y = classes(6, 150)
    labels = np.array(["ash", "elm", "fir", "oak", "yew", "box"])[y]
    model = KernelSVC(code="exhaustive", decoder="hamming").fit(X, labels)
    F, number = model.column_outputs(X), np.searchsorted(model.classes_, labels)
    found = model.explain(X, labels)
    assert any(e.corrected for e in found)
    for e, f, k in zip(found, F, number, strict=True):
        row = model.code_.matrix[k]
        assert_array_equal(e.wrong, np.flatnonzero(row * np.sign(f) != 1))
        assert e.distances[k] == len(e.wrong)
        assert e.correctable == 7  # r = 2^(6-2) = 16
        assert e.predicted == e.label or len(e.wrong) > e.correctable
        assert e.corrected == (len(e.wrong) > 0 and e.predicted == e.label)
        assert f"{e.label}, decoded as {e.predicted}" in str(e)
    assert_array_equal([e.predicted for e in found], model.predict(X))
    assert all(e.label == e.predicted for e in model.explain(X[:5]))


def test_explanations_count_an_output_of_zero_as_wrong_and_skip_zero_entries():
    model = KernelSVC(code=one_vs_one(3)).fit(*classes(3, 30))
    e = model.explain(classes(3, 30)[0][:1])[0]
    assert set(e.wrong) <= set(np.flatnonzero(e.row))
    with pytest.raises(ValueError, match=r"labels \[7\] that the model does not know"):
        model.explain(np.zeros((1, 3)), [7])
    with pytest.raises(ValueError, match="a label for each of the 1 samples; got 2"):
        model.explain(np.zeros((1, 3)), [0, 1])


# ---- top-k accuracy ----


def test_top_1_is_the_accuracy_of_predict_ties_included():
    rng = np.random.default_rng(0)
    S, y = rng.integers(0, 3, size=(200, 4)).astype(float), rng.integers(0, 4, 200)
    weight = rng.integers(0, 3, 200)
    assert top_k_accuracy(y, S, 1, sample_weight=weight) == pytest.approx(
        accuracy_score(y, S.argmax(axis=1), sample_weight=weight)
    )
    for k in (1, 2, 3, 4):
        ranked = np.argsort(-S, axis=1, kind="stable")[:, :k]
        assert top_k_accuracy(y, S, k) == np.mean([label in row for label, row in zip(y, ranked)])


def test_top_k_of_an_estimator():
    X, y = classes()
    model = LinearSVC(code=one_vs_rest(4)).fit(X, y)
    assert top_k_accuracy(y, model, 1, X=X) == model.score(X, y)
    assert top_k_accuracy(y, model, 4, X=X) == 1.0
    two = clone(model).set_params(code="one-vs-one").fit(X[y < 2], y[y < 2])
    assert top_k_accuracy(y[y < 2], two, 1, X=X[y < 2]) == two.score(X[y < 2], y[y < 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [[1.0, 2.0, 3.0]] * 2, 1), "a column for each of the 2 classes"),
        (([0, 1], [[1.0, np.nan]] * 2, 1), "NaN or infinity"),
        (([0, 1], [[1.0, 2.0]] * 2, 0), "k"),
    ],
)
def test_bad_scores_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        top_k_accuracy(*arguments)

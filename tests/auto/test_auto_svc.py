"""``AutoSVC``: what it chooses, what it promises, and what it leaves when the time is up."""

import itertools
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import maxmargin
from maxmargin import AutoSVC
from maxmargin._native import Cancelled
from maxmargin.auto import scaling
from maxmargin.auto.folds import StageFits
from maxmargin.io import Checkpoint
from maxmargin.solving import Deadline


def rings(n=200, seed=0):
    """Two classes that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (np.linalg.norm(X, axis=1) > 1.2).astype(int)


def planes(n=200, seed=0):
    """Two classes that a hyperplane separates, but for noise, in columns of very different scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return X * [1e3, 1e-3, 1.0, 1e6, 1.0], y


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use odd data
@parametrize_with_checks([AutoSVC(random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_hyperplane_is_chosen_where_nothing_else_is_better():
    model = AutoSVC(random_state=0).fit(*planes())
    assert type(model.estimator_).__name__ == "LinearSVC"
    assert "linear" in model.choice_


def test_a_kernel_is_chosen_where_no_hyperplane_separates():
    X, y = rings()
    model = AutoSVC(random_state=0).fit(X, y)
    assert type(model.estimator_).__name__ == "KernelSVC"
    assert model.score(*rings(seed=1)) > 0.93


def test_the_certificate_is_that_of_the_chosen_model():
    model = AutoSVC(random_state=0).fit(*load_iris(return_X_y=True))
    inner = model.estimator_
    assert model.status_ == inner.status_ == "converged"
    assert model.dual_gap_ == inner.dual_gap_ <= inner.tol
    assert (model.objective_, model.n_support_, model.n_iter_) == (
        inner.objective_,
        inner.n_support_,
        inner.n_iter_,
    )
    assert model.history_ == inner.history_


def test_the_table_of_candidates_is_ready_for_pandas_and_agrees_with_the_sentence():
    model = AutoSVC(random_state=0).fit(*load_iris(return_X_y=True))
    table = pd.DataFrame(model.candidates_)
    chosen = table[table["outcome"] == "chosen"]
    assert len(chosen) == 1
    assert model.choice_.startswith(chosen["candidate"].iloc[0])
    assert set(table["outcome"]) <= {"chosen", "behind", "not tried"}
    tried = table[table["outcome"] != "not tried"]
    assert (tried["difference"] >= -1e-12).sum() >= len(tried) - 1
    assert {"linear", "rbf", "laplacian"} <= set(tried["kernel"])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_probabilities_agree_with_predictions_and_sum_to_one(load):
    X, y = load(return_X_y=True)
    model = AutoSVC(random_state=0).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(P))


def test_probabilities_are_calibrated_out_of_fold():
    """On labels that are noise, honest probabilities are near the share of the class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, size=150)
    P = AutoSVC(random_state=0).fit(X, y).predict_proba(X)
    assert np.abs(P[:, 1] - y.mean()).max() < 0.35


def test_threads_change_no_bit():
    X, y = load_wine(return_X_y=True)
    models = [AutoSVC(random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3)]
    assert models[0].choice_ == models[1].choice_
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


def test_the_order_of_the_rows_changes_no_bit():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    first = AutoSVC(random_state=0).fit(X, y).decision_function(X)
    second = AutoSVC(random_state=0).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_array_equal(first, second)


def test_weights_equal_repetitions():
    X, y = rings(120)
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = AutoSVC(random_state=0).fit(X, y, sample_weight=weight)
    repeated = AutoSVC(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_class_weights_equal_sample_weights():
    X, y = rings(120)
    by_class = AutoSVC(class_weight={0: 3.0, 1: 0.5}, random_state=0).fit(X, y)
    by_row = AutoSVC(random_state=0).fit(X, y, np.array([3.0, 0.5])[y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


def test_a_budget_is_never_exceeded():
    model = AutoSVC(budget=7, random_state=0).fit(*rings())
    assert model.n_support_ <= 7
    assert model.score(*rings(seed=1)) > 0.85


def test_sparse_rows_stay_sparse_and_are_not_centred():
    rng = np.random.default_rng(0)
    X = sparse.random_array((150, 300), density=0.05, random_state=rng, format="csr")
    y = (X[:, :20].sum(axis=1) > X[:, 20:40].sum(axis=1)).astype(int)
    model = AutoSVC(random_state=0).fit(X, y)
    assert not model.scaling_.center.any()
    np.testing.assert_allclose(model.scaling_.transform(X).toarray()[X.toarray() == 0.0], 0.0)
    assert model.score(X, y) > 0.8


def test_heavy_tails_are_bent_where_that_helps():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(300, 3))
    y = (np.linalg.norm(U, axis=1) > 1.5).astype(int)
    model = AutoSVC(random_state=0).fit(np.exp(3.0 * U), y)
    assert model.scaling_.bent.all()


def test_scoring_decides_by_any_scorer():
    X, y = load_breast_cancer(return_X_y=True)
    for scoring in ("roc_auc", "neg_log_loss", "balanced_accuracy"):
        model = AutoSVC(scoring=scoring, random_state=0).fit(X[:100, :6], y[:100])
        assert model.status_ == "converged"
        assert "held-out loss" in model.choice_


def test_groups_are_held_out_together():
    """Labels are noise, but the same for all rows of a group, and these are nearly equal."""
    X, _ = rings(180)
    groups = np.arange(180) // 3
    X = X[3 * groups] + 1e-3 * X
    y = np.random.default_rng(0).integers(0, 2, size=60)[groups]
    apart = AutoSVC(random_state=0).fit(X, y)
    by_default = AutoSVC(random_state=0).fit(X, y, groups=groups)
    by_splitter = AutoSVC(random_state=0, cv=GroupKFold(5)).fit(X, y, groups=groups)
    losses = [np.nanmin(model.candidates_["loss"]) for model in (apart, by_default, by_splitter)]
    assert losses[0] < 0.1
    assert losses[1] > 0.3
    assert losses[2] > 0.3


def stopped_after(monkeypatch, n_runs, end):
    """Let the fits of the folds run so many times, and then do something else."""
    run, counted = StageFits.run, []

    def limited(self, trials, folds):
        counted.append(1)
        return end() if len(counted) > n_runs else run(self, trials, folds)

    monkeypatch.setattr(StageFits, "run", limited)


def test_a_fit_that_hits_the_limit_lists_what_was_not_tried(monkeypatch):
    X, y = load_wine(return_X_y=True)
    stopped_after(monkeypatch, 3, lambda: False)  # the time is up
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = AutoSVC(random_state=0).fit(X, y)
    assert model.status_ == "time_limit"
    assert "not tried" in model.candidates_["outcome"]
    assert "chosen" in model.candidates_["outcome"]
    assert model.score(X, y) > 0.9


def test_a_limit_that_is_too_short_for_anything_raises():
    rng = np.random.default_rng(0)
    with pytest.raises(TimeoutError, match="max_seconds"):
        AutoSVC(max_seconds=1e-4).fit(rng.normal(size=(4000, 50)), rng.integers(0, 5, size=4000))


@pytest.mark.parametrize("n_runs", [1, 9, 14])
def test_resumed_fit_is_bit_identical(tmp_path, monkeypatch, n_runs):
    X, y = load_wine(return_X_y=True)
    expected = AutoSVC(random_state=0).fit(X, y)
    path = tmp_path / "auto.checkpoint"

    def interrupt():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        stopped_after(patch, n_runs, interrupt)
        with pytest.raises(KeyboardInterrupt):
            AutoSVC(random_state=0).set_checkpoint(Checkpoint(path)).fit(X, y)
    resumed = AutoSVC(random_state=0).set_checkpoint(Checkpoint(path, resume=True)).fit(X, y)
    np.testing.assert_array_equal(resumed.predict_proba(X), expected.predict_proba(X))
    assert resumed.choice_ == expected.choice_


def test_a_second_run_takes_finished_work_from_the_checkpoint(tmp_path, monkeypatch):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "auto.checkpoint"
    first = AutoSVC(random_state=0).set_checkpoint(Checkpoint(path)).fit(X, y)

    def refuse():
        raise AssertionError("the fits of the folds are in the checkpoint")

    stopped_after(monkeypatch, 0, refuse)
    again = AutoSVC(random_state=0).set_checkpoint(Checkpoint(path, resume=True)).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), first.predict_proba(X))


def test_pickle_keeps_every_bit():
    X, y = make_moons(100, noise=0.2, random_state=0)
    model = AutoSVC(random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert clone(copy).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_seconds": 0.0}, "max_seconds"),
        ({"budget": 0}, "budget"),
        ({"learn_metric": "half"}, "learn_metric"),
        ({"cv": 1}, "cv"),
        ({"scoring": ["accuracy", "roc_auc"]}, "scoring"),
    ],
)
def test_invalid_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoSVC(**parameters).fit(*rings(40))


@pytest.mark.parametrize("n_classes", [2, 12])
def test_few_rows_of_each_class_are_enough(n_classes):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 3)
    X = rng.normal(size=(n_classes, 6))[y] * 5.0 + rng.normal(size=(len(y), 6))
    assert AutoSVC(random_state=0).fit(X, y).score(X, y) > 0.8


def among_noise(n, seed):
    """A ring in two columns, and eighteen columns of noise."""
    X = np.random.default_rng(seed).normal(size=(n, 20))
    return X, (np.linalg.norm(X[:, :2], axis=1) > 1.2).astype(int)


def test_a_learned_metric_removes_columns_of_noise(tmp_path):
    X, y = among_noise(400, 0)
    model = AutoSVC(random_state=0).fit(X, y)
    plain = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert "metric is accepted" in model.choice_
    assert "metric" not in plain.choice_
    new = among_noise(2000, 1)
    assert model.score(*new) > plain.score(*new) + 0.01
    assert model.candidates_["outcome"].count("chosen") == 1
    chosen = model.candidates_["outcome"].index("chosen")
    assert model.candidates_["gamma"][chosen] == model.estimator_.gamma_
    name, how = model.candidates_["candidate"][chosen].rstrip(")").split(" (")
    assert name.endswith(", learned metric")
    assert re.fullmatch(r"[123] rounds?, gamma times (1|0.5|2)", how)
    assert f"({how})." in model.choice_
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert shares[:2].sum() > 0.8
    np.testing.assert_array_equal(
        maxmargin.importance(model, X).argsort()[-2:].tolist(), shares.argsort()[-2:]
    )
    maxmargin.save(model, tmp_path / "model.mm")
    loaded = maxmargin.load(tmp_path / "model.mm")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_data_frame_needs_no_preparation(tmp_path):
    X, y = rings(150)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "colour": np.array(["red", "green"])[rng.integers(0, 2, 150)]}
    )
    frame.loc[:5, "a"] = np.nan
    model = AutoSVC(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "colour"]
    assert model.feature_importances_.shape == (3,)
    assert model.score(frame, y) > 0.85
    maxmargin.save(model, tmp_path / "model.mm")
    np.testing.assert_array_equal(maxmargin.load(tmp_path / "model.mm").predict(frame), model.predict(frame))


@pytest.mark.parametrize("tail", [1.0, 3.0])
def test_onnx_computes_what_the_model_does(tail):
    runtime = pytest.importorskip("onnxruntime")
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = (np.linalg.norm(X, axis=1) > 1.5).astype(int)
    X = np.sign(X) * np.expm1(tail * np.abs(X))
    model = AutoSVC(random_state=0).fit(X, y)
    session = runtime.InferenceSession(maxmargin.io.to_onnx(model).SerializeToString())
    label, scores, P = session.run(["label", "scores", "probabilities"], {"X": X})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(P, model.predict_proba(X), atol=1e-6)


def test_support_vectors_are_numbered_as_the_rows_were_given():
    X, y = rings(120)
    model = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    rows = model.scaling_.transform(X[model.estimator_.support_])
    np.testing.assert_array_equal(rows, model.estimator_.support_vectors_)


@pytest.mark.parametrize("error", [TimeoutError("no time for a first step"), Cancelled("cancelled")])
def test_a_search_that_is_cut_fits_the_best_candidate_so_far(monkeypatch, error):
    X, y = load_iris(return_X_y=True)
    run, calls = StageFits.run, itertools.count()

    def cut(self, trials, folds):
        if next(calls) < 2:
            return run(self, trials, folds)
        raise error

    monkeypatch.setattr(StageFits, "run", cut)
    monkeypatch.setattr(Deadline, "has_cut", property(lambda self: True))
    with pytest.warns(ConvergenceWarning, match="before all candidates were compared"):
        model = AutoSVC(random_state=0, learn_metric=None).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.score(X, y) > 0.9


def test_columns_are_scaled_as_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 9)) * 10.0 ** np.arange(-160, 201, 45)
    X[:, 3], X[:, 5], X[:, 6] = 7.0, X[:, 5] > 0, np.exp(4.0 * rng.normal(size=60))
    weight = rng.integers(1, 4, size=60).astype(float)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    found = scaling.scalings(X, weight)
    assert found["bent"].bent.tolist() == [False] * 6 + [True] + [False] * 2
    Z = found["standardised"].transform(repeated)
    assert np.allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    plain = [0, 1, 2, 4, 6, 7, 8]
    share = np.array([(column != column.min()).mean() for column in repeated.T[plain]])
    assert np.allclose(Z[:, plain].std(axis=0), np.sqrt(share))
    assert np.abs(Z[:, 3]).max() < 1e-14
    one = [scaling.scalings(X[:, [j]], weight) for j in range(9)]
    for name, whole in found.items():
        for j, alone in enumerate(one):
            assert whole.scale[j] == pytest.approx(alone.get(name, alone["standardised"]).scale[0], rel=1e-12)


def test_the_median_is_that_of_repeated_values():
    rng = np.random.default_rng(1)
    X, weight = rng.integers(0, 9, size=(31, 4)).astype(float), rng.integers(1, 5, size=31)
    repeated = np.repeat(X, weight, axis=0)
    low = np.sort(repeated, axis=0)[(len(repeated) - 1) // 2]
    assert np.array_equal(scaling._medians(X, weight / weight.sum()), low)


def test_values_whose_difference_overflows_are_refused():
    X, y = rings()
    X[3, 1], X[4, 1] = 1.7e308, -1.7e308
    with pytest.raises(ValueError, match=r"too large: column 1 .* Scale it"):
        AutoSVC(random_state=0).fit(X, y)

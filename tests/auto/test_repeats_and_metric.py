"""``AutoSVC`` on rows with few possible values, and its full metric."""

import numpy as np
import pytest

import maxmargin
from maxmargin import AutoSVC
from maxmargin.auto.candidates import Candidate, Trial
from maxmargin.auto.choice import Judge
from maxmargin.auto.folds import Sample
from maxmargin.auto.metric import (
    GAMMA_FACTORS,
    ROUNDS,
    Metric,
    MetricFits,
    in_metric,
    learn_metric,
    metric_on_all_rows,
)
from maxmargin.solving import Deadline


def patterns(n, seed):
    """Rows with few possible values, whose labels are right four times in five."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 5)).astype(float)
    y = (X.sum(axis=1) > 2).astype(int)
    return X, np.where(rng.random(n) < 0.2, 1 - y, y)


def test_held_out_error_of_discrete_rows_is_that_of_new_rows():
    model = AutoSVC(random_state=0).fit(*patterns(300, 0))
    new = 1.0 - model.score(*patterns(5000, 1))
    assert np.nanmin(model.candidates_["loss"]) == pytest.approx(new, abs=0.05)


def test_weights_equal_repetitions_of_discrete_rows():
    X, y = patterns(150, 0)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = AutoSVC(random_state=0).fit(X, y, sample_weight=weight)
    repeated = AutoSVC(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_a_full_metric_combines_columns(tmp_path):
    def turned(n, seed):
        X = np.random.default_rng(seed).normal(size=(n, 6))
        turn = np.linalg.qr(np.random.default_rng(9).normal(size=(6, 6)))[0]
        return X, (np.sin(4.0 * (X @ turn)[:, 0]) > 0).astype(int)

    X, y = turned(300, 0)
    model = AutoSVC(random_state=0, learn_metric="full").fit(X, y)
    assert "full metric is accepted" in model.choice_
    assert model.scaling_.rotation.shape == (6, 6)
    assert model.score(*turned(2000, 1)) > AutoSVC(random_state=0).fit(X, y).score(*turned(2000, 1))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(maxmargin.importance(model, X).sum(), 1.0)
    maxmargin.save(model, tmp_path / "model.mm")
    np.testing.assert_array_equal(
        maxmargin.load(tmp_path / "model.mm").predict_proba(X), model.predict_proba(X)
    )
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(maxmargin.io.to_onnx(model).SerializeToString())
    (scores,) = session.run(["scores"], {"X": X})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-6)


def noisy_ring(n, d=6):
    """A ring in two of some columns, with its sample for trials and the trial of an rbf kernel."""
    X = np.random.default_rng(0).normal(size=(n, d))
    y = (np.linalg.norm(X[:, :2], axis=1) > 1.2).astype(int)
    sample = Sample({"standardised": X}, y, np.ones(n), np.arange(n) % 5, 2, np.arange(n))
    return sample, Trial(Candidate("rbf", "one-vs-rest", "standardised", None, 2), 0.2, 1.0)


def test_the_model_of_all_rows_has_the_coordinates_and_gamma_of_its_round():
    sample, trial = noisy_ring(120)
    fits = MetricFits(trial, {"n_jobs": 1, "random_state": 0})
    data = sample.views["standardised"], sample.labels, sample.weight
    rounds = list(fits.rounds("diagonal", data))
    assert len(rounds) == ROUNDS
    for k, (models, coordinates) in enumerate(rounds, start=1):
        for factor, model in zip(GAMMA_FACTORS, models, strict=True):
            metric = Metric(trial, 0.1, 0.0, "diagonal", k, factor, True)
            again, gamma = metric_on_all_rows(metric, fits, data)
            np.testing.assert_array_equal(again, coordinates)
            assert gamma == model.gamma_
            np.testing.assert_array_equal(
                model.decision_function(in_metric(data[0], again)),
                trial.candidate.estimator(gamma, trial.value, n_jobs=1, random_state=0)
                .fit(in_metric(data[0], again), sample.labels)
                .decision_function(in_metric(data[0], again)),
            )


def test_a_metric_is_accepted_if_both_losses_fall():
    sample, trial = noisy_ring(200)
    judge = Judge(sample, np.array([0, 1]))
    y = np.where(sample.labels == 1, 1.0, -1.0)
    trial.scores = np.where(np.arange(200) % 4 == 0, -y, y)  # a quarter wrong, at any distance
    fits = MetricFits(trial, {"n_jobs": 1, "random_state": 0})
    with Deadline(60.0) as deadline:
        good = learn_metric(("diagonal",), fits, judge, deadline).tried
    assert good.accepted
    assert good.sum_falls
    assert not Metric(good.trial, good.gain, good.standard_error, "diagonal", 1, 1.0, False).accepted
    assert not Metric(good.trial, good.gain, 2.0 * good.gain, "diagonal", 1, 1.0, True).accepted
    trial.scores = 5.0 * y  # nothing to gain
    with Deadline(60.0) as deadline:
        bad = learn_metric(("diagonal",), fits, judge, deadline).tried
    assert not bad.sum_falls
    assert not bad.accepted

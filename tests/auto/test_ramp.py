"""The ramp loss as a refinement of AutoSVC's choice."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin import AutoSVC, KernelSVC, load, save
from maxmargin.auto import candidates, ramp
from maxmargin.auto.candidates import Candidate, Trial
from maxmargin.auto.choice import Judge
from maxmargin.auto.folds import Sample, StageFits
from maxmargin.solving import Deadline

COMMON = {"n_jobs": 1, "random_state": 0}


def noisy_moons(n=400, share=0.25):
    """Moons with wrong labels, and the right ones."""
    X, y = make_moons(n, noise=0.1, random_state=0)
    wrong = np.random.default_rng(1).random(n) < share
    return X, np.where(wrong, 1 - y, y), y


def scored(share, C=1.0, gamma=1.0, budget=None):
    """A trial with an rbf kernel, scored on five folds, and its judge."""
    X, noisy, _ = noisy_moons(share=share)
    n = len(noisy)
    sample = Sample({"standardised": X}, noisy, np.ones(n), np.arange(n) % 5, 2, np.arange(n))
    trial = Trial(Candidate("rbf", "one-vs-rest", "standardised", budget, 2), gamma, None if budget else C)
    fits = StageFits(sample, COMMON)
    fits.prepare([trial])
    assert fits.run([trial], list(range(5)))
    return trial, Judge(sample, np.array([0, 1]))


def test_the_scores_are_those_of_ramp_fits_to_the_other_folds():
    trial, judge = scored(0.25)
    tried = ramp.try_ramp(trial, judge, COMMON, Deadline())
    X, y = judge.sample.views["standardised"], judge.sample.labels
    for train, test in judge.sample.splits:
        model = KernelSVC(tried.trial.value, gamma=1.0, loss="ramp", **COMMON).fit(X[train], y[train])
        np.testing.assert_allclose(tried.trial.scores[test], model.decision_function(X[test]), atol=1e-8)
    wrong = [np.mean((t.scores > 0) != y) for t in (trial, tried.trial)]
    assert tried.gain == pytest.approx(wrong[0] - wrong[1])
    assert tried.accepted


def test_a_ramp_that_is_behind_after_two_folds_is_given_up():
    trial, judge = scored(0.25, C=100.0, gamma=4.0)
    tried = ramp.try_ramp(trial, judge, COMMON, Deadline())
    assert not tried.accepted
    assert np.isfinite(tried.trial.scores).sum() == 2 * len(judge.sample.labels) / 5


def test_rows_that_are_not_in_doubt_cost_nothing():
    trial, judge = scored(0.0)
    assert ramp.doubtful_share(trial, judge) == 0.0
    assert ramp.ramp_cost(trial, judge) == np.inf
    noisy, its_judge = scored(0.25)
    assert ramp.doubtful_share(noisy, its_judge) > 0.1
    assert np.isfinite(ramp.ramp_cost(noisy, its_judge))


def test_margins_of_many_classes_are_those_to_the_best_other_class():
    trial, judge = scored(0.25)
    judge.sample.labels = np.array([0, 1, 2])
    trial.scores = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 2.5], [2.0, 0.0, 1.5]])  # margins 2, -1.5, -0.5
    assert ramp.doubtful_share(trial, judge) == pytest.approx(1 / 3)


def test_an_accepted_ramp_is_the_model(monkeypatch, tmp_path):
    """With only a small C and one that follows wrong labels, the ramp loss is clearly better."""
    monkeypatch.setattr(candidates, "CS", np.array([0.3]))
    monkeypatch.setattr(candidates, "LARGE_CS", np.array([1e3]))
    monkeypatch.setattr(candidates, "LINEAR_CS", np.array([1e-6]))
    monkeypatch.setattr(candidates, "GAMMA_FACTORS", {"rbf": np.array([2.0])})
    X, noisy, clean = noisy_moons()
    model = AutoSVC(learn_metric=None, **COMMON).fit(X, noisy)
    assert model.estimator_.loss == "ramp"
    assert "The ramp loss is accepted: it lowers the held-out loss by" in model.choice_
    chosen = model.candidates_["outcome"].index("chosen")
    assert model.candidates_["candidate"][chosen] == "rbf kernel, ramp loss"
    assert model.candidates_["outcome"].count("chosen") == 1
    assert model.candidates_["C"][chosen] == model.estimator_.C
    hinge = KernelSVC(0.3, gamma=model.estimator_.gamma, **COMMON).fit(model.scaling_.transform(X), noisy)
    assert model.score(X, clean) > hinge.score(model.scaling_.transform(X), clean)
    save(model, tmp_path / "model.mm")
    np.testing.assert_array_equal(
        load(tmp_path / "model.mm").decision_function(X), model.decision_function(X)
    )


def test_a_budget_holds_with_the_ramp_loss():
    trial, judge = scored(0.25, budget=10)
    tried = ramp.try_ramp(trial, judge, COMMON, Deadline())
    assert 0 < tried.trial.n_support <= 10
    assert str(tried.trial.candidate) == "rbf kernel with 10 support vectors, ramp loss"

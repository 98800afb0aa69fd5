"""A learned metric: which point is taken, what it costs, and what becomes of it when the time is up."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import AutoSVC
from maxmargin.auto import metric, ramp, refine
from maxmargin.auto.candidates import Candidate, Trial
from maxmargin.auto.choice import Judge
from maxmargin.auto.cost import CONVEX_STEPS, shape_of
from maxmargin.auto.folds import Sample
from maxmargin.auto.metric import GAMMA_FACTORS, ROUNDS, Metric, MetricFits, learn_metric
from maxmargin.auto.scaling import scalings
from maxmargin.auto.tried_change import Attempt, best_of
from maxmargin.solving import Deadline

COMMON = {"n_jobs": 1, "random_state": 0}


def ring(n, d=6, kernel="rbf", loss=None):
    """A ring in two of some columns, with its sample for trials and the trial of a kernel."""
    X = np.random.default_rng(0).normal(size=(n, d))
    y = (np.linalg.norm(X[:, :2], axis=1) > 1.2).astype(int)
    sample = Sample({"standardised": X}, y, np.ones(n), np.arange(n) % 5, 2, np.arange(n))
    candidate = Candidate(kernel, "one-vs-rest", "standardised", None, 2, loss)
    return sample, Trial(candidate, 0.2, 1.0, np.full(n, 1.0))


def judged(n=400):
    """Labels, a judge, and a trial with these scores."""
    sample, trial = ring(n)
    y = np.where(sample.labels == 1, 1.0, -1.0)
    return y, Judge(sample, np.array([0, 1])), lambda scores: replace(trial, scores=scores)


def wrong_at(y, n_wrong, size=1.0):
    """Scores of which the first ones have the wrong sign, and this size."""
    return np.where(np.arange(len(y)) < n_wrong, -size * y, y)


def test_an_error_that_falls_alone_is_not_enough():
    """Fewer errors, but scores that say nothing about the other rows: the log loss rises more."""
    y, judge, with_scores = judged()
    noise = np.random.default_rng(1).uniform(1e-3, 1.0, size=len(y))
    plain, best = with_scores(wrong_at(y, 60, 1e-3)), with_scores(wrong_at(y * noise**8, 40, 50.0))
    _, gain, error = best_of([best], plain, judge)
    assert gain > error
    assert judge.sums(best).mean() > judge.sums(plain).mean()
    assert not metric._sum_falls(best, plain, judge)
    assert metric._sum_falls(with_scores(wrong_at(y, 10)), plain, judge)


def test_the_best_point_has_the_least_sum():
    y, judge, with_scores = judged()
    least_error, least_sum = with_scores(wrong_at(y, 40, 50.0)), with_scores(wrong_at(y, 44, 1e-3))
    errors = [judge.losses(trial)[0].mean() for trial in (least_error, least_sum)]
    assert errors[0] < errors[1]
    found, gain, _ = best_of([least_error, least_sum], with_scores(wrong_at(y, 100)), judge)
    assert found == 1
    assert gain == pytest.approx(56 / 400)


def test_an_accepted_kind_is_not_lost_to_a_rejected_one():
    _, trial = ring(50)
    good = Metric(trial, 0.03, 0.01, "diagonal", 1, 1.0, True)
    larger = Metric(trial, 0.09, 0.01, "full", 1, 1.0, False)
    assert metric._better([good, larger]) is good
    assert metric._better([larger, replace(larger, gain=0.1)]).gain == 0.1
    assert metric._better([]) is None


def test_the_cost_counts_all_that_the_rounds_do(monkeypatch):
    """Each median, gradient and calibration that is done is one that is counted."""
    sample, trial = ring(100)
    fits, shape = MetricFits(trial, COMMON), shape_of(sample.views["standardised"], sample.labels)
    done = {"median": 0, "gradients": 0, "fits": 0, "calibration": 0}

    def counted(name, call):
        def again(*given, **named):
            done[name] += 1
            return call(*given, **named)

        return again

    monkeypatch.setattr(metric, "median_gamma_of", counted("median", metric.median_gamma_of))
    monkeypatch.setattr(metric, "squared_gradients", counted("gradients", metric.squared_gradients))
    monkeypatch.setattr(MetricFits, "_fitted", counted("fits", MetricFits._fitted))
    monkeypatch.setattr(Judge, "calibrator", counted("calibration", Judge.calibrator))
    trial.scores = np.zeros(100)
    with Deadline(60.0) as deadline:
        learn_metric(("diagonal",), fits, Judge(sample, np.array([0, 1])), deadline)
    assert done["median"] == 5 * (1 + ROUNDS)
    expected = (
        done["fits"] * shape.fit(trial.candidate)
        + done["median"] * shape.median(trial.candidate)
        + done["gradients"] * shape.gradients(trial.candidate, False)
        + done["calibration"] * shape.calibration()
    )
    assert fits.cost(("diagonal",), sample) == pytest.approx(expected)
    kinds = fits.cost(("diagonal", "full"), sample)
    more = 5 * ROUNDS * (shape.gradients(trial.candidate, True) - shape.gradients(trial.candidate, False))
    assert kinds == pytest.approx(2.0 * expected + more)


def test_fits_with_the_ramp_loss_are_counted_as_their_convex_steps():
    sample, trial = ring(100)
    shape = shape_of(sample.views["standardised"], sample.labels)
    ramped = replace(trial.candidate, loss="ramp")
    assert shape.fit(ramped) == CONVEX_STEPS * shape.fit(trial.candidate)
    judge = Judge(sample, np.array([0, 1]))
    trial.scores = np.where(sample.labels == 0, 2.0, -2.0)
    expected = len(ramp.LARGER_CS) * len(sample.splits) * shape.fit(ramped)
    assert ramp.ramp_cost(trial, judge) == pytest.approx(expected)


def test_one_factor_of_gamma_where_three_are_too_dear(monkeypatch):
    """By predicted operations alone: within, between and beyond the two costs."""
    seen = []

    def learned(kinds, fits, *_):
        seen.append(fits.factors)
        return Attempt()

    monkeypatch.setattr(refine, "learn_metric", learned)
    sample, trial = ring(80)
    found = type("Found", (), {"judge": Judge(sample, np.array([0, 1]))})()
    fits = MetricFits(trial, COMMON)
    three, one = (replace(fits, factors=f).cost(("diagonal",), sample) for f in (GAMMA_FACTORS, (1.0,)))
    assert one < three
    with Deadline(60.0) as deadline:
        for limit in (three, 0.5 * (one + three), 0.9 * one):
            refine._metric(fits, found, "auto", limit, deadline)
    assert seen == [GAMMA_FACTORS, (1.0,)]


def test_a_full_metric_cut_by_the_clock_leaves_the_diagonal_one(monkeypatch):
    sample, trial = ring(200)
    trial.scores = np.where(np.arange(200) % 4 == 0, -1.0, 1.0) * np.where(sample.labels == 1, 1.0, -1.0)
    cut_second_kind(monkeypatch)
    with Deadline(60.0) as deadline:
        found = learn_metric(
            ("diagonal", "full"), MetricFits(trial, COMMON), Judge(sample, np.array([0, 1])), deadline
        )
    assert found.tried.kind == "diagonal"
    assert found.cut == "learned full metric"


def cut_second_kind(monkeypatch):
    """Let the time be up as soon as a full metric is to be learned."""
    following = metric._next

    def cut(kind, *given):
        if kind == "full":
            raise TimeoutError("the time is up")
        return following(kind, *given)

    monkeypatch.setattr(metric, "_next", cut)


@pytest.mark.parametrize("what", ["learned metric", "ramp loss"])
def test_what_the_clock_has_cut_is_said(monkeypatch, what):
    def cut(*_):
        raise TimeoutError("the time is up")

    monkeypatch.setattr(ramp, "doubtful_share", lambda *_: float(what == "ramp loss"))
    if what == "ramp loss":
        monkeypatch.setattr(refine, "try_ramp", cut)
    else:
        monkeypatch.setattr(metric, "_next", cut)
    sample, _ = ring(80, 3)
    with pytest.warns(ConvergenceWarning, match="lists what was not tried"):
        model = AutoSVC(random_state=0, cv=3).fit(sample.views["standardised"], sample.labels)
    assert model.status_ == "time_limit"
    assert f"Not tried: {what}, as the time was up." in model.choice_
    line = model.candidates_["candidate"].index(what)
    assert model.candidates_["outcome"][line] == "not tried"
    assert "chosen" in model.candidates_["outcome"]


def test_a_full_metric_of_collinear_columns_can_be_undone():
    """Directions that the outputs do not depend on keep their floor after every round."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, :2] @ [0.5, -2.0]])
    y = (np.linalg.norm(X[:, :2], axis=1) > 1.2).astype(int)
    scaling = scalings(X, np.ones(150))["standardised"]
    Z = scaling.transform(X)
    trial = Trial(Candidate("rbf", "one-vs-rest", "standardised", None, 2), 0.2, 1.0)
    root, _ = MetricFits(trial, COMMON).coordinates("full", (Z, y, np.ones(150)), ROUNDS)
    assert np.linalg.cond(root) <= 1.001 / metric.LEAST_FACTOR
    moved = scaling.with_metric(root)
    np.testing.assert_allclose(moved.restored(moved.transform(X)), X, atol=1e-9)


def test_a_full_metric_measures_distances_by_the_gradients_of_the_last_model():
    """Whatever the last coordinates A are: the squared distance is ``(x - z)^T A M A^T (x - z)``."""
    sample, trial = ring(120)
    X, y = sample.views["standardised"], sample.labels
    A = np.random.default_rng(1).normal(size=(6, 6))
    model = trial.candidate.estimator(0.2, 1.0, **COMMON).fit(X @ A, y)
    root = metric._next("full", model, X, A)
    outer = A @ metric.squared_gradients(model, X @ A, full=True) @ A.T
    np.testing.assert_allclose(root @ root.T, outer * 6.0 / np.trace(outer), atol=1e-6)

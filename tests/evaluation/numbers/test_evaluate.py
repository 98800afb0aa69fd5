"""Evaluations without classes: errors, coverage, the largest errors, shares outside, the ROC curve."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, roc_auc_score

from maxmargin import KernelSVR
from maxmargin.evaluation import evaluate_novelty, evaluate_numbers, predictions
from maxmargin.table import FrameSource
from maxmargin.training import train

QUICK = {"C": 10.0, "gamma": 0.3, "kernel": "rbf", "epsilon": 0.1, "n_jobs": 1}


def waves(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, size=n)
    return pd.DataFrame({"x": x, "y": np.sin(2 * x) + 0.2 * rng.normal(size=n)})


@pytest.fixture(scope="module")
def model():
    return train(waves(600, 0), target="y", task="regression", parameters=QUICK).model


def test_errors_are_those_of_the_predictions(model):
    new = waves(500, 1)
    found = evaluate_numbers(model, FrameSource(new, "y"))
    predicted = model.predict(new[["x"]])
    assert found.scores.mae == pytest.approx(mean_absolute_error(new["y"], predicted))
    worst = np.argmax(np.abs(new["y"] - predicted))
    assert found.worst[0].row == worst
    np.testing.assert_array_equal(found.rows, np.arange(500))
    assert "rows" not in found.as_dict()


def test_coverage_counts_rows_inside(model):
    new = waves(500, 1)
    found = evaluate_numbers(model, FrameSource(new, "y"))
    assert [each.asked for each in found.coverages] == [0.5, 0.8, 0.9, 0.95]
    (block,) = predictions(model, FrameSource(new[["x"]], None), interval=0.8)
    low, high = block.intervals.T
    assert found.coverages[1].share == np.mean((low <= new["y"]) & (new["y"] <= high))
    assert found.coverages[1].width == pytest.approx(np.mean(high - low))
    assert found.coverages[1].interval[0] < 0.8 < found.coverages[1].interval[1] + 0.05


def test_intervals_that_have_too_few_rows_are_left_out():
    given = {"target": "y", "task": "regression", "parameters": QUICK}
    few = train(waves(60, 0), **given, refit=False).model  # 12 rows of calibration
    found = evaluate_numbers(few, FrameSource(waves(50, 1), "y"))
    assert [each.asked for each in found.coverages] == [0.5, 0.8, 0.9]
    more = train(waves(60, 0), **given).model  # 60 residuals
    found = evaluate_numbers(more, FrameSource(waves(50, 1), "y"))
    assert [each.asked for each in found.coverages] == [0.5, 0.8, 0.9, 0.95]
    none = train(waves(60, 0), target="y", task="regression", parameters=QUICK, validate=0).model
    assert evaluate_numbers(none, FrameSource(waves(50, 1), "y")).coverages == []


def test_bad_files_are_refused(model):
    with pytest.raises(ValueError, match="no target to compare"):
        evaluate_numbers(model, FrameSource(waves(9, 1), None))
    with pytest.raises(ValueError, match="row 0, counted from 0, has the target 'many'"):
        evaluate_numbers(model, FrameSource(waves(9, 1).assign(y="many"), "y"))


def labelled(n, seed, words=("0", "1")):
    rng = np.random.default_rng(seed)
    odd = rng.random(n) < 0.1
    a = rng.normal(size=n) + 2.5 * odd
    return pd.DataFrame({"a": a, "b": rng.normal(size=n), "kind": np.where(odd, words[1], words[0])})


@pytest.mark.parametrize("words", [("0", "1"), ("1", "-1"), ("no", "Yes"), ("good", "bad")])
def test_the_area_under_the_curve_is_that_of_the_scores(words):
    trained = train(labelled(500, 0).drop(columns="kind"), task="novelty")
    new = labelled(400, 1, words)
    found = evaluate_novelty(trained.model, FrameSource(new, "kind"))
    assert found.novel == words[1]
    assert found.auc == pytest.approx(roc_auc_score(new["kind"] == words[1], -found.scores))
    assert found.auc_interval[0] < found.auc < found.auc_interval[1]
    assert found.n_outside == (trained.model.predict(new[["a", "b"]]) == -1).sum()
    assert found.lowest[0].row == found.scores.argmin()
    assert bool(found.notes) == (words == ("good", "bad"))


def test_labels_that_are_not_two_give_no_area():
    trained = train(labelled(300, 0).drop(columns="kind"), task="novelty")
    new = labelled(50, 1)
    assert evaluate_novelty(trained.model, FrameSource(new.drop(columns="kind"), None)).auc is None
    found = evaluate_novelty(trained.model, FrameSource(new.assign(kind="one"), "kind"))
    assert found.auc is None
    assert "has 1 labels" in found.notes[0]


def test_a_model_of_a_matrix_takes_no_table():
    rng = np.random.default_rng(0)
    model = KernelSVR().fit(rng.normal(size=(50, 1)), rng.normal(size=50))
    with pytest.raises(ValueError, match="this model takes a matrix: it has no TablePreparation"):
        evaluate_numbers(model, FrameSource(waves(20, 1), "y"))

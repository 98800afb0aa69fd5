"""The page about a model of numbers, or of what is usual: which sections it has, and that text stays text."""

import re

import numpy as np
import pandas as pd
import pytest

from maxmargin.io import open_source
from maxmargin.report import build_numbers, page
from maxmargin.table import FrameSource
from maxmargin.training import train

QUICK = {"C": 10.0, "gamma": 0.1, "kernel": "rbf", "epsilon": 0.1, "n_jobs": 1}
ANCHORS = re.compile(r'<section id="(\w+)"')


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    kind = np.where(a > 0, "<script>", "usual & plain")
    return pd.DataFrame({"a": a, "<b>": b, "kind": kind, "y": 2 * a + np.sin(b) + 0.1 * rng.normal(size=n)})


@pytest.fixture(scope="module")
def regression():
    trained = train(rows(), target="y", task="regression", parameters=QUICK)
    return build_numbers(trained.model, trained.record, FrameSource(rows(seed=1), "y"))


def test_the_page_of_numbers_has_the_sections_that_make_sense(regression):
    text = page(regression)
    expected = ["data", "choice", "errors", "intervals", "rows", "columns", "model", "gap", "reproduce"]
    assert ANCHORS.findall(text) == expected
    for absent in ("confusion", "accuracy", "balanced", "calibration of probabilities"):
        assert absent not in text.lower()


def test_the_numbers_of_the_page_are_those_of_the_evaluation(regression):
    text, scores = page(regression), regression.evaluation.scores
    assert f"{scores.mae:.4g}" in text
    assert text.count('class="point"') == 400  # both charts, every row
    worst = regression.evaluation.worst[0].row
    assert f'<th scope="row" class="n">{worst + 1}</th>' in text
    assert regression.columns[0][0] == "a"
    assert sum(share for _, share in regression.columns) == pytest.approx(1.0)


def test_text_of_the_data_is_never_markup(regression):
    text = page(regression)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert page(regression) == text


def test_the_loss_is_the_formula_of_the_docstring(regression):
    assert ("loss(r) = max(0, |r| − epsilon)", "epsilon-insensitive") in regression.model.symbols


def test_the_page_of_novelty_has_its_own_sections():
    frame = rows().drop(columns="y")
    trained = train(frame, task="novelty")
    text = page(build_numbers(trained.model, trained.record, FrameSource(frame, None)))
    expected = ["data", "choice", "scores", "rows", "columns", "model", "gap", "reproduce"]
    assert ANCHORS.findall(text) == expected
    assert "are outside" in text


def test_a_matrix_has_no_names_and_no_columns_section(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{k / 7 + k * k:g} 1:{k} 2:{k % 3}\n" for k in range(60)))
    trained = train(open_source(path), task="regression", parameters=QUICK, validate=0)
    report = build_numbers(trained.model, trained.record, open_source(path))
    assert report.seen
    assert "columns" not in ANCHORS.findall(page(report))
    assert "The model has no intervals" in page(report)


def test_a_model_without_a_record():
    trained = train(rows(), target="y", task="regression", parameters=QUICK)
    text = page(build_numbers(trained.model, None, FrameSource(rows(seed=1), "y")))
    assert "saved without a record" in text

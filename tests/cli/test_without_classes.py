"""train, inspect, predict and evaluate for numbers and for novelty, as a person would type them."""

import csv
import io
import json

import numpy as np
import pytest
from support.command_line import running

QUICK = ("--set", "C=10", "--set", "kernel=linear", "--set", "epsilon=0.1", "--set", "n_jobs=1")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return running(capsys)


def write_prices(path, n=200, seed=0, decimal="."):
    """A price that is 2 a - 3 b + 5 with a little noise, the number of the row, and a kind."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    price = 2 * a - 3 * b + 5 + 0.1 * rng.normal(size=n)
    odd = rng.random(n) < 0.1
    lines = ["nr;a;b;kind;price"]
    for k in range(n):
        numbers = [f"{value:.6f}".replace(".", decimal) for value in (a[k] + 5 * odd[k], b[k], price[k])]
        lines.append(";".join([f"n{k % 50}", *numbers[:2], "odd" if odd[k] else "usual", numbers[2]]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def numbers(run, tmp_path):
    """A table with a model of its price, and new rows."""
    old = write_prices(tmp_path / "old.csv")
    said = run("train", old, "--target", "price", "--id", "nr", "--task", "regression", *QUICK)
    assert said.code == 0, said.err
    return tmp_path / "old.mm", write_prices(tmp_path / "new.csv", seed=1)


def test_a_continuous_target_is_taken_and_the_summary_says_so(run, tmp_path):
    said = run("train", write_prices(tmp_path / "old.csv"), "--target", "price", "--max-seconds", "20")
    assert said.code == 0
    (task,) = [line for line in said.out.splitlines() if line.strip().startswith("task")]
    assert " ".join(task.split()[1:]) == "regression (the target has 200 different numbers in 200 rows)"
    assert "mean absolute error" in said.out
    assert "held-out rows" in said.out


def test_inspect_shows_task_validation_and_parameters(run, numbers):
    model, _ = numbers
    assert "regression (asked for)" in run("inspect", model).out
    found = run("inspect", model, "--json").json
    assert found["estimator"] == "KernelSVR"
    assert found["record"]["validation"]["n_rows"] == 40
    assert found["classes"] is None


def test_predictions_have_ends_if_asked_for(run, numbers):
    model, new = numbers
    rows = list(csv.reader(io.StringIO(run("predict", model, new, "--interval", "0.9").out)))
    assert rows[0] == ["nr", "prediction", "lower", "upper"]
    values = np.array([list(map(float, row[1:])) for row in rows[1:]])
    assert values.shape == (200, 3)
    assert (values[:, 1] <= values[:, 0]).all()
    assert (values[:, 0] <= values[:, 2]).all()
    found = run("predict", model, new, "--interval", "0.9", "--json").json
    assert found["rows"][3][1:] == values[3].tolist()
    assert run("predict", model, new).out.splitlines()[0] == "nr,prediction"


def test_evaluate_prints_errors_and_coverage(run, numbers):
    model, new = numbers
    said = run("evaluate", model, new)
    assert all(word in said.out for word in ("mean absolute error", "R^2", "Intervals", "Largest errors"))
    found = run("evaluate", model, new, "--json").json
    assert found["task"] == "regression"
    assert found["scores"]["mae"] < 0.12
    ninety = next(each for each in found["coverages"] if each["asked"] == 0.9)
    assert ninety["interval"][0] < 0.9 < ninety["interval"][1] + 0.05
    assert json.dumps(found)


def test_a_decimal_comma_on_the_way_from_file_to_file(run, tmp_path):
    old = write_prices(tmp_path / "old.csv", decimal=",")
    said = run("train", old, "--target", "price", "--drop", "nr")
    assert said.code == 1
    assert "If they are numbers, give the decimal sign (--decimal ',')" in said.err
    assert (
        run("train", old, "--target", "price", "--drop", "nr", "--decimal", ",", "--max-seconds", "9").code
        == 0
    )
    new = write_prices(tmp_path / "new.csv", seed=1, decimal=",")
    assert run("evaluate", "old.mm", new, "--json").json["scores"]["r2"] > 0.99


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["evaluate", "{model}", "{new}", "--cost", "false-positive=2"],
            "--cost is not for a model of numbers",
        ),
        (
            ["evaluate", "{model}", "{new}", "--top-k", "3", "--columns"],
            "--top-k, --columns are not for a model",
        ),
        (["predict", "{model}", "{new}", "--probabilities"], "--probabilities is not for a model of numbers"),
        (
            ["explore", "{model}", "{new}"],
            "explore is about classes, and this is a model of numbers; use evaluate",
        ),
        (["compare", "{new}", "--target", "kind", "--models", "kernel-regression"], "is for regression"),
        (["path", "{new}", "--target", "kind", "--model", "kernel-regression"], "is for regression"),
        (["compare", "{new}", "--target", "price"], "Train models of numbers one by one (--task regression)"),
        (["path", "{new}", "--target", "price"], "Train models of numbers one by one (--task regression)"),
        (["train", "{new}", "--target", "price", "--task", "price"], "task must be one of"),
    ],
)
def test_what_is_about_classes_is_refused_in_one_sentence(run, numbers, arguments, message):
    model, new = numbers
    said = run(*[argument.format(model=model, new=new) for argument in arguments])
    assert said.code != 0
    assert message in said.err


def test_an_interval_is_not_for_classes_and_needs_rows(run, numbers, tmp_path):
    model, new = numbers
    assert (
        run("train", new, "--target", "kind", "--drop", "nr", "--model", "linear", "--out", "k.mm").code == 0
    )
    assert "--interval is not for a classifier" in run("predict", "k.mm", new, "--interval", "0.9").err
    said = run("predict", model, new, "--interval", "0.999")
    assert said.code == 1
    assert "needs a calibration on at least 999 rows; got 200" in said.err
    assert said.out == ""
    asked = ("train", new, "--target", "price", "--id", "nr", "--task", "regression", *QUICK)
    assert run(*asked, "--no-refit", "--out", "once.mm").code == 0
    said = run("predict", "once.mm", new, "--interval", "0.99")
    assert said.code == 1
    assert "needs a calibration on at least 99 rows; got 40" in said.err
    assert said.out == ""


def test_several_quantiles_are_written_side_by_side(run, tmp_path):
    old, quantiles = write_prices(tmp_path / "old.csv"), ("--set", "quantiles=0.1,0.5,0.9")
    asked = ("train", old, "--target", "price", "--drop", "nr,kind", "--task", "regression")
    fixed = ("--set", "loss=pinball", "--set", "C=10", "--set", "kernel=linear")
    assert run(*asked, *fixed, *quantiles).code == 0
    rows = list(csv.reader(io.StringIO(run("predict", "old.mm", old).out)))
    assert rows[0] == ["quantile 0.1", "quantile 0.5", "quantile 0.9"]
    assert all(float(low) <= float(middle) <= float(high) for low, middle, high in rows[1:])


def test_novelty_without_a_target_and_with_labels_to_evaluate(run, tmp_path):
    old = write_prices(tmp_path / "old.csv")
    assert run("train", old, "--task", "novelty", "--drop", "nr,price,kind").code == 0
    assert "novelty (asked for)" in run("inspect", "old.mm").out
    new = write_prices(tmp_path / "new.csv", seed=1)
    rows = list(csv.reader(io.StringIO(run("predict", "old.mm", new).out)))
    assert rows[0] == ["prediction", "score"]
    assert {row[0] for row in rows[1:]} == {"inlier", "outlier"}
    assert all((float(row[1]) < 0) == (row[0] == "outlier") for row in rows[1:])
    assert run("evaluate", "old.mm", new, "--json").json["auc"] is None
    labelled = run("evaluate", "old.mm", new, "--target", "kind")
    assert "taken for the novel ones" in labelled.err
    assert "area under ROC curve" in labelled.out
    assert (
        "--interval is not for a model of what is usual"
        in run("predict", "old.mm", new, "--interval", "0.9").err
    )


def test_a_target_of_a_novelty_model_is_left_out_and_may_be_missing(run, tmp_path):
    old = write_prices(tmp_path / "old.csv")
    arguments = ("--task", "novelty", "--drop", "nr,price", "--target", "kind")
    assert "kind, not used" in run("train", old, *arguments).out
    assert run("evaluate", "old.mm", old, "--json").json["auc"] is not None
    text = old.read_text().splitlines()
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(";".join(line.split(";")[:3]) for line in text) + "\n")
    assert run("evaluate", "old.mm", bare, "--json").json["auc"] is None


def test_the_report_is_a_page_with_the_result(run, numbers):
    model, new = numbers
    said = run("report", model, new, "--out", "page.html")
    assert said.code == 0, said.err
    assert "mean absolute error" in said.out
    found = run("report", model, new, "--out", "page.html", "--json").json
    assert found["scores"]["mae"] < 0.12
    assert (
        "--cost is not for a model of numbers" in run("report", model, new, "--cost", "false-positive=2").err
    )

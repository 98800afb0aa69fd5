"""Thresholds and costs: against enumeration, and on tables whose best threshold is known."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, roc_curve
from support.command_line import running
from support.page_checks import check_page
from support.report_samples import NASTY

from maxmargin import io
from maxmargin.evaluation import evaluate, predictions, stored_decision
from maxmargin.evaluation.thresholds import curves_of
from maxmargin.metrics import Costs, Decision, best_threshold, study_of
from maxmargin.training import cost_from_text, train

rows = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30)
cost = st.floats(0.1, 10)


@given(rows=rows, false_positive=cost, false_negative=cost)
def test_no_threshold_costs_less_than_the_best(rows, false_positive, false_negative):
    values, truth = np.array([v / 6 for v, _ in rows]), np.array([t for _, t in rows])
    costs = Costs.of({"false-positive": false_positive, "false-negative": false_negative}, ["no", "yes"])

    def total(threshold):
        called = values >= threshold
        return false_positive * (called & ~truth).sum() + false_negative * (~called & truth).sum()

    found = best_threshold(values, truth, costs)
    assert total(found) <= min(total(t) for t in [-1.0, *values, 2.0]) * (1 + 1e-9)


def test_calibrated_probabilities_have_the_threshold_of_theory():
    """With p true probabilities, positive is right from fp / (fp + fn) on."""
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    truth = rng.random(len(p)) < p
    costs = Costs.of({"false-positive": 1, "false-negative": 4}, ["no", "yes"])
    decision, study = study_of(np.arange(len(p)), p, truth, p >= 0.5, costs, "probability")
    assert decision.threshold == pytest.approx(0.2, abs=0.03)
    plain = 4 * 0.125 + 0.125  # mean cost below and above 1/2: 4 E p [p < 1/2] + E (1 - p) [p >= 1/2]
    best = 4 * 0.2**2 / 2 + 0.8**2 / 2
    assert study.gain_interval[0] < plain - best < study.gain_interval[1]
    assert study.plain_cost == pytest.approx(plain, rel=0.02)


def test_a_threshold_on_noise_is_not_shown_to_be_a_gain():
    """The gain of a threshold chosen on the rows themselves would be positive for pure noise."""
    costs, lower_ends = Costs.of({"false-positive": 1, "false-negative": 1}, ["no", "yes"]), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values, truth = rng.random(60), rng.random(60) < 0.5
        study = study_of(np.arange(60), values, truth, values >= 0.5, costs, "score")[1]
        lower_ends.append(study.gain_interval[0])
    assert sum(low > 0 for low in lower_ends) <= 2


@given(rows=rows.filter(lambda rows: 0 < sum(t for _, t in rows) < len(rows)))
def test_curves_are_those_of_scikit_learn(rows):
    values, truth = np.array([v / 6 for v, _ in rows]), np.array([t for _, t in rows])
    found = curves_of(values, truth, "yes", "score")
    rates, recall, thresholds = roc_curve(truth, values, drop_intermediate=False)
    expected = list(zip(thresholds[1:], recall[1:], rates[1:]))
    assert [(p.threshold, p.recall, p.false_positive_rate) for p in found.points] == expected
    precision = dict(
        zip(
            *(
                each[::-1]
                for each in (
                    precision_recall_curve(truth, values)[2],
                    precision_recall_curve(truth, values)[0][:-1],
                )
            )
        )
    )
    assert all(p.precision == pytest.approx(precision[p.threshold]) for p in found.points)
    for point, least in zip(found.at_recall, (0.5, 0.8, 0.9, 0.95, 0.99)):
        assert point.threshold == max(t for t, r in zip(thresholds, recall) if r >= least)


def overlapping(path, n, seed, names=("no", "yes"), head=("size", "class")):
    """Two overlapping classes in one column; the rare one is the second."""
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < 0.25
    size = rng.normal(size=n) + 1.5 * rare
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *((f"{s:.4f}", names[int(r)]) for s, r in zip(size, rare))])
    return path


def test_train_stores_the_threshold_and_predict_applies_it(tmp_path, capsys):
    run = running(capsys)
    data, new = overlapping(tmp_path / "a.csv", 600, 0), overlapping(tmp_path / "b.csv", 400, 1)
    model = tmp_path / "a.mm"
    cost = ["--cost", "false-positive=1", "--cost", "false-negative=6"]
    trained = run(
        "train", data, "--target", "class", "--model", "sparse-kernel", "--budget", 8, "--out", model, *cost
    )
    assert trained.code == 0, trained.err
    assert "decision" in trained.out
    fitted, record = io.load(model), io.read_record(model)
    decision = stored_decision(record, fitted)
    assert decision.threshold < 0.4
    source = io.open_source(new, target="class")
    p = np.concatenate([fitted.predict_proba(block)[:, 1] for block in source.blocks()])
    expected = np.where(p >= decision.threshold, "yes", "no")
    assert run("predict", model, new).out.split()[1:] == expected.tolist()
    truth = np.concatenate([block.target for block in source.blocks()])
    found = run("evaluate", model, new, "--json").json
    assert found["accuracy"] == (truth == expected).mean()
    costs = np.where(truth == "yes", 6.0, 1.0)
    plain = np.where(p > 0.5, "yes", "no")
    gain = (costs * (plain != truth)).mean() - (costs * (expected != truth)).mean()
    assert found["costs"]["gain"] == pytest.approx(gain)
    assert found["costs"]["gain_interval"][0] < gain < found["costs"]["gain_interval"][1]
    assert gain > 0
    text = run("evaluate", model, new).out
    assert "from a probability of" in text
    assert "Costs of errors" in text


def test_without_a_stored_threshold_the_predictions_stay(tmp_path, capsys):
    run = running(capsys)
    data, new = overlapping(tmp_path / "a.csv", 600, 0), overlapping(tmp_path / "b.csv", 400, 1)
    run(
        "train",
        data,
        "--target",
        "class",
        "--model",
        "sparse-kernel",
        "--budget",
        8,
        "--out",
        tmp_path / "a.mm",
    )
    plain = run("evaluate", tmp_path / "a.mm", new, "--json").json
    costed = run("evaluate", tmp_path / "a.mm", new, "--json", "--cost", "false-negative=6").json
    assert costed["confusion"] == plain["confusion"]
    assert plain["costs"] is None
    assert costed["costs"]["gain"] > 0


def test_several_classes_take_the_lowest_expected_cost(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[y]
    lines = [f"{a:.3f},{b:.3f},{'abc'[k]}" for (a, b), k in zip(X, y)]
    (tmp_path / "t.csv").write_text("u,v,class\n" + "\n".join(lines))
    (tmp_path / "costs.csv").write_text(",a,b,c\na,0,1,1\nb,9,0,1\nc,9,1,0\n")
    cost = cost_from_text([str(tmp_path / "costs.csv")])
    source = io.open_source(tmp_path / "t.csv", target="class")
    trained = train(source, model="sparse-kernel", parameters={"budget": 10}, cost=cost)
    decision = stored_decision(trained.record, trained.model)
    found = np.concatenate([b.labels for b in predictions(trained.model, source, decision=decision)])
    p = np.concatenate([trained.model.predict_proba(block) for block in source.blocks()])
    matrix = np.array([[0, 1, 1], [9, 0, 1], [9, 1, 0]])
    assert found.tolist() == [list("abc")[k] for k in (p @ matrix).argmin(axis=1)]
    assert trained.record["decision"]["study"]["gain"] > 0
    assert evaluate(trained.model, source, decision=decision).costs.gain > 0


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["false-positive=-1"], "at least 0"),
        (["false-positive=0", "false-negative=0"], "all costs are 0"),
        (["wrong=1"], "false-positive=1"),
        (["false-positive=many"], "false-positive=1"),
    ],
)
def test_costs_that_make_no_sense_are_refused(texts, said):
    with pytest.raises(ValueError, match=said):
        cost_from_text(texts)


def test_costs_about_other_classes_are_refused_before_the_fit(tmp_path):
    source = io.open_source(overlapping(tmp_path / "a.csv", 50, 0), target="class")
    with pytest.raises(ValueError, match="no entry for the true class 'no'"):
        train(source, cost={"yes": {"maybe": 1.0}, "maybe": {"yes": 2.0}})
    with pytest.raises(ValueError, match="held-out"):
        train(source, cost={"false-positive": 1}, validate=0)


def test_a_damaged_decision_is_refused():
    good = Decision(Costs.of({"false-positive": 2}, "ab"), "score", 0.5).as_record()
    assert Decision.from_record(good, ["a", "b"]).as_record() == good
    for change in ({"threshold": float("nan")}, {"on": "moon"}, {"classes": ["a", "c"]}, {"costs": [[0.0]]}):
        with pytest.raises(ValueError, match="decision"):
            Decision.from_record(good | change, ["a", "b"])


def test_hostile_classes_stay_text_on_the_page(tmp_path, capsys):
    run = running(capsys)
    names, head = (NASTY[0], NASTY[6]), (NASTY[4], NASTY[5])
    data = overlapping(tmp_path / "a.csv", 300, 0, names, head)
    cost = ["--cost", "false-negative=6"]
    made = run(
        "train",
        data,
        "--target",
        1,
        "--model",
        "sparse-kernel",
        "--budget",
        5,
        "--out",
        tmp_path / "a.mm",
        *cost,
    )
    assert made.code == 0, made.err
    assert run("report", tmp_path / "a.mm", data, "--out", tmp_path / "a.html").code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    check_page(page)
    assert 'id="thresholds"' in page

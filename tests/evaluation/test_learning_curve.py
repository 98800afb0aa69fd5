"""Learning curves and test accuracy along the budget path, on tables with a known answer."""

import numpy as np
import pytest
from support.command_line import running
from support.page_checks import check_page
from support.rings import rings

from maxmargin import io
from maxmargin.evaluation import budget_accuracy, evaluate, learning_curve
from maxmargin.evaluation.refits import growing_sizes, spread
from maxmargin.report import build, page
from maxmargin.training import train


def write(path, n, seed, label):
    """Two numbers on rings, and a label made from the ring and a random generator."""
    table, ring = rings(n, seed)
    rng = np.random.default_rng(seed + 1)
    kind = label(np.asarray(ring) == "in", rng)
    rows = zip(table["east"], [v or 0.0 for v in table["north"]], kind)
    path.write_text("\n".join(["east,north,kind", *(f"{a:.4f},{b:.4f},{k}" for a, b, k in rows)]) + "\n")
    return io.open_source(path, target="kind")


def of_ring(inner, rng):
    return np.where(inner, "in", "out")


def of_chance(inner, rng):
    return np.where(rng.random(len(inner)) < 0.5, "in", "out")


def spirals(path, n, seed):
    """Two spirals of three turns: every doubling of the rows helps."""
    rng = np.random.default_rng(seed)
    t, side = 3.0 * np.sqrt(rng.random(n)), rng.random(n) < 0.5
    angle = 2.0 * np.pi * t + np.pi * side
    rows = zip(t * np.cos(angle), t * np.sin(angle), np.where(side, "in", "out"))
    path.write_text("\n".join(["east,north,kind", *(f"{a:.4f},{b:.4f},{k}" for a, b, k in rows)]) + "\n")
    return io.open_source(path, target="kind")


KERNEL = {"model": "kernel", "parameters": {"C": 100.0, "gamma": 5.0}, "validate": 0.0}


def test_more_rows_of_a_hard_shape_are_likely_to_help(tmp_path):
    old, new = spirals(tmp_path / "a.csv", 300, 0), spirals(tmp_path / "b.csv", 600, 1)
    curve = learning_curve(train(old, **KERNEL).model, old, new)
    assert [point.n_rows for point in curve.points] == [37, 75, 150, 300]
    assert curve.gain_interval[0] > 0.0
    assert curve.text.endswith("more rows are likely to help.")
    assert curve.points[-1].accuracy == evaluate(train(old, **KERNEL).model, new).accuracy
    assert curve.gain == pytest.approx(curve.points[-1].accuracy - curve.points[-2].accuracy)


@pytest.mark.parametrize("label", [of_chance, of_ring])
def test_more_rows_of_noise_and_of_an_easy_shape_are_not_shown_to_help(label, tmp_path):
    old, new = write(tmp_path / "a.csv", 400, 0, label), write(tmp_path / "b.csv", 600, 1, label)
    curve = learning_curve(train(old, **KERNEL | {"parameters": {"C": 1.0}}).model, old, new)
    assert curve.gain_interval[0] <= 0.0
    assert curve.text.endswith("it is not shown that more rows would help.")


def test_more_support_vectors_help_until_the_shape_is_there(tmp_path):
    old, new = write(tmp_path / "a.csv", 400, 0, of_ring), write(tmp_path / "b.csv", 600, 1, of_ring)
    model = train(old, model="sparse-kernel", parameters={"budget": 16, "alpha": 1e-3}, validate=0.0).model
    found = budget_accuracy(model, old, new)
    assert [point.budget for point in found.points] == [1, 2, 4, 8, 16]
    assert found.points[0].accuracy < 0.75 < 0.97 < found.points[-1].accuracy
    assert found.points[-1].accuracy == evaluate(model, new).accuracy
    X, y = (model["table"].transform(next(s.blocks())) for s in (old, new)), next(old.blocks()).target
    first, second = X
    smaller = model["model"].truncate(4, first, y)
    assert found.points[2].accuracy == pytest.approx(smaller.score(second, next(new.blocks()).target))
    assert budget_accuracy(train(old, **KERNEL).model, old, new) is None


@pytest.mark.usefixtures("patient_clock")
def test_auto_is_refitted_with_what_it_chose(tmp_path):
    old, new = write(tmp_path / "a.csv", 160, 0, of_ring), write(tmp_path / "b.csv", 200, 1, of_ring)
    model = train(old, parameters={"max_seconds": 1.0}).model
    curve = learning_curve(model, old, new)
    assert abs(curve.points[-1].accuracy - evaluate(model, new).accuracy) < 0.02


def test_every_first_part_has_every_class():
    labels = np.array(["a"] * 90 + ["b"] * 9 + ["c"])
    order = spread(labels, seed=3)
    assert set(labels[order[:3]]) == {"a", "b", "c"}
    assert sorted(order.tolist()) == list(range(100))
    assert (labels[order[:50]] == "b").sum() in (4, 5, 6)
    assert growing_sizes(30, 250, 7) == [31, 62, 125, 250]
    assert growing_sizes(500, 250, 7) == [250]


def test_commands_and_the_page_show_both(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    old, new = write(tmp_path / "a.csv", 300, 0, of_ring), write(tmp_path / "b.csv", 200, 1, of_ring)
    trained = train(old, model="sparse-kernel", parameters={"budget": 8, "alpha": 1e-3}, validate=0.0)
    io.save(trained.model, "a.mm", record=trained.record)
    run = running(capsys)
    told = run("evaluate", "a.mm", "b.csv", "--learning-curve", "--json").json
    assert [point["n_rows"] for point in told["learning_curve"]["points"]] == [37, 75, 150, 300]
    assert told["budget_accuracy"]["points"][-1]["budget"] == 8
    assert "Learning curve, 200 test rows" in run("evaluate", "a.mm", "b.csv", "--learning-curve").out
    text = page(build(trained.model, trained.record, new, learning_curve=True))
    check_page(text)
    assert "Accuracy against training rows" in text
    assert "Test accuracy against support vectors" in text
    (tmp_path / "a.csv").write_text("east,north,kind\n1,2,in\n")
    failed = run("evaluate", "a.mm", "b.csv", "--learning-curve")
    assert failed.code == 2
    assert "--training FILE" in failed.err
    assert run("report", "a.mm", "b.csv", "--learning-curve").code == 1


def test_rows_that_are_the_training_rows_are_refused(tmp_path, monkeypatch, capsys):
    """Accuracy on rows of the fit rises with their number whatever more rows would bring."""
    monkeypatch.chdir(tmp_path)
    old, new = write(tmp_path / "a.csv", 300, 0, of_ring), write(tmp_path / "b.csv", 200, 1, of_ring)
    (tmp_path / "copy.csv").write_bytes((tmp_path / "b.csv").read_bytes())
    trained = train(old, model="sparse-kernel", parameters={"budget": 8, "alpha": 1e-3}, validate=0.0)
    io.save(trained.model, "a.mm", record=trained.record)
    for measured in (learning_curve, budget_accuracy):
        with pytest.raises(ValueError, match="are both"):
            measured(trained.model, new, new)
    run = running(capsys)
    for data, training in (("b.csv", "./b.csv"), ("copy.csv", "b.csv"), ("a.csv", "a.csv")):
        failed = run("evaluate", "a.mm", data, "--learning-curve", "--training", training)
        assert failed.code == 1
        assert f"are both {data}" in failed.err
        assert "other rows" in failed.err
        assert "--training" in failed.err
    assert run("evaluate", "a.mm", "a.csv", "--learning-curve").code == 1
    assert run("report", "a.mm", "b.csv", "--learning-curve", "--training", "b.csv").code == 1
    assert run("evaluate", "a.mm", "b.csv", "--learning-curve", "--training", "a.csv").code == 0

"""The commands evaluate, compare and path: answers on stdout, remarks on stderr, what is wrong said."""

import json

import numpy as np
import pytest

from maxmargin import io
from maxmargin.cli import main
from maxmargin.evaluation.evaluate import evaluate
from maxmargin.training.from_file import train

NAMES = "size,colour,kind"


def lines(n, seed, ending=""):
    """A table of a number and a word that tell two classes apart, not always."""
    rng = np.random.default_rng(seed)
    big = rng.random(n) < 0.4
    size = np.round(rng.normal(size=n) + 2.0 * big, 3)
    colour = np.where(rng.random(n) < 0.8, np.where(big, "red", "blue"), "green")
    return [f"{s},{c},{'>5' if b else '<=5'}{ending}" for s, c, b in zip(size, colour, big)]


def write(path, rows, header=None):
    path.write_text("\n".join([*([header] if header else []), *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    source = io.open_source(write(folder / "train.csv", lines(300, 0)), names=NAMES.split(","), target="kind")
    trained = train(source, parameters={"budget": 10})
    io.save(trained.model, folder / "kind.mm", record=trained.record)
    return str(folder / "kind.mm")


def run(capsys, *arguments):
    code = main([str(word) for word in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_file_is_read_as_the_training_file_was(model, tmp_path, capsys):
    data = write(tmp_path / "test.csv", lines(120, 1))
    code, out, err = run(capsys, "evaluate", model, data, "--json")
    found = json.loads(out)
    assert (code, found["warnings"], err) == (0, [], "")
    source = io.open_source(data, names=NAMES.split(","), target="kind")
    expected = evaluate(io.load(model), source).as_dict()
    assert {**found, "seconds": 0} == {**found, **expected, "seconds": 0}
    fitted = io.load(model)
    rights = [block.target == fitted.predict(block) for block in source.blocks()]
    assert found["accuracy"] == np.concatenate(rights).mean()


def test_the_answer_for_people_has_accuracy_first(model, tmp_path, capsys):
    data = write(tmp_path / "test.csv", lines(120, 1))
    code, out, err = run(capsys, "evaluate", model, data)
    document = json.loads(run(capsys, "evaluate", model, data, "--json")[1])
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert rows[1][:2] == ["accuracy", f"{100 * document['accuracy']:.2f}"]
    assert ["<=5", *map(str, document["confusion"][0])] in rows
    assert [">5", *map(str, document["confusion"][1])] in rows
    worst = document["mistakes"][0]
    assert any(row[:3] == [str(worst["row"] + 1), worst["label"], worst["predicted"]] for row in rows)
    assert (code, err) == (0, "")


def test_labels_with_dots_are_matched_and_it_is_said(model, tmp_path, capsys):
    plain = write(tmp_path / "plain.csv", lines(120, 1))
    dotted = write(tmp_path / "dotted.csv", lines(120, 1, ending="."))
    expected = json.loads(run(capsys, "evaluate", model, plain, "--json")[1])
    code, out, err = run(capsys, "evaluate", model, dotted, "--json")
    assert (code, err) == (0, "labels matched after dropping '.'\n")
    assert json.loads(out)["accuracy"] == expected["accuracy"]
    assert json.loads(out)["notes"] == ["labels matched after dropping '.'"]
    assert run(capsys, "evaluate", model, dotted, "--quiet")[2] == ""


def test_unknown_labels_are_refused_renamed_or_wrong(model, tmp_path, capsys):
    rows = lines(120, 1)
    mixed = write(tmp_path / "mixed.csv", [f"{rows[0]}.", *rows[1:]])
    code, out, err = run(capsys, "evaluate", model, mixed)
    assert (code, out) == (1, "")
    assert all(part in err for part in ("<=5", "--label OLD=NEW", "--unknown-labels wrong"))
    plain = write(tmp_path / "plain.csv", rows)
    right = json.loads(run(capsys, "evaluate", model, plain, "--json")[1])["accuracy"]
    label = rows[0].rsplit(",", 1)[1]
    code, out, _ = run(capsys, "evaluate", model, mixed, "--json", "--label", f"{label}.={label}")
    assert (code, json.loads(out)["accuracy"]) == (0, right)
    code, out, err = run(capsys, "evaluate", model, mixed, "--json", "--unknown-labels", "wrong")
    assert json.loads(out)["unknown_labels"] == {f"{label}.": 1}
    assert json.loads(out)["accuracy"] <= right
    assert "count as errors" in err
    code, _, err = run(capsys, "evaluate", model, mixed, "--label", "what=ever")
    assert code == 2
    assert "OLD=NEW" in err


def test_words_that_training_had_not_are_counted(model, tmp_path, capsys):
    rows = lines(60, 2)
    strange = write(tmp_path / "strange.csv", ["0.5,mauve,>5", "0.1,mauve,<=5", *rows])
    code, out, err = run(capsys, "evaluate", model, strange, "--json")
    assert code == 0
    assert json.loads(out)["unseen_words"] == {"colour": 2}
    assert "'mauve'" in err


def test_many_classes_are_told_by_their_confusions(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, 400)
    X = 4.0 * rng.normal(size=(20, 5))[y] + 1.5 * rng.normal(size=(400, 5))
    np.savez(tmp_path / "many.npz", X=X, y=y)
    source = io.open_source(tmp_path / "many.npz")
    trained = train(source, model="linear")
    io.save(trained.model, tmp_path / "many.mm", record=trained.record)
    code, out, _ = run(capsys, "evaluate", tmp_path / "many.mm", tmp_path / "many.npz", "--top-k", 2, 7)
    assert code == 0
    assert "Most frequent confusions" in out
    assert "top-2 accuracy" in out
    assert "top-7 accuracy" in out
    assert "true classes down" not in out


def test_models_side_by_side(tmp_path, capsys):
    data = write(tmp_path / "data.csv", lines(200, 3), header=NAMES)
    arguments = ("compare", data, "--target", "kind", "--models", "linear", "sklearn-linear-svc", "top-k")
    code, out, err = run(capsys, *arguments, "--folds", 3, "--json")
    rows = json.loads(out)["models"]
    assert code == 0
    assert [row["name"] for row in rows] == ["linear", "sklearn-linear-svc", "top-k"]
    assert all(len(row["fold_accuracies"]) == 3 and row["n_bytes"] > 0 for row in rows)
    assert [row["gap"] is None for row in rows] == [False, True, False]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    table = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert table["sklearn-linear-svc"][-1] == "-"
    assert "best" in {word for row in table.values() for word in row}
    code, _, err = run(capsys, "compare", data, "--target", "kind", "--models", "svm")
    assert code == 1
    assert "got 'svm'" in err


def test_paths_as_tables_and_pictures(tmp_path, capsys):
    data = write(tmp_path / "data.csv", lines(200, 3), header=NAMES)
    picture = tmp_path / "path.svg"
    code, out, err = run(capsys, "path", data, "--target", "kind", "--budget", 8, "--plot", picture)
    assert code == 0
    assert out.count("<- take") == 1
    assert "held-out" in err
    assert picture.read_text().startswith("<?xml")
    options = ("--target", "kind", "--model", "linear", "--values", 0.1, 1, "--folds", 3)
    code, out, _ = run(capsys, "path", data, *options, "--json")
    found = json.loads(out)
    assert [point["parameters"] for point in found["points"]] == [{"C": 0.1}, {"C": 1.0}]
    assert found["chosen"] in found["points"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--folds", "3"), "does not take --folds"),
        (("--model", "linear", "--budget", "3"), "does not take --budget"),
        (("--plot", "path.txt"), ".svg, .png, .pdf"),
    ],
)
def test_options_that_do_not_go_together(tmp_path, capsys, options, said):
    data = write(tmp_path / "data.csv", lines(20, 3), header=NAMES)
    code, _, err = run(capsys, "path", data, "--target", "kind", *options)
    assert code == 2
    assert said in err

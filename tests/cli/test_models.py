"""From a file to a model to predictions, by the commands train, predict and inspect."""

import contextlib
import csv
import io as text_io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.command_line import Ran, running, write_flowers

from maxmargin import io
from maxmargin.cli import main
from maxmargin.cli.commands.train import model_file
from maxmargin.evaluation.open_like_training import open_like_training

QUICK = ("--model", "sparse-kernel", "--set", "alpha=0.01", "--budget", "12")


@pytest.fixture
def run(capsys):
    return running(capsys)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a table and a model, and what train has said."""
    folder = tmp_path_factory.mktemp("trained")
    write_flowers(folder / "flowers.csv")
    with contextlib.chdir(folder), contextlib.redirect_stdout(text_io.StringIO()) as said:
        assert main(["train", "flowers.csv", "--target", "flower", *QUICK, "--json"]) == 0
    return folder, said.getvalue()


@pytest.fixture
def flowers(trained, tmp_path, monkeypatch):
    """The same in a folder of its own, which is the present one."""
    folder, said = trained
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Ran(0, said, "")


def predicted(text):
    """The predictions of a CSV text, without its head."""
    return [row[0] for row in csv.reader(text_io.StringIO(text))][1:]


def rows_of(path):
    return list(csv.reader(text_io.StringIO(Path(path).read_text(encoding="utf-8"))))


def write_rows(path, rows):
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def test_train_writes_the_model_it_speaks_of(flowers):
    said = flowers.json
    assert said["out"] == "flowers.mm"
    assert said["data"]["n_rows"] == 90
    assert said["given_parameters"] == {"alpha": 0.01, "budget": 12}
    assert said["fit"]["n_support"] <= 12
    assert said["fingerprint"] == io.fingerprint(io.load("flowers.mm"))
    assert said["validation"]["n_rows"] == 18
    record = io.read_record("flowers.mm")
    assert (
        record["command"] == "maxmargin train flowers.csv --target flower "
        "--model sparse-kernel --set alpha=0.01 --budget 12 --json"
    )
    assert record["fingerprint"] == said["fingerprint"]


def test_train_says_the_same_to_people(flowers, run, tmp_path):
    ran = run("train", "flowers.csv", "--target", "flower", *QUICK)
    assert ran.code == 0
    assert f"flowers.mm ({(tmp_path / 'flowers.mm').stat().st_size / 1024:.1f} KiB, replaced)" in ran.out
    assert flowers.json["fingerprint"] in ran.out
    assert "maxmargin evaluate flowers.mm NEW.csv" in ran.out
    assert ran.err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flowers.csv", "flowers.mm"]


def test_without_a_target_the_columns_are_listed(flowers, run):
    ran = run("train", "flowers.csv")
    assert ran.code == 2
    assert "--target flower; the columns are: length, width, place, flower" in ran.err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--model", "kernal"], 1, "Did you mean 'kernel'?"),
        (["--model", "sparse-kernel", "--set", "Gamma=1"], 1, "Did you mean 'gamma'?"),
        (["--set", "gamma"], 1, "name=value"),
        (["--set", "budget=3", "--budget", "4"], 2, "--budget"),
        (["--target", "flowr"], 1, "did you mean 'flower'?"),
        (["--validate", "1.5"], 1, "1.5"),
        (["--format", "xls"], 1, "xls"),
        (
            ["--column-group", "length,with"],
            1,
            "no column 'with' to be in a group. Give names of columns that are",
        ),
        (["--model", "kernel", "--column-group", "length"], 1, "column_groups"),
        (["--set", 'column_groups=[["length"]]', "--column-group", "width"], 2, "--column-group and --set"),
        (["--column-group", "@absent.txt"], 2, "--column-group @absent.txt: absent.txt cannot be read"),
        (["--column-group", '"length, cm",width'], 1, "no column 'length, cm' to be in a group"),
        (["--drop", "@absent.txt"], 2, "--drop @absent.txt"),
    ],
)
def test_what_train_refuses(flowers, run, options, code, said):
    target = [] if "--target" in options else ["--target", "flower"]
    ran = run("train", "flowers.csv", *target, *options, "--out", "other.mm")
    assert ran.code == code
    assert said in ran.err
    assert not Path("other.mm").exists()


def test_groups_of_columns_have_their_weights_in_the_record(run, tmp_path):
    rng = np.random.default_rng(0)
    waves = rng.normal(size=(120, 2)).round(4)
    place = rng.choice(["wood", "field", "shore"], 120)
    y = (np.sin(3.0 * waves).sum(axis=1) + 1.5 * (place == "wood") > 0.5).astype(int)
    rows = [[*x, p, k] for x, p, k in zip(waves, place, y)]
    write_rows(tmp_path / "t.csv", [["left", "right", "place", "y"], *rows])
    options = ["--target", "y", "--set", "cv=3", "--validate", "0", "--out", tmp_path / "t.mm"]
    groups = ["--column-group", "place", "--column-group", "right"]
    ran = run("train", tmp_path / "t.csv", *options, *groups, "--json")
    assert ran.code == 0
    found = ran.json["groups"]
    assert [group["columns"] for group in found] == [["place"], ["right"], ["left"]]
    assert sum(group["weight"] for group in found) == pytest.approx(1.0)
    assert ran.json["parameters"]["column_groups"] == [[2, 3, 4], [1]]
    assert "place); " in run("train", tmp_path / "t.csv", *options, *groups).out


def test_a_malformed_file_is_named_with_its_line(run, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b,y\n1,2,u\n3,v\n4,5,u\n")
    ran = run("train", tmp_path / "bad.csv", "--target", "y", "--out", tmp_path / "bad.mm")
    assert ran.code == 1
    assert "bad.csv" in ran.err
    assert "line 3" in ran.err
    assert not (tmp_path / "bad.mm").exists()


def test_errors_of_readers_name_options(run, tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("a,b,y\n1,2,u\n3,x,v\n4,5,u\n")
    ran = run("train", data, "--target", "y", "--numbers", "b", "--out", tmp_path / "t.mm")
    assert ran.code == 1
    assert "line 3" in ran.err
    assert "--words b" in ran.err
    assert "kinds" not in ran.err
    assert run("train", data, "--target", "y", "--numbers", "b", "--words", "a,b").code == 2
    assert "--names a,b,c" in run("train", data, "--target", "q").err


def test_numbers_can_be_words(run, tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("zip,x,y\n" + "".join(f"{i % 3},{i % 7},{'uv'[i % 3 > 1]}\n" for i in range(60)))
    options = ["--target", "y", "--words", "zip", "--model", "linear", "--out", tmp_path / "t.mm", "--json"]
    ran = run("train", data, *options)
    assert [column["kind"] for column in ran.json["data"]["columns"]] == ["words", "number"]
    assert ran.json["data"]["n_features_out"] == 4
    assert run("evaluate", tmp_path / "t.mm", data, "--json").json["accuracy"] == 1.0


def test_predictions_are_those_of_the_model(flowers, run, tmp_path):
    write_flowers(tmp_path / "new.csv", n=40, seed=1)
    ran = run("predict", "flowers.mm", "new.csv", "--scores", "--probabilities")
    model = io.load("flowers.mm")
    block = io.read_all(io.open_source("new.csv", target="flower"))
    assert (ran.code, ran.err) == (0, "")
    head, *rows = csv.reader(text_io.StringIO(ran.out))
    assert head[0] == "prediction"
    assert head[1:] == [f"{what} {c}" for what in ("score", "probability") for c in model.classes_]
    assert [row[0] for row in rows] == model.predict(block).tolist()
    numbers = np.array([row[1:] for row in rows], dtype=float)
    np.testing.assert_array_equal(numbers[:, :3], model.decision_function(block))
    np.testing.assert_array_equal(numbers[:, 3:], model.predict_proba(block))


def test_predictions_need_no_target_and_no_order_of_columns(flowers, run, tmp_path):
    write_flowers(tmp_path / "new.csv", n=40, seed=1)
    write_rows("turned.csv", [row[2::-1] for row in rows_of("new.csv")])
    expected = predicted(run("predict", "flowers.mm", "new.csv").out)
    assert len(set(expected)) == 3
    assert predicted(run("predict", "flowers.mm", "turned.csv").out) == expected


def test_predictions_in_a_file_and_as_json(flowers, run, tmp_path):
    plain = run("predict", "flowers.mm", "flowers.csv")
    ran = run("predict", "flowers.mm", "flowers.csv", "--out", "p.csv", "--json")
    assert ran.json["rows"] == 90
    assert (tmp_path / "p.csv").read_text() == plain.out
    document = run("predict", "flowers.mm", "flowers.csv", "--json", "--scores").json
    assert [row[0] for row in document["rows"]] == predicted(plain.out)
    assert len(document["columns"]) == len(document["rows"][0]) == 4


def test_a_file_that_does_not_fit_the_model_writes_nothing(flowers, run, tmp_path):
    (tmp_path / "other.csv").write_text("length,place\n1,wood\n")
    ran = run("predict", "flowers.mm", "other.csv", "--out", "p.csv")
    assert (ran.code, ran.out) == (1, "")
    assert "width" in ran.err
    assert run("predict", "flowers.mm", "other.csv").out == ""
    assert not list(tmp_path.glob("*p.csv*"))


def test_a_file_without_header_is_read_as_in_training(run, tmp_path):
    lines = write_flowers(tmp_path / "flowers.csv").read_text().splitlines()[1:]
    (tmp_path / "train.data").write_text("\n".join(lines) + "\n")
    (tmp_path / "columns.txt").write_text("length\nwidth\nplace\nflower\n")
    model, names = tmp_path / "m.mm", f"@{tmp_path / 'columns.txt'}"
    ran = run(
        "train", tmp_path / "train.data", "--names", names, "--target", "flower", *QUICK, "--out", model
    )
    assert ran.code == 0, ran.err
    expected = predicted(run("predict", model, tmp_path / "train.data").out)
    assert (
        predicted(run("predict", model, tmp_path / "flowers.csv", "--header", "--names", "a,b,c,d").out) == []
    )
    write_rows(tmp_path / "new.data", [row[:3] for row in rows_of(tmp_path / "train.data")])
    assert predicted(run("predict", model, tmp_path / "new.data").out) == expected
    assert run("evaluate", model, tmp_path / "train.data", "--json").json["n_rows"] == 90


def test_columns_without_names_keep_their_numbers(run, tmp_path):
    rows = rows_of(write_flowers(tmp_path / "flowers.csv"))[1:]
    for name, order in (("train.csv", [3, 0, 1, 2]), ("new.csv", [0, 1, 2])):
        write_rows(tmp_path / name, [[row[j] for j in order] for row in rows])
    model = tmp_path / "m.mm"
    ran = run("train", tmp_path / "train.csv", "--no-header", "--target", "0", *QUICK, "--out", model)
    assert ran.code == 0, ran.err
    expected = predicted(run("predict", model, tmp_path / "train.csv").out)
    assert len(set(expected)) == 3
    assert predicted(run("predict", model, tmp_path / "new.csv").out) == expected


def test_libsvm_text_and_npz(run, tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((80, 5)) * (rng.random((80, 5)) < 0.7), 3)
    y = np.where(X[:, 0] + X[:, 1] > 0, 2, -1)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for label, row in zip(y, X)
    ]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    np.savez(tmp_path / "a.npz", X_train=X, y_train=y, X_test=X[:30], y_test=y[:30])
    np.savez(tmp_path / "b.npz", X_train=X)
    answers = []
    for file, test in (("a.svm", []), ("a.npz", ["--array", "X_test", "--target", "y_test"])):
        model = tmp_path / f"{file}.mm"
        options = ["--model", "linear", "--set", "C=10", "--out", model, "--json"]
        ran = run("train", tmp_path / file, *options)
        assert ran.code == 0, ran.err
        assert ran.json["data"]["class_counts"].keys() == {"-1", "2"}
        answers.append(predicted(run("predict", model, tmp_path / file).out))
        assert run("evaluate", model, tmp_path / file, *test, "--json").json["accuracy"] > 0.9
    assert answers[0].count("2") == pytest.approx(np.sum(y == 2), abs=5)
    assert predicted(run("predict", tmp_path / "a.npz.mm", tmp_path / "b.npz").out) == answers[1]


def test_another_format_is_told_by_its_ending(flowers, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.read_csv("flowers.csv", na_values="?")
    frame.to_parquet("flowers.parquet")
    frame.to_csv("flowers.tsv", sep="\t", index=False)
    model, record = io.load("flowers.mm"), io.read_record("flowers.mm")
    expected = model.predict(io.read_all(open_like_training("flowers.csv", model, record)))
    for name in ("flowers.parquet", "flowers.tsv"):
        source = open_like_training(name, model, record, with_target=False)
        assert source.target == "flower"
        np.testing.assert_array_equal(model.predict(io.read_all(source)), expected)


def test_inspect_tells_what_the_file_holds(flowers, run):
    said = run("inspect", "flowers.mm", "--json").json
    assert said["estimator"] == "SparseKernelClassifier"
    assert said["fingerprint"] == flowers.json["fingerprint"]
    assert said["classes"] == ["red, dark", 'so "blue"', "white"]
    assert said["parameters"]["budget"] == 12
    assert [c["kind"] for c in said["columns"]] == ["number", "number", "words"]
    assert said["record"]["command"] == json.loads(flowers.out)["command"]
    text = run("inspect", "flowers.mm").out
    for word in (
        "SparseKernelClassifier",
        "standardised",
        "3 indicators",
        said["fingerprint"],
        "flowers.csv",
    ):
        assert word in text


def test_inspect_refuses_what_is_no_model(run, tmp_path):
    (tmp_path / "x.mm").write_bytes(b"PK\x03\x04" + bytes(100))
    ran = run("inspect", tmp_path / "x.mm")
    assert (ran.code, ran.out) == (1, "")
    assert "x.mm" in ran.err


@pytest.mark.parametrize(
    ("data", "model"),
    [("a/adult.data.gz", "adult.mm"), ("x.csv", "x.mm"), ("x.svm.bz2", "x.mm"), ("plain", "plain.mm")],
)
def test_the_model_file_has_the_name_of_the_data(data, model, tmp_path):
    assert str(model_file(tmp_path / data)) == model

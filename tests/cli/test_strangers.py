"""What a stranger to the command line types: the wrong file, delimiter, option or kind of number."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import running, write_flowers

from maxmargin import io
from maxmargin.table.odd_columns import warn_of_odd_columns
from maxmargin.table.preparation import TablePreparation, TableWarning


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where models go without --out
    return running(capsys)


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """A table, and a model of it."""
    from maxmargin.training.from_file import train

    data = write_flowers(tmp_path_factory.mktemp("flowers") / "flowers.csv")
    trained = train(io.open_source(data, target="flower"), parameters={"budget": 5})
    io.save(trained.model, data.with_suffix(".mm"), record=trained.record)
    return data


def table(path, head, row, n=40):
    """``row(i)`` for each of n rows, the last field a class of two."""
    rows = [f"{row(i)}{'ab'[i % 2]}" for i in range(n)]
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def test_rows_of_the_training_are_no_test(run, flowers, tmp_path):
    said = run("evaluate", flowers.with_suffix(".mm"), flowers)
    assert said.code == 0
    assert "warning: " in said.err
    assert "trained on" in said.err
    (warning,) = run("evaluate", flowers.with_suffix(".mm"), flowers, "--json", "--quiet").json["warnings"]
    assert "trained on" in warning
    assert "flowers.csv" in warning
    other = write_flowers(tmp_path / "other.csv", seed=1)
    assert run("evaluate", flowers.with_suffix(".mm"), other, "--json").json["warnings"] == []


@pytest.mark.parametrize("command", [["train"], ["predict", "flowers.mm"], ["compare"], ["path"]])
def test_standard_input_is_refused_with_the_reason(run, flowers, monkeypatch, command):
    monkeypatch.chdir(flowers.parent)
    said = run(*command, "-")
    assert said.code == 2
    assert said.out == ""
    assert "standard input" in said.err
    assert "twice" in said.err


@pytest.mark.parametrize("delimiter", ["|", ":", " "])
def test_another_delimiter_is_suggested(run, tmp_path, delimiter):
    data = table(tmp_path / "piped.csv", delimiter.join("xzy"), lambda i: f"{i}{delimiter}{-i}{delimiter}")
    said = run("train", data, "--target", "y")
    assert said.code == 1
    assert f"--delimiter {delimiter!r}" in said.err
    source = io.open_source(data, target="y", delimiter=delimiter)
    assert [column.name for column in source.columns] == ["x", "z"]


def test_a_wrong_delimiter_is_named(run, tmp_path):
    data = table(tmp_path / "commas.csv", "x,z,y", lambda i: f"{i},{-i},")
    said = run("train", data, "--target", "y", "--delimiter", ";")
    assert said.code == 1
    assert "--delimiter ','" in said.err


def test_kinds_that_the_model_has_are_not_offered_as_an_option(run, flowers, tmp_path):
    text = flowers.read_text(encoding="utf-8").splitlines()
    text[5] = "tall" + text[5][text[5].index(",") :]
    data = tmp_path / "tall.csv"
    data.write_text("\n".join(text) + "\n", encoding="utf-8")
    said = run("predict", flowers.with_suffix(".mm"), data)
    assert said.code == 1
    assert "line 6" in said.err
    assert "'tall'" in said.err
    assert "--words" not in said.err
    assert "trained" in said.err
    said = run("predict", flowers.with_suffix(".mm"), data, "--words", "length")
    assert said.code == 1
    assert "'length'" in said.err
    assert "it was numeric when the model was trained" in said.err


@pytest.mark.parametrize(
    "cell", ["{},234.50", "${}.99", "{} €", "{}%", "1.{}00,5", "£{}", "1'{}00.5", "{},5", "-{},000"]
)
def test_numbers_written_for_people_are_pointed_out(cell):
    table = TablePreparation().fit({"pay": [cell.format(i % 9 + 1) for i in range(40)]})
    with pytest.warns(TableWarning, match="'pay' is read as categorical"):
        warn_of_odd_columns(table)
    warn_of_odd_columns(table, declared={"pay"})  # silent


def test_a_stray_word_among_numbers_is_pointed_out(run, tmp_path):
    data = table(tmp_path / "stray.csv", "x,z,y", lambda i: f"{i},{'unknown' if i == 7 else i * 0.5},")
    (warning,) = run(
        "train", data, "--target", "y", "--model", "sparse-kernel", "--budget", 3, "--json"
    ).json["warnings"]
    assert "--words z" in warning
    assert "'z' is read as categorical" in warning
    assert "'unknown'" in warning
    assert "--missing" in warning


@pytest.mark.parametrize("word", ["a{}", "2024-13-{:02d}", "{}:30", "x{}%", "10.0.0.{}", "{}-{}", "+{} mm"])
def test_words_with_digits_are_words(word):
    warn_of_odd_columns(TablePreparation().fit({"code": [word.format(i % 20, 3) for i in range(40)]}))


def test_long_labels_leave_the_tables_readable(run, tmp_path):
    long = "L" * 300
    data = table(tmp_path / "long.csv", "x,y", lambda i: f"{i % 2 * 3 + i % 7},{long}", n=60)
    assert (
        run(
            "train",
            data,
            "--target",
            "y",
            "--model",
            "sparse-kernel",
            "--budget",
            3,
            "--out",
            tmp_path / "long.mm",
        ).code
        == 0
    )
    other = tmp_path / "other.csv"
    other.write_text(data.read_text(encoding="utf-8") + f"1,{long}a\n", encoding="utf-8")
    said = run("evaluate", tmp_path / "long.mm", other)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) < 200
    assert f"{long}a" in run("evaluate", tmp_path / "long.mm", other, "--json").json["classes"]


def test_a_picture_without_matplotlib_is_refused_before_the_work(run, flowers, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("maxmargin.cli.commands.path._found", lambda *_: pytest.fail("the path was followed"))
    said = run("path", flowers, "--target", "flower", "--plot", tmp_path / "path.svg")
    assert said.code == 2
    assert "pip install 'maxmargin[plots]'" in said.err


def test_an_interrupt_outside_a_command_has_no_traceback(run, monkeypatch):
    def stopped(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("maxmargin.cli.frame.run", stopped)
    said = run("--help")
    assert (said.code, said.out, said.err) == (130, "", "interrupted\n")


def test_no_file_that_is_read_is_written_over(run, flowers):
    model, text = flowers.with_suffix(".mm"), flowers.read_bytes()
    for command in (
        ["train", flowers, "--target", "flower", "--model", "sparse-kernel", "--budget", 3, "--out", flowers],
        ["predict", model, flowers, "--out", flowers],
        ["predict", model, flowers, "--out", model],
        ["report", model, flowers, "--out", flowers.parent / "." / "flowers.csv"],
    ):
        said = run(*command)
        assert said.code == 2
        assert "would be overwritten" in said.err
    assert flowers.read_bytes() == text


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_one_line(flowers, options):
    command = [sys.executable, "-m", "maxmargin", "inspect", flowers.with_suffix(".mm"), *options]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr

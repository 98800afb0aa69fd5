"""``maxmargin report``: from a model file and a data file to a page."""

import hashlib
import json

import pytest
from support.page_checks import check_page
from support.report_samples import fitted, record, source, table, written

from maxmargin import io
from maxmargin.cli.frame.app import run
from maxmargin.report import build, page


@pytest.fixture
def folder(tmp_path):
    train = written(tmp_path, "train.csv", table())
    written(tmp_path, "test.csv", table(seed=1))
    own = record(
        data={"file": "train.csv", "n_rows": 240, "target": "class", "options": source(train).options()}
    )
    io.save(fitted(train), tmp_path / "model.mm", record=own)
    return tmp_path


def test_a_page_is_written_and_its_numbers_told(folder, capsys):
    arguments = ["report", str(folder / "model.mm"), str(folder / "test.csv")]
    assert run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    text = (folder / "model.html").read_text(encoding="utf-8")
    seen = check_page(text)
    assert told["out"] == str(folder / "model.html")
    assert told["rows"] == 240
    share = f"{100 * told['accuracy']:.1f}\u00a0%"
    assert share in seen.words["b"]
    assert f"maxmargin {' '.join(arguments)}" in "".join(seen.words["code"])


def test_the_page_of_a_saved_model_is_that_of_the_model_in_memory(folder):
    path, test = folder / "model.mm", folder / "test.csv"
    model = fitted(folder / "train.csv")
    loaded = build(io.load(path), io.read_record(path), source(test))
    model[-1].history_ = io.load(path)[-1].history_  # clock times differ between two fits
    assert page(loaded) == page(build(model, io.read_record(path), source(test)))


def test_out_training_and_labels(folder, capsys):
    test = folder / "test.csv"
    test.write_text(test.read_text().replace(",yes", ",ja"))
    arguments = ["report", str(folder / "model.mm"), str(test), "--out", str(folder / "page.html")]
    assert run(arguments) == 1
    assert "'ja'" in capsys.readouterr().err
    assert not (folder / "page.html").exists()
    assert run([*arguments, "--label", "ja=yes", "--training", str(folder / "train.csv")]) == 0
    assert "pac-bayes" in (folder / "page.html").read_text(encoding="utf-8")


def test_a_page_to_explore_does_not_replace_the_report(folder, capsys):
    model, test = str(folder / "model.mm"), str(folder / "test.csv")
    assert run(["report", model, test]) == 0
    plain = (folder / "model.html").read_bytes()
    capsys.readouterr()
    for words in (["explore"], ["report", "--explore"]):
        assert run([words[0], model, test, *words[1:], "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["out"] == str(folder / "model-explore.html")
        check_page((folder / "model-explore.html").read_text(encoding="utf-8"), explored=True)
        (folder / "model-explore.html").unlink()
    assert (folder / "model.html").read_bytes() == plain


@pytest.mark.parametrize("words", [["explore"], ["report", "--explore"]], ids=" ".join)
def test_a_page_to_explore_is_the_report_with_a_script(folder, capsys, words):
    command, *options = words
    arguments = [command, str(folder / "model.mm"), str(folder / "test.csv"), *options]
    training = ["--training", str(folder / "train.csv"), "--cost", "false-negative=5"]
    assert run([*arguments, *training, "--out", str(folder / "page.html"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    seen = check_page((folder / "page.html").read_text(encoding="utf-8"), explored=True)
    data = json.loads(seen.scripts[0])
    assert data["rows"]["n_rows"] == told["rows"] == 240
    assert data["threshold"]["costs"] == [1.0, 5.0]
    assert data["columns"]["drift"]["n_columns"] == 3
    assert f"maxmargin {' '.join(arguments)}" in "".join(seen.words["code"])


def test_the_terminal_says_what_the_red_bands_say(folder, capsys):
    """A promise of validation that the rows do not keep, and rows that the model was trained on."""
    path, test = folder / "model.mm", folder / "test.csv"
    promised = io.read_record(path) | {"validation": {"n_rows": 200, "n_errors": 2, "accuracy": 0.99}}
    io.save(fitted(folder / "train.csv"), folder / "broken.mm", record=promised)
    test.write_text(test.read_text().replace(",yes", ",?").replace(",no", ",yes").replace(",?", ",no"))
    assert run(["report", str(folder / "broken.mm"), str(test)]) == 0
    said = capsys.readouterr()
    assert "warning: Not what validation promised: on held-out rows" in said.err
    assert "accuracy" in said.out
    assert run(["explore", str(folder / "broken.mm"), str(test), "--json"]) == 0
    assert "99.0" in json.loads(capsys.readouterr().out)["warnings"][0]
    assert run(["report", str(path), str(test), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    own = promised["data"] | {"sha256": sha256(test), "n_bytes": test.stat().st_size}
    io.save(fitted(folder / "train.csv"), folder / "seen.mm", record=record(data=own))
    assert run(["report", str(folder / "seen.mm"), str(test), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert "memorised" in seen["warnings"][0]
    assert not any("memorised" in text for text in shown["warnings"])


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()

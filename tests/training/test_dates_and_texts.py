"""Dates, free text, encodings and memory through training, model files, prediction and reports."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.command_line import running
from support.page_checks import check_page

from maxmargin import io
from maxmargin.evaluation import evaluate, open_like_training, predictions
from maxmargin.report import build, page
from maxmargin.table.preparation import TableWarning
from maxmargin.training import train
from maxmargin.training.from_file import default_memory_mb

FIRST = datetime.date(2024, 1, 1)
LINEAR = {"model": "linear"}


def columns(n: int, seed: int) -> dict[str, list]:
    """A class that is decided by the weekday and one word of a note; the other columns are noise."""
    rng = np.random.default_rng(seed)
    days = [FIRST + datetime.timedelta(days=int(d)) for d in rng.integers(0, 900, n)]
    weekend = np.array([day.weekday() >= 5 for day in days])
    angry = rng.random(n) < 0.3
    words = ["kiste", "paket", "tür", "größe", "danke"]
    notes = [
        " ".join([*rng.choice(words, 4), "erstattung" if a else "gut", str(k)]) for k, a in enumerate(angry)
    ]
    sizes = rng.lognormal(7.0, 1.0, n)
    return {
        "tag": days,
        "größe": sizes.tolist(),
        "notiz": notes,
        "art": np.where(weekend | angry, "ja", "nein").tolist(),
    }


def write(path, n, seed, encoding="latin-1", form="%d.%m.%Y"):
    table = columns(n, seed)
    lines = ["tag;größe;notiz;art"]
    for day, size, note, kind in zip(*table.values()):
        lines.append(
            f"{day.strftime(form)};{f'{size:,.2f}'.translate(str.maketrans(',.', '.,'))};{note};{kind}"
        )
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def opened(path, **options):
    return io.open_source(path, target="art", **{"encoding": "latin-1", "decimal": ","} | options)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dates")
    return write(folder / "a.csv", 500, 0), write(folder / "b.csv", 300, 1)


def test_the_weekday_and_the_word_that_decide_are_learned(files, tmp_path):
    trained = train(opened(files[0]), model="kernel", validate=0.0)
    data = trained.record["data"]
    assert data["dates"]["tag"][:3] == ["tag: year", "tag: month", "tag: weekday"]
    assert data["texts"]["notiz"] >= 7
    assert data["options"]["encoding"] == "iso8859-1"
    io.save(trained.model, tmp_path / "a.mm", record=trained.record)
    model, record = io.load(tmp_path / "a.mm"), io.read_record(tmp_path / "a.mm")
    found = evaluate(model, open_like_training(files[1], model, record))
    assert found.accuracy > 0.95
    assert not found.notes
    report = build(model, record, open_like_training(files[1], model, record))
    text = page(report)
    check_page(text)
    assert "weights of" in text
    assert "tag: weekday" in text
    assert str(report.support.rows[0].values["tag"])[:2] == "20"


@pytest.mark.parametrize("way", [{"stream": True, "block_rows": 64}, {"memory_mb": 64, "block_rows": 100}])
def test_streams_and_passes_prepare_alike(way, files, monkeypatch):
    if "stream" not in way:
        monkeypatch.setattr("maxmargin.training.from_file.ROWS_MEMORY_SHARE", 1e-6)
    few = {"model": "sparse-kernel", "parameters": {"budget": 5, "alpha": 1e-3}}
    source = opened(files[0])
    trained = train(source, **few, **way)
    whole = train(source, **LINEAR)
    assert trained.model["table"].plans_ == whole.model["table"].plans_
    assert trained.record["fitted_on"] != whole.record["fitted_on"]


def test_predictions_do_not_depend_on_blocks_nor_on_how_dates_are_written(files, tmp_path):
    trained = train(opened(files[0]), **LINEAR)
    wanted = np.concatenate([part.labels for part in predictions(trained.model, opened(files[1]))])
    some = predictions(trained.model, opened(files[1]), batch=37)
    np.testing.assert_array_equal(np.concatenate([part.labels for part in some]), wanted)
    other = write(tmp_path / "iso.csv", 300, 1, form="%Y-%m-%d")
    for table in (pd.DataFrame(columns(300, 1)), pl.DataFrame(columns(300, 1)), next(opened(other).blocks())):
        if not hasattr(table, "features"):
            table = table.drop("art", axis=1) if isinstance(table, pd.DataFrame) else table.drop("art")
        got = trained.model.predict(table)
        assert (got == wanted).mean() > 0.99  # numbers of the file have two digits


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_train_as_files_do(frame):
    table = columns(300, 0)
    trained = train(frame(table), target="art", **LINEAR)
    assert set(trained.record["data"]["dates"]) == {"tag"}
    assert set(trained.record["data"]["texts"]) == {"notiz"}


def test_categories_of_a_frame_stay_categories():
    table = pd.DataFrame(columns(300, 0))
    table["tag"] = table["tag"].astype(str).astype("category")
    assert not train(table, target="art", **LINEAR).record["data"]["dates"]


def test_declared_columns(files):
    source = opened(files[0], kinds={"tag": "words", "notiz": "words"})
    data = train(source, **LINEAR).record["data"]
    assert not data["dates"]
    assert not data["texts"]
    assert train(opened(files[0]), **LINEAR, text=["tag"]).record["data"]["texts"]["tag"] > 12
    with pytest.raises(ValueError, match="no column 'notes' to be read as text"):
        train(opened(files[0]), **LINEAR, text=["notes"])


@pytest.mark.parametrize(
    ("text", "kinds", "problem"),
    [
        ("größe", {}, "'größe' is numeric"),
        ("notiz", {"notiz": "words"}, "'notiz' is declared both as text and as categorical"),
    ],
)
def test_text_that_cannot_be_is_refused(text, kinds, problem, files):
    with pytest.raises(ValueError, match=problem):
        train(opened(files[0], kinds=kinds), **LINEAR, text=[text])


def test_columns_of_parquet_stay_what_they_are_declared(tmp_path):
    table = pd.DataFrame(columns(300, 0))
    table["note"] = table["notiz"].astype("category")
    table.to_parquet(tmp_path / "a.parquet")
    data = train(io.open_source(tmp_path / "a.parquet", target="art"), **LINEAR).record["data"]
    assert (set(data["dates"]), set(data["texts"])) == ({"tag"}, {"notiz"})
    source = io.open_source(tmp_path / "a.parquet", target="art", kinds={"tag": "words", "notiz": "words"})
    data = train(source, **LINEAR).record["data"]
    assert not data["dates"]
    assert not data["texts"]
    source = io.open_source(tmp_path / "a.parquet", target="art")
    assert set(train(source, **LINEAR, text=["note"]).record["data"]["texts"]) == {"note", "notiz"}


def test_dates_of_every_form_order_the_rows(tmp_path):
    written = [
        write(tmp_path / f"{k}.csv", 200, 0, form=form) for k, form in enumerate(["%Y-%m-%d", "%m/%d/%Y"])
    ]
    found = [train(opened(file), **LINEAR, time="tag").record for file in written]
    assert found[0]["split"] == found[1]["split"]
    assert "from 202" in found[0]["split"]["text"]
    assert found[0]["validation"] == found[1]["validation"]
    with pytest.raises(ValueError, match="'notiz' holds neither numbers nor dates"):
        train(opened(written[0]), **LINEAR, time="notiz")


def test_separators_that_may_be_decimal_signs_are_told(tmp_path):
    lines = [
        f"{k % 7}.{100 + k},{k % 3};{k % 7}.{100 + k};{k % 5}.000.000;{k % 2}" for k in range(7, 60) if k % 35
    ]
    lines = [line for line in lines if not line.startswith("0") and ";0." not in line]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["sure;odd;large;art", *lines]))
    with pytest.warns(
        TableWarning, match=r"column 'odd' has numbers with one '.'.*'1.108' is read as 1108"
    ) as told:
        train(io.open_source(path, target="art", decimal=","), **LINEAR)
    assert len(told) == 1
    assert told[0].message.arguments == {"decimal": ".", "kinds": {"odd": "number"}}
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        train(io.open_source(path, target="art", decimal=",", kinds={"odd": "number"}), **LINEAR)


def test_onnx_is_refused_with_the_reason(files):
    pytest.importorskip("onnx")
    with pytest.raises(
        ValueError,
        match=r"categorical columns \(words, dates, text\) cannot be exported.*'tag', 'notiz'",
    ):
        io.to_onnx(train(opened(files[0]), **LINEAR).model)


def test_the_command_line_says_what_became_of_them(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = running(capsys)
    reading = ("--encoding", "latin-1", "--decimal", ",")
    told = run("train", str(files[0]), "--target", "art", "--model", "linear", "--out", "a.mm", *reading)
    words = " ".join(told.out.split())
    assert "dates tag: year, month, weekday, days since 2024-01-" in words
    assert "free text notiz:" in words
    assert "weights of" in run("inspect", "a.mm").out
    assert run("predict", "a.mm", str(files[1])).out.splitlines()[0] == "prediction"
    failed = run("train", str(files[0]), "--target", "art")
    assert "--encoding" in failed.err
    warned = run("train", str(files[0]), "--target", "art", "--model", "linear", "--encoding", "latin-1")
    assert "Give the decimal sign (--decimal ',')" in warned.err


def test_the_default_memory_is_a_share_of_the_machine(monkeypatch, files):
    monkeypatch.setattr("maxmargin.training.from_file.machine_bytes", lambda: 12 * 2**30)
    for available in (7, 11):
        monkeypatch.setattr("maxmargin.training.from_file.available_bytes", lambda n=available: n * 2**30)
        assert default_memory_mb() == 3072
    first = train(opened(files[0]), model="kernel", validate=0.0)
    for available, share in ((5, 2048), (4.1, 2048), (0, 64)):
        monkeypatch.setattr("maxmargin.training.from_file.available_bytes", lambda n=available: n * 2**30)
        assert default_memory_mb() == share
    again = train(opened(files[0]), model="kernel", validate=0.0, memory_mb=1024)
    assert first.record["memory_mb"] == 3072
    assert first.record["fingerprint"] == again.record["fingerprint"]


def test_rows_left_out_name_the_memory_that_would_hold_them(tmp_path, monkeypatch, capsys, files):
    monkeypatch.setattr("maxmargin.training.from_file.ROWS_MEMORY_SHARE", 0.0004)
    monkeypatch.chdir(tmp_path)
    reading = ("--encoding", "latin-1", "--decimal", ",", "--memory", "64", "--model", "kernel")
    told = " ".join(running(capsys)("train", str(files[0]), "--target", "art", *reading).out.split())
    assert "fits in memory (64 MiB); the others are left out, and --memory" in told

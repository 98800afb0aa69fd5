"""The same training again: the same fingerprint, with any number of threads; the date is apart from it."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from support.command_line import running, write_flowers

from maxmargin import io


def fingerprint_with(threads: int, *options: str) -> str:
    """Of a training in a process with so many threads for everything."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MAXMARGIN_NUM_THREADS")
    command = [sys.executable, "-m", "maxmargin", "train", "flowers.csv", *options, "--quiet"]
    environment = os.environ | dict.fromkeys(names, str(threads))
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return io.fingerprint(io.load("flowers.mm"))


@pytest.mark.parametrize("way", [("--stream", "--block-rows", "100"), ()])
def test_threads_and_runs_change_no_bit(way, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_flowers(tmp_path / "flowers.csv", n=300)
    options = (
        "--target",
        "flower",
        "--model",
        "sparse-kernel",
        "--budget",
        "20",
        "--set",
        "alpha=0.001",
        *way,
    )
    assert running(capsys)("train", "flowers.csv", *options).code == 0
    here = io.fingerprint(io.load("flowers.mm"))
    assert fingerprint_with(1 if way else 3, *options) == here


def test_the_date_is_in_the_record_and_not_in_the_fingerprint(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_flowers(tmp_path / "flowers.csv")
    run, options = (
        running(capsys),
        ("--target", "flower", "--model", "sparse-kernel", "--set", "alpha=0.01", "--budget", "5"),
    )
    before = datetime.now(UTC).replace(microsecond=0)
    said = run("train", "flowers.csv", *options, "--json").json
    ended = datetime.fromisoformat(said["date"])
    assert ended.utcoffset() == timedelta(0)
    assert before <= ended <= datetime.now(UTC)
    assert io.read_record("flowers.mm")["date"] == said["date"]
    io.save(io.load("flowers.mm"), "later.mm", record=said | {"date": "2100-01-01T00:00:00+00:00"})
    assert io.fingerprint(io.load("later.mm")) == said["fingerprint"]
    assert run("report", "later.mm", "flowers.csv", "--out", "report.html").code == 0
    assert "2100-01-01" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_sample_is_told_to_people(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.training.from_file.ROWS_MEMORY_SHARE", 0.0002)
    monkeypatch.chdir(tmp_path)
    write_flowers(tmp_path / "flowers.csv", n=900)
    options = (
        "--target",
        "flower",
        "--model",
        "sparse-kernel",
        "--set",
        "alpha=0.01",
        "--budget",
        "5",
        "--memory",
        "64",
        "--sample",
    )
    run = running(capsys)
    kept = run("train", "flowers.csv", *options, "--json").json["data"]["n_rows_kept"]
    assert kept < 600
    told = " ".join(run("train", "flowers.csv", *options).out.split())
    assert f"900, of which a sample of {kept} ({100 * kept / 900:.2g} %) fits in memory" in told
    assert f"a uniform sample of {kept} of 900 rows" in told

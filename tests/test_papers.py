"""Every paper is a test: its quick run, and its stored results, give the numbers that it expects."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

PAPERS = sorted((Path(__file__).parent.parent / "benchmarks" / "papers").glob("*/run.py"))
NO_DATA = 77


def run(paper, *arguments):
    command = [sys.executable, str(paper), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.parent.name)
def test_a_quick_run_gives_what_is_expected(paper, tmp_path):
    done = run(paper, "--quick", "--output", tmp_path)
    if done.returncode == NO_DATA:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report.md").stat().st_size > 0
    assert list(tmp_path.glob("*.png"))


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.parent.name)
def test_the_stored_report_follows_from_the_stored_records(paper, tmp_path):
    stored = paper.parent / "results"
    done = run(paper, "--records", stored / "records.csv", "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report.md").read_text() == (stored / "report.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.parent.name)
def test_a_number_that_is_not_as_expected_is_named(paper, tmp_path):
    with open(paper.parent / "results" / "records.csv", newline="") as file:
        records = list(csv.DictReader(file))
    first = {name: records[0][name] for name in ("set", "method", "budget") if name in records[0]}
    for record in records:
        if first.items() <= record.items():
            record["accuracy"] = "1.0"
    with open(tmp_path / "records.csv", "w", newline="") as file:
        out = csv.DictWriter(file, records[0])
        out.writeheader()
        out.writerows(records)
    done = run(paper, "--records", tmp_path / "records.csv", "--output", tmp_path)
    assert done.returncode == 1
    assert all(value in done.stdout for value in first.values())

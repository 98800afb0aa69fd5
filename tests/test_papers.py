"""Every paper is a test: its quick run, and its stored results, give the numbers that it expects."""

import csv
import runpy
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
PAPERS = sorted((BENCHMARKS / "papers").glob("*/run.py"))
NO_DATA = 77


def run(paper, *arguments):
    command = [sys.executable, str(paper), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.parent.name)
def test_quick_run_gives_what_is_expected(paper, tmp_path):
    done = run(paper, "--quick", "--output", tmp_path)
    if done.returncode == NO_DATA:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report.md").stat().st_size > 0
    assert list(tmp_path.glob("*.png"))


def reported(paper, records, output):
    """The exit status of a report on stored records, made in this process, which has imported most of it."""
    arguments = ["--records", records, "--output", output, "--no-pictures"]
    try:
        with (
            mock.patch.object(sys, "argv", [str(paper), *map(str, arguments)]),
            mock.patch.object(sys, "path", [str(paper.parent), *sys.path]),
        ):
            runpy.run_path(str(paper), run_name="__main__")
    except SystemExit as ended:
        return ended.code
    finally:  # modules of two papers share names
        for name, module in list(sys.modules.items()):
            if BENCHMARKS in Path(getattr(module, "__file__", None) or "/").parents:
                del sys.modules[name]
    return None


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.parent.name)
def test_stored_report_follows_from_the_stored_records(paper, tmp_path):
    stored = paper.parent / "results"
    assert reported(paper, stored / "records.csv", tmp_path) == 0
    assert (tmp_path / "report.md").read_text() == (stored / "report.md").read_text()


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.parent.name)
def test_number_that_is_not_as_expected_is_named(paper, tmp_path, capsys):
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
    assert reported(paper, tmp_path / "records.csv", tmp_path) == 1
    printed = capsys.readouterr().out
    assert all(value in printed for value in first.values())

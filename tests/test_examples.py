"""Every example runs, and prints what it says it prints."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_demo_gives_a_gap_for_each_of_our_models(capsys):
    runpy.run_path(str(EXAMPLES[0].parent / "demo.py"), run_name="__main__")
    lines = [line for line in capsys.readouterr().out.splitlines() if "LinearSVC (" in line]
    gaps = [float(line.split()[-2]) for line in lines]
    assert len(gaps) == 10
    assert max(gaps) <= 1e-4

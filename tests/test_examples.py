"""Every example runs, and prints what it says it prints."""

import contextlib
import functools
import io
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@functools.cache
def output_of(name):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return output.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example_runs(name):
    assert output_of(name)


@pytest.mark.slow
def test_the_demo_gives_a_gap_for_each_of_our_models():
    lines = [line for line in output_of("demo").splitlines() if "LinearSVC (" in line]
    gaps = [float(line.split()[-2]) for line in lines]
    assert len(gaps) == 10
    assert max(gaps) <= 1e-4

"""Every example runs, and prints what it says it prints."""

import contextlib
import functools
import io
import runpy
import sys
import tempfile
from pathlib import Path
from unittest import mock

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
ARGUMENTS = {"few_support_vectors": ["--quick"]}  # small digits: MNIST takes minutes


@functools.cache
def output_of(name):
    """What the example prints, run in a folder of its own."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.enter_context(mock.patch.object(sys, "argv", [name, *ARGUMENTS.get(name, [])]))
        output = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return output.getvalue()


TESTED_BELOW = {"demo", "formulations", "splice"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({path.stem for path in EXAMPLES.glob("*.py")} - TESTED_BELOW))
def test_example_runs(name):
    assert output_of(name)


@pytest.mark.slow
def test_the_demo_gives_a_gap_for_each_of_our_models():
    lines = [line for line in output_of("demo").splitlines() if "LinearSVC (" in line]
    gaps = [float(line.split()[-2]) for line in lines]
    assert len(gaps) == 10
    assert max(gaps) <= 1e-4


@pytest.mark.slow
def test_the_demo_keeps_its_budgets_and_gives_a_gap_for_each_of_them():
    lines = [line.split() for line in output_of("demo").splitlines() if "its first" in line]
    assert [int(line[-3]) for line in lines] == [100, 50, 25, 10]
    assert max(float(line[-2]) for line in lines) <= 1e-3


@pytest.mark.slow
def test_the_demo_gives_a_gap_for_the_exact_kernel_svm():
    (line,) = [line.split() for line in output_of("demo").splitlines() if "KernelSVC(" in line]
    assert float(line[-2]) <= 1e-3


@pytest.mark.slow
def test_all_formulations_are_drawn_with_their_gaps():
    lines = [line for line in output_of("formulations").splitlines() if "points pull" in line]
    assert len(lines) == 12
    assert all(abs(float(line[40:].split()[0])) <= 1e-6 for line in lines[:8])
    by_name = {line[:28].strip(): line for line in lines}
    assert all(by_name[name].endswith(", 0)") for name in ("Lasso", "L1 SVM"))  # one weight is exactly 0
    image = Path(output_of("formulations").splitlines()[-1].removeprefix("drawn: "))
    assert image.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_splice_sites_are_found_by_a_hundred_sequences(dataset):
    dataset("splice_seq")
    fitted = next(line for line in output_of("splice").splitlines() if "fitted" in line)
    accuracy, n_support, gap, _ = (float(cell) for cell in fitted.split()[-4:])
    assert n_support == 100
    assert gap <= 1e-3
    assert accuracy > 0.93


def test_without_data_the_splice_example_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    runpy.run_path(str(EXAMPLES / "splice.py"), run_name="__main__")
    assert "MAXMARGIN_DATA" in capsys.readouterr().out

"""What every paper's ``run.py`` does: measure, keep records, report, draw, compare with ``expected.toml``.

The report is a function of the records alone, so that an earlier run can be reported on again.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import expectation
from record_file import RecordFile

NO_DATA = 77  # what test programs return where they cannot run


@dataclass(frozen=True)
class Paper:
    """What a reproduction is made of.

    ``measure(options, keep)`` measures, and may call ``keep(records)`` as often as it likes: the last call
    counts. ``conclude(records, variant)`` is what the records say, ``draw(records, folder)`` makes PNG files.
    """

    folder: Path  # of run.py
    about: str  # the docstring of run.py
    files: tuple  # of the data: names without .npz
    records: RecordFile
    measure: Callable
    conclude: Callable
    draw: Callable
    head: str  # the comment at the top of expected.toml
    quick: str = "few rows of some sets: seconds"
    add_options: Callable = lambda parser: None


@dataclass(frozen=True)
class Conclusion:
    """The report as Markdown, ``Value``s by table and cell, and one line for the terminal."""

    report: str
    values: dict
    said: str


def data_folder(files):
    """Where the data are, or None where one of these files is not there."""
    path = os.environ.get("MAXMARGIN_DATA")
    there = path and all((Path(path) / f"{file}.npz").is_file() for file in files)
    return Path(path) if there else None


def run(paper):
    """The exit status: 0 where all is as in expected.toml, 1 where a cell is not, 77 without data."""
    options = _options(paper)
    if options.records is None and data_folder(paper.files) is None:
        needed = ", ".join(f"{file}.npz" for file in sorted(set(paper.files)))
        print(f"MAXMARGIN_DATA names no folder with {needed}", file=sys.stderr)
        return NO_DATA
    output = options.output or paper.folder / "results"
    output.mkdir(parents=True, exist_ok=True)
    kept = output / "records.csv"
    if options.records is None:
        start = time.perf_counter()
        paper.measure(options, lambda records: paper.records.write(records, kept))
        print(f"measured in {time.perf_counter() - start:.0f} seconds", file=sys.stderr)
    # Read back even if just measured: the report is a function of the file.
    records = paper.records.read(options.records or [kept])
    paper.records.write(records, kept)
    return _report(paper, records, options, output)


def _report(paper, records, options, output):
    variant = "quick" if options.quick else "full"
    file = paper.folder / "expected.toml"
    concluded = paper.conclude(records, variant)
    (output / "report.md").write_text(concluded.report, encoding="utf-8")
    if not options.no_pictures:
        paper.draw(records, output)
    if options.update:
        expectation.update(concluded.values, variant, file, paper.head)
    wrong = expectation.failures(concluded.values, variant, file)
    print(f"{paper.folder.name} ({variant}): {concluded.said}; report in {output}/report.md")
    print("\n".join([f"{len(wrong)} cells are not as expected:", *wrong]) if wrong else "all as expected")
    return 1 if wrong else 0


def _options(paper):
    parser = argparse.ArgumentParser(description=paper.about.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=paper.quick)
    parser.add_argument("--records", type=Path, nargs="+", help="report on earlier runs, the last one counts")
    parser.add_argument("--update", action="store_true", help="make this run's numbers the expected ones")
    parser.add_argument("--output", type=Path, help="folder for the report (results/ beside run.py)")
    parser.add_argument("--no-pictures", action="store_true", help="the report and the comparison only")
    paper.add_options(parser)
    return parser.parse_args()

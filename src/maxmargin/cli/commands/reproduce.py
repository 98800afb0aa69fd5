"""``maxmargin reproduce``: a paper's numbers measured again, and compared with those that are on record."""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..frame import EXIT_FAILED, EXIT_OK, Show, UsageError

NO_DATA = 77  # what a paper's run.py returns where its data are not there


def reproduce(
    paper: Annotated[
        str | None, Parameter(help="The paper; without one, list them.", show_default=False)
    ] = None,
    /,
    *,
    quick: Annotated[
        bool, Parameter(help="Few rows of some data sets: seconds instead of minutes.", show_default=False)
    ] = False,
    out: Annotated[Path | None, Parameter(help="Folder for the report [build/papers/PAPER].")] = None,
    show: Show = Show(),  # noqa: B008
) -> int:
    """Measure a paper's numbers again and compare them with those on record.

    The papers are in benchmarks/papers of a clone of the repository, not in the installed package.
    """
    papers = _papers()
    if paper is None:
        names = sorted(papers)
        show.answer({"papers": names}, "\n".join(names))
        return EXIT_OK
    if paper not in papers:
        raise UsageError(
            f"paper {paper!r} not found; the papers are {', '.join(sorted(papers))}.{near(paper, papers)}"
        )
    folder = out or Path("build/papers") / paper
    command = [sys.executable, str(papers[paper] / "run.py"), "--output", str(folder)]
    code, said = _answer_of([*command, *(["--quick"] if quick else [])], quiet=show.quiet)
    if code == NO_DATA:
        raise ValueError(f"{paper} needs data sets: set MAXMARGIN_DATA to the folder that has them")
    report = folder / "report.md"
    document = {"paper": paper, "quick": quick, "as_expected": code == 0, "said": said, "report": report}
    show.answer(document, *said, f"report: {report}")
    return EXIT_OK if code == 0 else EXIT_FAILED


def _papers() -> dict[str, Path]:
    """Folders of papers by name, of the clone that this is run in or that this module is in."""
    for root in _clones():
        if found := {run.parent.name: run.parent for run in root.glob("benchmarks/papers/*/run.py")}:
            return found
    raise ValueError(
        "the papers are not part of the installed package: run this in a clone of maxmargin's repository, "
        "which has them in benchmarks/papers"
    )


def _clones() -> Iterator[Path]:
    here = Path.cwd()
    yield from (here, *here.parents)
    yield from Path(__file__).resolve().parents[3:5]


def _answer_of(command: list[str], *, quiet: bool) -> tuple[int, list[str]]:
    """Run it, its remarks going to standard error or nowhere; its exit code and what it answered."""
    stderr = subprocess.DEVNULL if quiet else None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def near(name: str, names: Iterable[str]) -> str:
    """ " Did you mean 'x'?" where one of the names is alike, else nothing."""
    found = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""

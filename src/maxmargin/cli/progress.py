"""A line about work under way, on standard error: how far, the current gap, the time left.

There is none where standard error is no terminal, nor with ``--quiet``: logs stay short.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .output import Show

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """The line; telling it something is cheap, and does nothing where nobody looks."""

    def __init__(self, progress: Progress | None):
        self._progress = progress
        self._task = None if progress is None else progress.add_task("", total=None, remark="")

    def tell(
        self, what: str, done: float | None = None, total: float | None = None, remark: str = ""
    ) -> None:
        """What is being done, how much of it is done, of how much in all if that is known."""
        if self._progress is not None and self._task is not None:
            self._progress.update(
                self._task, description=what, completed=done or 0.0, total=total, remark=remark
            )

    def start(self, what: str) -> None:
        """A new piece of work: its clock starts."""
        if self._progress is not None and self._task is not None:
            self._progress.reset(self._task, description=what, total=None, remark="")


@contextmanager
def bar(show: Show) -> Iterator[Bar]:
    """A bar that is on the screen within, if there is a screen."""
    if show.quiet or not sys.stderr.isatty():
        yield Bar(None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[remark]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        yield Bar(progress)


class FitProgress:
    """A callback of fits that shows the gap, and how much of the way to the tolerance is behind.

    The gap of a certified solver falls about evenly on a logarithmic scale, and support vectors under a
    budget are added one after another: the further of the two is the share that is shown.

    Parameters
    ----------
    line : Bar
    tol : float
        The gap at which the fit ends.
    budget : int, optional
        How many support vectors it may have.
    """

    def __init__(self, line: Bar, tol: float = 1e-3, budget: int | None = None):
        self._line = line
        self._tol = tol
        self._budget = budget
        self._first: dict[int, float] = {}  # of each column's solver, by its state
        self._share: dict[int, float] = {}
        self._gap: dict[int, float] = {}

    def __call__(self, check: Any, state: Any) -> bool:
        """Show one certificate; never stops the fit."""
        key = id(state)
        first = self._first.setdefault(key, max(check.gap, self._tol))
        self._gap[key] = check.gap
        self._share[key] = max(self._share.get(key, 0.0), self._way(first, check))
        share = sum(self._share.values()) / len(self._share)
        remark = f"gap {max(self._gap.values()):.1e}"
        if check.n_support:
            remark += f", {check.n_support} support vectors"
        self._line.tell("training", share, 1.0, remark)
        return False

    def _way(self, first: float, check: Any) -> float:
        if self._budget:
            return min(check.n_support / self._budget, 1.0)
        if not 0.0 < check.gap < math.inf or first <= self._tol or not math.isfinite(first):
            return 0.0
        return min(max(math.log(first / check.gap) / math.log(first / self._tol), 0.0), 1.0)

"""A line about work under way, on standard error: how far, the current gap, the time left.

Shown only where standard error is a terminal, and not with ``--quiet``: logs stay short.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .output import Show
from .remaining import RemainingTime

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """The line; an update is cheap, and does nothing without a terminal."""

    def __init__(self, progress: Progress | None):
        self._progress = progress
        self._left: Callable[[], float | None] | None = None
        self._task = None if progress is None else progress.add_task("", total=None, remark="", left=None)

    def tell(
        self, what: str, done: float | None = None, total: float | None = None, remark: str = ""
    ) -> None:
        """What is being done, how much of it is done, of how much in all if that is known."""
        if self._progress is not None and self._task is not None:
            self._progress.update(
                self._task, description=what, completed=done or 0.0, total=total, remark=remark
            )

    def count_down(self, left: Callable[[], float | None]) -> None:
        """Show these seconds as the time left, instead of what the speed so far says."""
        self._left = left
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, left=left)

    def start(self, what: str) -> None:
        """A new piece of work: its clock starts."""
        if self._progress is not None and self._task is not None:
            self._progress.reset(self._task, description=what, total=None, remark="", left=self._left)


@contextmanager
def bar(show: Show) -> Iterator[Bar]:
    """A bar that is on the screen within, if there is a screen."""
    if show.quiet or not sys.stderr.isatty():
        yield Bar(None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            left = task.fields["left"]
            return Text(time_text(task.time_remaining if left is None else left()))

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[remark]}", markup=False),
        TextColumn("left:"),
        TimeLeft(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        yield Bar(progress)


def time_text(seconds: float | None) -> str:
    """``1:02:03``; dashes where nothing is known, and never 0:00:00 while there is work."""
    if seconds is None or not math.isfinite(seconds):
        return "-:--:--"
    whole = max(1, math.ceil(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


WORDS = {
    "read": "reading",
    "gather": "reading",
    "choose": "choosing",
    "fit": "training for validation",
    "learn": "training",
    "validate": "validating",
    "refit": "training on all rows",
}


class TrainingProgress:
    """Shows the progress of a training: the phase, how far it is, the current gap.

    The gap of a certified solver falls about evenly on a logarithmic scale, so that the way from the first
    gap to the tolerance says how much is done where nothing is counted.
    """

    def __init__(self, line: Bar, tol: float = 1e-3, validate: float = 0.0):
        self._line = line
        self._remaining = RemainingTime(validate)
        if hasattr(line, "count_down"):
            line.count_down(self._remaining.left)
        self._tol = tol
        self._phase = ""
        self._first = 1.0

    def __call__(self, event: Any) -> None:
        """Show one event."""
        what = WORDS.get(event.phase, event.phase)
        self._remaining.see(event)
        if event.phase != self._phase:
            self._phase, self._first = event.phase, 1.0
            self._line.start(what)
        if event.passes is not None:
            self._line.tell(what, event.done, None, f"pass {event.passes}, {event.done:,} blocks")
            return
        if event.gap is None and event.share is not None:
            self._line.tell(what, event.share, 1.0, "comparing candidates")
            return
        if event.gap is None:
            self._line.tell(what, event.done, event.total, f"{event.done:,} rows")
            return
        remark = f"gap {event.gap:.1e}"
        if event.total:
            self._line.tell(what, event.done, event.total, f"{event.done} support vectors, {remark}")
        else:
            share = self._way(event.gap, event.tol or self._tol) if event.share is None else event.share
            self._line.tell(what, share, 1.0, remark)

    def _way(self, gap: float, tol: float) -> float:
        if not 0.0 < gap < math.inf:
            return 0.0 if gap > 0.0 else 1.0
        self._first = max(self._first, gap)
        return min(max(math.log(self._first / gap) / math.log(self._first / tol), 0.0), 1.0)

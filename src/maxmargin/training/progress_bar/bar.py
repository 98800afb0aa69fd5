"""The line itself: on standard error where that is a terminal, below the cell in a notebook, else nowhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Bar", "shown_bar", "time_text"]

SECONDS_BETWEEN_PICTURES = 0.2  # of a notebook, each of which is a message to the browser


class Bar:
    """The line; an update is cheap, and does nothing where there is nothing to show it."""

    def __init__(self, progress: Progress | None, changed: Callable[[], object] = lambda: None):
        self._progress = progress
        self._changed = changed
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
            self._changed()

    def count_down(self, left: Callable[[], float | None]) -> None:
        """Show these seconds as the time left, instead of what the speed so far says."""
        self._left = left
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, left=left)

    def start(self, what: str) -> None:
        """A new piece of work: its clock starts."""
        if self._progress is not None and self._task is not None:
            self._progress.reset(self._task, description=what, total=None, remark="", left=self._left)
            self._changed()


@contextmanager
def shown_bar() -> Iterator[Bar]:
    """A bar that is on the screen within: that of a notebook or of a terminal, if there is one."""
    if in_notebook():
        yield from _in_notebook()
    elif sys.stderr.isatty():
        with _progress() as progress:
            yield Bar(progress)
    else:
        yield Bar(None)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this."""
    running = sys.modules.get("IPython")
    shell = None if running is None else running.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _in_notebook() -> Iterator[Bar]:
    """Pictures of the bar, one replacing the other; the last one leaves nothing. No widgets are needed."""
    from IPython.display import display

    progress = _progress(disable=True)  # which only keeps the numbers
    place = display(progress, display_id=True)
    shown = time.monotonic()

    def changed() -> None:
        nonlocal shown
        if time.monotonic() - shown >= SECONDS_BETWEEN_PICTURES:
            place.update(progress)
            shown = time.monotonic()

    try:
        yield Bar(progress, changed)
    finally:
        place.update({"text/plain": "", "text/html": ""}, raw=True)


def _progress(disable: bool = False) -> Progress:
    try:
        from rich.console import Console
    except ModuleNotFoundError as absent:
        raise ModuleNotFoundError("a progress bar needs rich: pip install 'maxmargin[cli]'") from absent
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            left = task.fields["left"]
            return Text(time_text(task.time_remaining if left is None else left()))

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[remark]}", markup=False),
        TextColumn("left:"),
        TimeLeft(),
        console=Console(stderr=True),
        transient=True,
        disable=disable,
    )


def time_text(seconds: float | None) -> str:
    """``1:02:03``; dashes where nothing is known, and never 0:00:00 while there is work."""
    if seconds is None or not math.isfinite(seconds):
        return "-:--:--"
    whole = max(1, math.ceil(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"

"""A training shown: its phase, how far that is, the gap, and the time left."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

from .bar import Bar, shown_bar
from .remaining import RemainingTime

__all__ = ["ProgressBar", "TrainingProgress"]

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


class ProgressBar:
    """A line about a training under way, in a terminal or a notebook: a callback of :func:`train`.

    It is a context manager: the line is there within, and leaves nothing behind. Where there is neither a
    terminal nor a notebook it shows nothing. Needs ``pip install 'maxmargin[cli]'``.

    Parameters
    ----------
    validate : float, default=0.2
        The share of rows that the training holds out, 0 with ``refit=False``: the time left includes the
        fit to all rows, which comes after the one to the others.

    Examples
    --------
    >>> kinds = ["high" if k % 10 > 4 or k % 13 == 0 else "low" for k in range(200)]
    >>> table = {"width": [k % 10 for k in range(200)], "noise": [k % 7 for k in range(200)], "kind": kinds}
    >>> from maxmargin.training import ProgressBar, train
    >>> with ProgressBar() as shown:
    ...     model = train(table, target="kind", model="linear", callback=shown).model
    >>> model.predict({"width": [2.0, 9.0], "noise": [3.0, 3.0]}).tolist()
    ['low', 'high']
    """

    def __init__(self, validate: float = 0.2) -> None:
        self.validate = validate
        self._open = ExitStack()
        self._shown: TrainingProgress | None = None

    def __enter__(self) -> ProgressBar:
        self._shown = TrainingProgress(self._open.enter_context(shown_bar()), validate=self.validate)
        return self

    def __exit__(self, *error: object) -> None:
        self._shown = None
        self._open.close()

    def __call__(self, event: Any) -> None:
        """Show one event.

        Parameters
        ----------
        event : Progress
        """
        if self._shown is not None:
            self._shown(event)

"""Fits whose time runs out at a chosen moment, whatever the clock says."""

import pytest

from maxmargin.solving import Deadline

__all__ = ["Cuts"]


class Cuts:
    """Remembers the deadlines at work, and cuts the outermost one on request."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at_work: list[Deadline] = []
        enter, leave = Deadline.__enter__, Deadline.__exit__

        def entered(deadline: Deadline) -> Deadline:
            self.at_work.append(deadline)
            return enter(deadline)

        def left(deadline: Deadline, *error: object) -> None:
            self.at_work.remove(deadline)
            leave(deadline, *error)

        monkeypatch.setattr(Deadline, "__enter__", entered)
        monkeypatch.setattr(Deadline, "__exit__", left)

    def cut(self) -> None:
        """The time is up, and the grace too."""
        for deadline in self.at_work:
            deadline.cut()

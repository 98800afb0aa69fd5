"""A change of the chosen trial, accepted only if the held-out loss falls clearly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from .candidates import Trial
from .choice import Judge, paired
from .search import Found

__all__ = ["Attempt", "TriedChange", "best_of", "change_line", "change_words", "not_tried_line", "unscored"]


@dataclass(frozen=True)
class TriedChange:
    """The changed trial, by how much its held-out loss is lower, and the standard error of that."""

    trial: Trial
    gain: float
    standard_error: float

    @property
    def accepted(self) -> bool:
        """Whether the held-out loss fell by more than a standard error."""
        return self.gain > self.standard_error


Change = TypeVar("Change", bound=TriedChange)


@dataclass(frozen=True)
class Attempt(Generic[Change]):
    """What was tried, and what the clock has cut; nothing of both where it was not wanted or too dear."""

    tried: Change | None = None
    cut: str = ""

    @property
    def words(self) -> str:
        """What was not tried, as a sentence."""
        return f" Not tried: {self.cut}, as the time was up." if self.cut else ""

    def lines(self, found: Found) -> list[dict[str, Any]]:
        """The line of the table about what was not tried."""
        return [not_tried_line(found, self.cut)] if self.cut else []


def unscored(trial: Trial, **changes: Any) -> Trial:
    """A changed trial that has not been scored on any row."""
    return replace(trial, scores=np.full_like(trial.scores, np.nan), n_support=0, gap=0.0, **changes)


def best_of(changed: Sequence[Trial], plain: Trial, judge: Judge) -> tuple[int, float, float] | None:
    """The best of several changed trials on the rows held out so far, its gain and standard error.

    The best has the least sum of 0-1 error and log loss, the gain is that of the error.
    """
    done = np.isfinite(changed[0].scores)
    before, weight = judge.losses(replace(plain, scores=np.where(done, plain.scores, np.nan)))
    if len(before) == 0 or any(len(judge.losses(trial)[0]) != len(before) for trial in changed):
        return None
    losses = np.array([before, *(judge.losses(trial)[0] for trial in changed)])
    best = int(np.argmin(np.array([judge.sums(trial) for trial in changed]) @ weight))
    means, errors = paired(losses, 0, weight)
    return best, -float(means[1 + best]), float(errors[1 + best])


def change_words(what: str, tried: TriedChange | None, how: str = "") -> str:
    """What became of it, as a sentence, and how it was done; nothing where it was not tried."""
    if tried is None:
        return ""
    if tried.gain == 0.0:
        gain = "it does not change the held-out loss"
    else:
        change = f"{'lowers' if tried.gain > 0.0 else 'raises'} the held-out loss by {abs(tried.gain):.4f}"
        gain = f"it {change}, standard error {tried.standard_error:.4f}"
        if tried.gain > tried.standard_error and not tried.accepted:
            gain += ", but not the sum of error and log loss by its standard error"
    return f" {what} is {'accepted' if tried.accepted else 'rejected'}: {gain}{how and f' ({how})'}."


def not_tried_line(found: Found, name: str) -> dict[str, Any]:
    """The line of the table about something that there was no time for."""
    numbers = dict.fromkeys(("loss", "difference", "standard_error", "dual_gap"), np.nan)
    none = {"candidate": name, "n_rows": 0, "gamma": None, "C": None, "n_support": 0} | numbers
    return found.table[0] | none | {"outcome": "not tried"}


def change_line(found: Found, tried: TriedChange, **changes: Any) -> dict[str, Any]:
    """The line of the table about it, with some changes; if it is accepted, it is the chosen one."""
    chosen = next(line for line in found.table if line["outcome"] == "chosen")
    candidate = tried.trial.candidate
    if tried.accepted:
        chosen["outcome"] = "behind"
    return (
        chosen
        | {
            "candidate": str(candidate),
            "kernel": candidate.kernel,
            "code": candidate.code,
            "columns": candidate.view,
            "budget": candidate.budget,
            "gamma": tried.trial.gamma,
            "C": None if candidate.budget is not None else tried.trial.value,
            "loss": float(chosen["loss"] - tried.gain),
            "difference": float(chosen["difference"] - tried.gain),
            "standard_error": tried.standard_error,
            "n_support": tried.trial.n_support,
            "dual_gap": tried.trial.gap,
            "outcome": "chosen" if tried.accepted else "behind",
        }
        | changes
    )

"""What is tried on the chosen trial before it is fitted to all rows.

The ramp loss first; then kernels of groups of columns, where groups are given; then a learned metric of the
one kernel of all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._native import is_sparse
from ..solving import Deadline, until_cut
from .candidates import Trial
from .choice import Judge, sentence
from .cost import OPERATIONS_PER_SECOND
from .groups import GroupsResult, try_groups
from .metric import MAX_FULL_COLUMNS, METRICS, Metric, MetricFits, learn_metric
from .ramp import ramp_cost, try_ramp
from .search import Found
from .tried_change import Attempt, TriedChange, change_line, change_words

__all__ = ["Refined", "refine"]

OPERATIONS_SHARE = 0.1  # of what max_seconds has room for, for each refinement
TIME_SHARE = 0.4  # of the time that is left


@dataclass(frozen=True)
class Refined:
    """The trial to fit, what was tried on it, and how a metric is learned for it."""

    trial: Trial
    judge: Judge
    ramp: Attempt[TriedChange]
    groups: GroupsResult
    metric: Attempt[Metric]
    fits: MetricFits

    def words(self, found: Found) -> str:
        """What was chosen, over what, and what became of the refinements."""
        ramp, metric = self.ramp.tried, self.metric.tried
        what, how = ("", "") if metric is None else (f"A {metric.name}", metric.how)
        return (
            sentence(found.trials, found.choice, found.judge, found.n_rows)
            + (change_words("The ramp loss", ramp) if ramp is not None and ramp.accepted else "")
            + self.ramp.words
            + self.groups.words(found)
            + change_words(what, metric, how)
            + self.metric.words
        )

    @property
    def in_time(self) -> bool:
        """Whether the clock has cut none of them."""
        return self.groups.in_time and not self.ramp.cut and not self.metric.cut

    def at(self, trial: Trial) -> Refined:
        """The same with the trial of the metric as it is fitted to all rows, whose gamma it has."""
        assert self.metric.tried is not None
        return replace(self, metric=replace(self.metric, tried=replace(self.metric.tried, trial=trial)))

    @property
    def group_weights(self) -> np.ndarray | None:
        """The weight of each group, 0 for one without columns; None where one kernel was chosen."""
        groups = self.trial.candidate.groups
        return None if groups is None else np.array(groups.weights)

    def lines(self, found: Found) -> list[dict[str, Any]]:
        """The table of candidates with the lines of the refinements."""
        ramp, metric = self.ramp.tried, self.metric.tried
        if ramp is not None:
            found.table.append(change_line(found, ramp))
        found.table += self.ramp.lines(found)
        found.table += self.groups.lines(found)
        if metric is not None:
            gamma = metric.trial.gamma if metric.accepted else None  # else only folds have one, each its own
            name = f"{metric.trial.candidate}, {metric.name} ({metric.how})"
            line = change_line(found, metric, candidate=name, columns=metric.name, gamma=gamma)
            found.table.append(line)
        found.table += self.metric.lines(found)
        return found.table


def refine(
    found: Found,
    kind: str | None,
    columns: Sequence[tuple[int, ...]],
    common: dict[str, Any],
    max_seconds: float,
    deadline: Deadline,
    with_ramp: bool = True,
) -> Refined:
    """Try the refinements that are wanted, possible and within their share of operations and time."""
    limit = OPERATIONS_SHARE * max_seconds * OPERATIONS_PER_SECOND
    trial = found.trials[found.choice.chosen]
    ramp = _ramp(trial, found, common, limit, deadline) if with_ramp else Attempt()
    if ramp.tried is not None and ramp.tried.accepted:
        trial = ramp.tried.trial
    fits = MetricFits(trial, common)
    groups = _groups(trial, found, columns, common, limit, deadline)
    tried = groups.tried
    if tried is not None and tried.accepted:
        return Refined(tried.trial, tried.judge, ramp, groups, Attempt(), fits)
    fits, metric = _metric(fits, found, kind, limit, deadline)
    return Refined(trial, found.judge, ramp, groups, metric, fits)


def _groups(
    trial: Trial,
    found: Found,
    columns: Sequence[tuple[int, ...]],
    common: dict[str, Any],
    limit: float,
    deadline: Deadline,
) -> GroupsResult:
    if not columns:
        return GroupsResult()
    with deadline.nested(TIME_SHARE) as until, until_cut(until), suppress(TimeoutError):
        return try_groups(trial, found, columns, common, limit)
    return GroupsResult(not_tried="a sum of kernels, as the time was up", in_time=False)


def _ramp(
    trial: Trial, found: Found, common: dict[str, Any], limit: float, deadline: Deadline
) -> Attempt[TriedChange]:
    if ramp_cost(trial, found.judge) > limit:
        return Attempt()
    with deadline.nested(TIME_SHARE) as until, until_cut(until), suppress(TimeoutError):
        return Attempt(try_ramp(trial, found.judge, common, until))
    return Attempt(cut="ramp loss")


def _metric(
    fits: MetricFits, found: Found, kind: str | None, limit: float, deadline: Deadline
) -> tuple[MetricFits, Attempt[Metric]]:
    """What a metric does on the held-out rows; nothing where it is not wanted, not possible or too dear."""
    candidate, sample = fits.trial.candidate, found.judge.sample
    X = sample.views[candidate.view]
    if kind is None or candidate.is_linear or candidate.budget is not None or is_sparse(X) or X.shape[1] < 2:
        return fits, Attempt()
    kinds = tuple(k for k in METRICS[kind] if k == "diagonal" or X.shape[1] <= MAX_FULL_COLUMNS)
    if fits.cost(kinds, sample) > limit:
        fits = replace(fits, factors=fits.factors[:1])
    if fits.cost(kinds, sample) > limit:
        return fits, Attempt()
    with deadline.nested(TIME_SHARE) as until, until_cut(until):
        return fits, learn_metric(kinds, fits, found.judge, until)

"""Groups of columns with a kernel each, tried in place of the one kernel of all columns.

The plain average of the kernels is a strong baseline. Other weights, between the average and a single group,
take its place only where the held-out loss falls by more than a standard error; the sum takes the place of
the one kernel by the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .candidates import Candidate, Trial
from .choice import Judge, compared
from .column_groups import ColumnGroups
from .cost import shape_of
from .folds import Sample, StageFits, median_gamma_of, median_gammas
from .search import DROPPED_BEHIND, RACING_FOLDS, Found, grouped, spread_rows
from .tried_change import TriedChange, best_of, change_line, change_words, not_tried_line, unscored

__all__ = ["GroupsResult", "TriedGroups", "try_groups"]

GAMMA_FACTORS = (0.25, 1.0, 4.0)  # of the average, around the gammas of the groups
LARGER_CS = (1.0, 10.0)  # times the chosen C
MIN_ROWS = 200
SMALLER = 0.8  # the rows of a comparison that is too dear, from step to step
FEW_GROUPS = 5  # that are left out, or alone


@dataclass(frozen=True)
class TriedGroups(TriedChange):
    """The sum of kernels against the one kernel: its weights, the plain average, and where it was judged."""

    average: TriedChange
    judge: Judge

    @property
    def groups(self) -> ColumnGroups:
        """The groups with their weights."""
        groups = self.trial.candidate.groups
        assert groups is not None
        return groups

    def lines(self, found: Found) -> list[dict[str, Any]]:
        """The lines of the table: the plain average, and the best weights if they are others."""
        lines = []
        if self.average.trial is not self.trial:
            kept = replace(self.average, standard_error=np.inf)  # it is not the one to take
            error = self.average.standard_error
            lines.append(change_line(found, kept, **self._measured(kept), standard_error=error))
        return [*lines, change_line(found, self, **self._measured(self))]

    def _measured(self, tried: TriedChange) -> dict[str, Any]:
        losses, weight = self.judge.losses(tried.trial)
        return {"n_rows": len(self.judge.sample), "loss": float(losses @ weight / weight.sum())}


@dataclass(frozen=True)
class GroupsResult:
    """What is known of the sums of kernels, and what was not tried, with the reason."""

    tried: TriedGroups | None = None
    not_tried: str = ""
    in_time: bool = True

    def words(self, found: Found) -> str:
        """What became of them, as sentences."""
        words = ""
        if self.tried is not None:
            n_rows = len(self.tried.judge.sample)
            where = f" evaluated on {n_rows:,} rows," if n_rows < len(found.judge.sample) else ""
            what = f"A sum of kernels, one a group of columns (weights {self.tried.groups}),{where}"
            words = change_words(what, self.tried)
        return words + (f" Not tried: {self.not_tried}." if self.not_tried else "")

    def lines(self, found: Found) -> list[dict[str, Any]]:
        """The lines of the table about them."""
        lines = [] if self.tried is None else self.tried.lines(found)
        if self.in_time:
            return lines
        name = "sum of kernels over groups of columns" + (", other weights" if lines else "")
        return [*lines, not_tried_line(found, name)]


def try_groups(
    trial: Trial, found: Found, columns: Sequence[tuple[int, ...]], common: dict[str, Any], limit: float
) -> GroupsResult:
    """The best sum of kernels on held-out rows, within a limit of operations."""
    bases = _kernel_trials(trial, found)
    if not bases:
        return GroupsResult(not_tried="a sum of kernels, as no kernel is affordable for so many rows")
    judge = _affordable(found.judge, [base.candidate for base in bases], columns, limit)
    if judge is None:
        return GroupsResult(not_tried="a sum of kernels, which max_seconds has no room for")
    fits = StageFits(judge.sample, common)
    averages = [each for base in bases for each in _averages(base, judge.sample, columns, common)]
    if not averages:
        return GroupsResult(not_tried="a sum of kernels, as fewer than two groups have different rows")
    late = GroupsResult(not_tried="a sum of kernels, as the time was up", in_time=False)
    if judge is not found.judge:
        trial = replace(trial, scores=np.zeros(0), n_support=0, gap=0.0)
        if not _run(fits, [trial], range(len(judge.sample.splits))):
            return late
    flat = _raced(fits, averages, trial, judge)
    if flat is None:
        return late
    better = _other_weights(fits, flat.trial, judge)
    best = better.trial if better is not None and better.accepted else flat.trial
    against = best_of([best], trial, judge)
    if against is None:
        return late
    tried = TriedGroups(best, against[1], against[2], flat, judge)
    if better is None:
        return GroupsResult(tried, "weights other than the average, as the time was up", in_time=False)
    return GroupsResult(tried)


def _shares(weights: np.ndarray) -> tuple[float, ...]:
    return tuple((weights / weights.sum()).tolist())


def _other_weights(fits: StageFits, flat: Trial, judge: Judge) -> TriedChange | None:
    """The best point between the average and a single group; None if the time was up.

    Half-way to each group first; then groups that are best half-way alone, and those that are worst left out.
    """
    groups = flat.candidate.groups
    assert groups is not None
    one = (np.array(groups.weights) > 0.0).astype(float)
    each = np.eye(len(one))[one > 0.0]
    halfway = _weighted(flat, one + each)
    if not _run(fits, halfway, _folds(flat, judge)[:RACING_FOLDS]):
        return None
    order = np.argsort(compared(halfway, judge).means, kind="stable")
    more = each[order[:FEW_GROUPS]]
    if len(each) > 2:
        more = np.vstack([one - each[order[-FEW_GROUPS:]], more])
    return _raced(fits, _weighted(flat, more), flat, judge, begun=halfway)


def _weighted(flat: Trial, points: np.ndarray) -> list[Trial]:
    """The trial of the plain average with other weights."""
    groups = flat.candidate.groups
    assert groups is not None
    changed = [replace(groups, weights=_shares(point)) for point in points]
    return [unscored(flat, candidate=replace(flat.candidate, groups=each)) for each in changed]


def _averages(
    base: Trial, sample: Sample, columns: Sequence[tuple[int, ...]], common: dict[str, Any]
) -> list[Trial]:
    """The plain average over a grid; gammas are as far from the groups' medians as that of ``base``.

    Groups without two different rows have weight 0; if fewer than two groups are left, there is no average.
    """
    X, kernel, seed = sample.views[base.candidate.view], base.candidate.kernel, common["random_state"]
    own = np.array([_group_gamma(kernel, X, group, sample.weight, seed) for group in columns])
    if np.count_nonzero(own) < 2:
        return []
    whole = median_gamma_of(kernel, X, sample.weight, seed)
    groups = ColumnGroups(tuple(columns), tuple((own / whole).tolist()), _shares(1.0 * (own > 0.0)))
    candidate, values = replace(base.candidate, groups=groups), [base.value]
    if base.value is not None and candidate.budget is None:
        values = [factor * base.value for factor in LARGER_CS]
    gammas = [factor * float(base.gamma or whole) for factor in GAMMA_FACTORS]
    return [unscored(base, candidate=candidate, gamma=g, value=value) for g in gammas for value in values]


def _group_gamma(kernel: str, X: Any, group: tuple[int, ...], weight: np.ndarray, seed: int) -> float:
    """The median gamma of a group of columns; 0 where its rows are all equal, or where it has no columns."""
    if group:
        with suppress(ValueError):  # no two different rows
            return median_gammas(X[:, list(group)], weight, seed)[kernel]
    return 0.0


def _kernel_trials(trial: Trial, found: Found) -> list[Trial]:
    """The chosen trial, or the best one with a kernel; and the best one with the smoothest kernel."""
    ranked = [trial, *(found.trials[k] for k in np.argsort(found.choice.means, kind="stable"))]
    kernels = [each for each in ranked if not each.candidate.is_linear]
    rbf = [each for each in kernels if each.candidate.kernel == "rbf"] or _dropped(trial, found, "rbf")
    return list({each.candidate.kernel: each for each in (kernels[:1] + rbf[:1])}.values())


def _dropped(trial: Trial, found: Found, kernel: str) -> list[Trial]:
    """The affordable candidates with a kernel, each at its best point; those not tried last."""
    lines = [line for line in found.table if line["kernel"] == kernel]
    lines.sort(key=lambda line: np.nan_to_num(line["loss"], nan=np.inf))
    return [
        replace(
            trial,
            candidate=Candidate(
                kernel, line["code"], line["columns"], line["budget"], trial.candidate.n_classes
            ),
            gamma=line["gamma"],
            value=None if line["budget"] is not None else line["C"] or 1.0,
        )
        for line in lines
    ]


def _affordable(
    judge: Judge, candidates: list[Candidate], columns: Sequence[tuple[int, ...]], limit: float
) -> Judge | None:
    """The same judge, or one of fewer rows whose fits are within the limit of operations, if there is one."""
    sample, n = judge.sample, len(judge.sample)
    n_points = len(GAMMA_FACTORS) * len(LARGER_CS) * len(candidates)
    n_points += len(columns) + 2 * min(len(columns), FEW_GROUPS)
    even = ColumnGroups(tuple(columns), (1.0,) * len(columns), tuple(1.0 * (len(g) > 0) for g in columns))
    sums = [replace(candidate, groups=even) for candidate in candidates]

    def cost(size: int) -> float:
        fits = [shape_of(sample.views[c.view], sample.labels, size / n).fit(c) for c in sums]
        return n_points * len(sample.splits) * max(fits)

    size = n
    while size > MIN_ROWS and cost(size) > limit:
        size = max(int(SMALLER * size), MIN_ROWS)
    if cost(size) > limit:
        return None
    rows = spread_rows(sample.labels, size)
    return judge if len(rows) >= n else Judge(sample.take(rows), judge.classes, judge.scorer)


def _run(fits: StageFits, trials: list[Trial], folds: Sequence[int]) -> bool:
    """Whether all fits ended before the time was up."""
    fits.prepare(trials)
    with suppress(TimeoutError):  # of a fit without time for its first step
        return all(fits.run(group, list(folds)) for group in grouped(trials))
    return False


def _folds(plain: Trial, judge: Judge) -> list[int]:
    """The folds on which a trial was scored."""
    known = np.isfinite(plain.scores if plain.scores.ndim == 1 else plain.scores[:, 0])
    return [k for k, (_, test) in enumerate(judge.sample.splits) if known[test].any()]


def _raced(
    fits: StageFits, trials: list[Trial], plain: Trial, judge: Judge, begun: Sequence[Trial] = ()
) -> TriedChange | None:
    """The best of some trials against another one; those far behind are dropped after two folds.

    ``begun`` are more trials, which were run on these two folds.
    """
    folds = _folds(plain, judge)
    if not _run(fits, trials, folds[:RACING_FOLDS]):
        return None
    trials = [*begun, *trials]
    if len(folds) > RACING_FOLDS:
        first = compared(trials, judge)
        near = first.differences <= DROPPED_BEHIND * first.standard_errors
        trials = [trial for trial, is_near in zip(trials, near) if is_near]
        if not _run(fits, trials, folds[RACING_FOLDS:]):
            return None
    found = best_of(trials, plain, judge)
    return None if found is None else TriedChange(trials[found[0]], found[1], found[2])

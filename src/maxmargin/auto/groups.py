"""Groups of columns with a kernel each, tried in place of the one kernel of all columns.

The plain average of the kernels is a strong baseline. Other weights, between the average and a single group,
take its place only where the held-out loss falls by more than a standard error; the sum takes the place of
the one kernel by the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .candidates import CODES, Candidate, Trial
from .choice import Judge, compared
from .column_groups import ColumnGroups
from .cost import shape_of
from .folds import Sample, StageFits, median_gamma_of
from .search import DROPPED_BEHIND, RACING_FOLDS, Found, grouped, spread_rows
from .tried_change import TriedChange, best_of, change_line, unscored

__all__ = ["TriedGroups", "try_groups"]

GAMMA_FACTORS = (0.25, 1.0, 4.0)  # of the average, around the gammas of the groups
LARGER_CS = (1.0, 10.0)  # times the chosen C
MIN_ROWS = 200
MAX_POINTS = 20  # of weights other than the average


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
        n_rows, lines = len(self.judge.sample), []
        if self.average.trial is not self.trial:
            kept = replace(self.average, standard_error=np.inf)  # it is not the one to take
            error = self.average.standard_error
            lines.append(change_line(found, kept, n_rows=n_rows, standard_error=error))
        return [*lines, change_line(found, self, n_rows=n_rows)]


def try_groups(
    trial: Trial, found: Found, columns: Sequence[tuple[int, ...]], common: dict[str, Any], limit: float
) -> TriedGroups | None:
    """The best sum of kernels on held-out rows, within a limit of operations; None if there was no time."""
    bases = _kernel_trials(trial, found)
    judge = _smaller(found.judge, [base.candidate for base in bases], len(columns), limit)
    fits = StageFits(judge.sample, common)
    if judge is not found.judge:
        trial = replace(trial, scores=np.zeros(0), n_support=0, gap=0.0)
        if not _run(fits, [trial], range(len(judge.sample.splits))):
            return None
    averages = [each for base in bases for each in _averages(base, judge.sample, columns, common)]
    flat = _raced(fits, averages, trial, judge)
    if flat is None:
        return None
    better = _raced(fits, _weighted(flat.trial), flat.trial, judge)
    if better is None:
        return None
    best = better.trial if better.accepted else flat.trial
    against = best_of([best], trial, judge)
    return None if against is None else TriedGroups(best, against[1], against[2], flat, judge)


def _shares(weights: np.ndarray) -> tuple[float, ...]:
    return tuple((weights / weights.sum()).tolist())


def _weights(n_groups: int) -> list[tuple[float, ...]]:
    """Points between the average and a single group: half-way, each group left out, each group alone."""
    one, each = np.full(n_groups, 1.0 / n_groups), np.eye(n_groups)
    points = [*(one + each)]
    points += [*(1.0 - each)] if n_groups > 2 else []
    points += [*each]
    return [_shares(point) for point in points[:MAX_POINTS]]


def _weighted(flat: Trial) -> list[Trial]:
    """The trial of the plain average with other weights."""
    groups = flat.candidate.groups
    assert groups is not None
    return [
        unscored(flat, candidate=replace(flat.candidate, groups=replace(groups, weights=weights)))
        for weights in _weights(len(groups.columns))
    ]


def _averages(
    base: Trial, sample: Sample, columns: Sequence[tuple[int, ...]], common: dict[str, Any]
) -> list[Trial]:
    """The plain average over a grid; gammas are as far from the groups' medians as that of ``base``."""
    X, kernel, seed = sample.views[base.candidate.view], base.candidate.kernel, common["random_state"]
    whole = median_gamma_of(kernel, X, sample.weight, seed)
    own = [median_gamma_of(kernel, X[:, list(group)], sample.weight, seed) for group in columns]
    groups = ColumnGroups(tuple(columns), tuple(g / whole for g in own), _shares(np.ones(len(columns))))
    candidate, values = replace(base.candidate, groups=groups), [base.value]
    if base.value is not None and candidate.budget is None:
        values = [factor * base.value for factor in LARGER_CS]
    gammas = [factor * float(base.gamma or whole) for factor in GAMMA_FACTORS]
    return [unscored(base, candidate=candidate, gamma=g, value=value) for g in gammas for value in values]


def _kernel_trials(trial: Trial, found: Found) -> list[Trial]:
    """The chosen trial, or the best one with a kernel; and the best one with the smoothest kernel."""
    ranked = [trial, *(found.trials[k] for k in np.argsort(found.choice.means, kind="stable"))]
    smooth = replace(trial.candidate, kernel="rbf")
    if trial.candidate.is_linear:
        smooth = replace(smooth, code=CODES[1])
    kernels = [each for each in ranked if not each.candidate.is_linear]
    rbf = [each for each in kernels if each.candidate.kernel == "rbf"] or [
        replace(trial, candidate=smooth, gamma=None, value=None if smooth.budget is not None else 1.0)
    ]
    return list({each.candidate.kernel: each for each in (kernels[:1] + rbf)[:2]}.values())


def _smaller(judge: Judge, candidates: list[Candidate], n_groups: int, limit: float) -> Judge:
    """The same judge, or one of so many rows that the fits stay within the limit of operations."""
    sample, n_points = judge.sample, len(GAMMA_FACTORS) * len(LARGER_CS) * len(candidates) + 3 * n_groups
    fit = max(shape_of(sample.views[c.view], sample.labels).fit(c) for c in candidates)
    share = np.sqrt(limit / (n_points * len(sample.splits) * fit))
    if share >= 1.0:
        return judge
    rows = spread_rows(sample.labels, max(MIN_ROWS, int(share * len(sample))))
    return judge if len(rows) >= len(sample) else Judge(sample.take(rows), judge.classes, judge.scorer)


def _run(fits: StageFits, trials: list[Trial], folds: Sequence[int]) -> bool:
    fits.prepare(trials)
    return all(fits.run(group, list(folds)) for group in grouped(trials))


def _raced(fits: StageFits, trials: list[Trial], plain: Trial, judge: Judge) -> TriedChange | None:
    """The best of some trials against another one; those far behind are dropped after two folds."""
    known = np.isfinite(plain.scores if plain.scores.ndim == 1 else plain.scores[:, 0])
    folds = [k for k, (_, test) in enumerate(judge.sample.splits) if known[test].any()]
    if not _run(fits, trials, folds[:RACING_FOLDS]):
        return None
    if len(folds) > RACING_FOLDS:
        first = compared(trials, judge)
        near = first.differences <= DROPPED_BEHIND * first.standard_errors
        trials = [trial for trial, is_near in zip(trials, near) if is_near]
        if not _run(fits, trials, folds[RACING_FOLDS:]):
            return None
    found = best_of(trials, plain, judge)
    return None if found is None else TriedChange(trials[found[0]], found[1], found[2])

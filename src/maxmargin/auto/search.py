"""The search: all candidates on a sample of the rows, the best of them on more and more rows."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..checkpoints import FitRecord
from ..solving import Deadline, State, tell_share, too_late, until_cut
from .candidates import CODES, Candidate, Trial, first_grid, larger, neighbourhood
from .choice import Choice, Judge, choose, compared
from .cost import Shape, shape_of
from .folds import Sample, StageFits

__all__ = ["RACING_FOLDS", "Found", "Search"]

FIRST_ROWS = 1000
MAX_ROWS_AT_ONCE = 1500  # a table of so many rows needs no sample
GROWTH = 4.0  # of the sample from stage to stage
RACING_FOLDS = 2  # after which trials far behind are dropped
DROPPED_BEHIND = 2.0  # standard errors
SHARE_OF_FIT = 0.55  # of the time of AutoSVC.fit; the rest is refinement and the fit to all rows, as measured
LATER_STAGE_COST = 0.3  # of a stage, against that of the first one, with as many rows
KEPT_FAMILIES = 2  # kernels and views whose other code is tried, and that reach the next stage
MAX_FINALISTS = 30  # trials on all folds


@dataclass
class Found:
    """The trials of the last stage, their judge, the choice, and the lines of the table of all candidates."""

    trials: list[Trial]
    judge: Judge
    choice: Choice
    table: list[dict[str, Any]]
    complete: bool
    n_rows: int


@dataclass
class Search:
    """A search among candidates, stage by stage.

    ``medians`` has a gamma for each view and kernel; ``limit`` is the number of operations that the search
    may take. ``record`` stores the results of every candidate and gamma, for a fit that resumes.
    """

    sample: Sample
    classes: np.ndarray
    scorer: Any
    medians: dict[str, dict[str, float]]
    common: dict[str, Any]
    limit: float
    record: FitRecord
    deadline: Deadline
    spent: float = 0.0
    planned: float = 1.0  # operations, about
    in_time: bool = True
    table: dict[Candidate, dict[str, Any]] = field(default_factory=dict)

    def run(self, candidates: list[Candidate]) -> Found:
        """All candidates on the first sample, then the best on larger ones."""
        n = len(self.sample)
        size = n if n <= MAX_ROWS_AT_ONCE else FIRST_ROWS
        for candidate in candidates:
            self.table[candidate] = self._line(candidate)
        groups = [group for c in self._cheap(candidates) for group in first_grid(c, self.medians)]
        self.planned = self._planned(size, groups)
        found = self._stage(size, groups, is_first=True)
        if found is None:
            raise too_late(self.deadline, "AutoSVC to compare even one candidate")
        stage = found
        while size < n and self.in_time:
            size = int(min(n, GROWTH * size))
            kept = stage.trials, stage.choice.means
            tried = [neighbourhood(*kept, n_families) for n_families in (KEPT_FAMILIES, 1)]
            groups = next((groups for groups in tried if self._n_folds(size, groups) > 0), [])
            if not groups:
                break
            stage = self._stage(size, groups, is_first=False) or stage
        return replace(stage, table=list(self.table.values()), complete=self.in_time)

    def _cheap(self, candidates: list[Candidate]) -> list[Candidate]:
        """Of candidates that differ only in their code, the cheaper one; cheap ones first."""
        cost = {c: self._shape(FIRST_ROWS, c).folds(c, 5, 2, len(self.sample.splits)) for c in candidates}
        first: dict[tuple[Any, ...], Candidate] = {}
        for candidate in sorted(candidates, key=lambda c: cost[c]):
            first.setdefault((candidate.kernel, candidate.view, candidate.budget), candidate)
        return list(first.values())

    def _shape(self, size: int, candidate: Candidate) -> Shape:
        share = min(size / len(self.sample), 1.0)
        return shape_of(self.sample.views[candidate.view], self.sample.labels, share)

    def _cost(self, group: list[Trial], size: int, n_folds: int) -> float:
        candidate = group[0].candidate
        return self._shape(size, candidate).folds(candidate, len(group), n_folds, len(self.sample.splits))

    def _planned(self, size: int, groups: list[list[Trial]]) -> float:
        """Operations of all stages, about: the first race twice, for its later folds, and larger samples."""
        first, more = size, 0.0
        while size < len(self.sample):
            size = int(min(len(self.sample), GROWTH * size))
            more += LATER_STAGE_COST * (size / first) ** 2
        cost = sum(self._cost(group, first, RACING_FOLDS) for group in groups)
        return max(1.0, min(2.0 * cost * (1.0 + more), self.limit))

    def _n_folds(self, size: int, groups: list[list[Trial]]) -> int:
        """How many folds the operations left allow: all, two, one or none."""
        for n_folds in (len(self.sample.splits), RACING_FOLDS, 1):
            if sum(self._cost(group, size, n_folds) for group in groups) <= self.limit - self.spent:
                return n_folds
        return 0

    # ---- a stage ----

    def _stage(self, size: int, groups: list[list[Trial]], is_first: bool) -> Found | None:
        """Compare the trials of some groups on a sample of so many rows; None if there was no time."""
        n = len(self.sample)
        sample = self.sample.take(np.arange(n) if size == n else spread_rows(self.sample.labels, size))
        judge, fits = Judge(sample, self.classes, self.scorer), StageFits(sample, self.common)
        n_folds = min(max(self._n_folds(size, groups), 1), len(sample.splits))
        first = list(range(min(RACING_FOLDS, n_folds)))
        trials = self._race(fits, groups, first)
        if trials and is_first and self.in_time:
            trials += self._race(fits, self._extended(trials, judge), first)
        if trials and sample.n_classes > 2 and is_first and self.in_time:
            trials += self._race(fits, self._recoded(trials, judge), first)
        if not trials:
            return None
        choice = compared(trials, judge)
        self._judge(trials, choice, len(sample))
        if len(first) < n_folds and self.in_time:
            finalists = self._finalists(trials, choice)
            trials = self._race(fits, grouped(finalists), list(range(len(first), n_folds))) or trials
        choice = choose(trials, judge)
        self._judge(trials, choice, len(sample))
        return Found(trials, judge, choice, [], self.in_time, n)

    def _race(self, fits: StageFits, groups: list[list[Trial]], folds: list[int]) -> list[Trial]:
        """The trials that were run on these folds: those that the limits allow, but at least one group."""
        done: list[Trial] = []
        size = len(fits.sample)
        for group in groups:
            cost = self._cost(group, size, len(folds))
            if done and self.spent + cost > self.limit:
                continue
            if not self._run(fits, group, folds):
                self.in_time = False
                break
            self.spent += cost
            tell_share(SHARE_OF_FIT * min(self.spent / self.planned, 1.0), "search")
            done += group
        return done

    def _run(self, fits: StageFits, group: list[Trial], folds: list[int]) -> bool:
        """Run a group, or take its results from the record; False if the time is up."""
        first, rows = group[0], np.concatenate([fits.sample.splits[k][1] for k in folds])
        text = repr((len(fits.sample), first.candidate, first.gamma, [t.value for t in group], folds))
        key = hashlib.sha256(text.encode()).hexdigest()[:32]
        fits.prepare(group)
        kept = None if self.record.part is None else self.record.part.recall(key)
        if kept is not None:
            for k, trial in enumerate(group):
                trial.scores[rows] = kept[f"scores_{k}"]
                trial.n_support, trial.gap = int(kept["n_support"][k]), float(kept["gaps"][k])
            return True
        if not self._fitted(fits, group, folds):
            for trial in group:  # trials are compared on the folds that all of them have
                trial.scores[rows] = np.nan
            return False
        if self.record.part is not None:
            state = State(
                n_support=np.array([t.n_support for t in group]), gaps=np.array([t.gap for t in group])
            )
            for k, trial in enumerate(group):
                state[f"scores_{k}"] = trial.scores[rows]
            self.record.part.keep(key, state)
        return True

    def _fitted(self, fits: StageFits, group: list[Trial], folds: list[int]) -> bool:
        """Whether all fits of a group ended before the time was up."""
        if self.deadline.passed():
            return False
        with until_cut(self.deadline), suppress(TimeoutError):  # of a fit without time for its first step
            return fits.run(group, folds)
        return False

    def _extended(self, trials: list[Trial], judge: Judge) -> list[list[Trial]]:
        """Larger C where the loss does not rise with C, and is near the best or still falls."""
        near = set(self._near(compared(trials, judge)))
        place, more = {id(trial): k for k, trial in enumerate(trials)}, []
        for group in grouped(trials):
            last = group[-1]
            if last.candidate.is_linear or last.candidate.budget is not None:
                continue
            own = compared(group, judge)
            falls = own.differences[0] > own.standard_errors[0]
            rises = own.differences[-1] > own.standard_errors[-1]
            if not rises and (falls or place[id(last)] in near):
                more.append(larger(last))
        return more

    def _recoded(self, trials: list[Trial], judge: Judge) -> list[list[Trial]]:
        """The trials that are not far behind, of the best families, with the other code."""
        choice = compared(trials, judge)
        near = [trials[k] for k in self._near(choice)]
        best = [trials[k].candidate for k in np.argsort(choice.means, kind="stable")]
        families = list(dict.fromkeys(c for c in best if c.code in CODES and not c.is_linear))[:KEPT_FAMILIES]
        recoded = []
        for trial in near:
            if trial.candidate in families:
                other = CODES[1 - CODES.index(trial.candidate.code)]
                recoded.append(Trial(replace(trial.candidate, code=other), trial.gamma, trial.value))
        return grouped(recoded)

    def _near(self, choice: Choice) -> np.ndarray:
        return np.flatnonzero(choice.differences <= DROPPED_BEHIND * choice.standard_errors)

    def _finalists(self, trials: list[Trial], choice: Choice) -> list[Trial]:
        near = set(self._near(choice)) & set(np.argsort(choice.means, kind="stable")[:MAX_FINALISTS])
        return [trials[k] for k in sorted(near)]

    # ---- the table ----

    def _judge(self, trials: list[Trial], choice: Choice, size: int) -> None:
        """Note the best trial of each candidate; later stages replace earlier ones."""
        for k in np.argsort(choice.means, kind="stable")[::-1]:
            trial, limited = trials[k], trials[k].candidate.budget is not None
            self.table[trial.candidate] = self._line(trial.candidate) | {
                "n_rows": size,
                "gamma": trial.gamma,
                "C": None if limited else trial.value,
                "loss": float(choice.means[k]),
                "difference": float(choice.differences[k]),
                "standard_error": float(choice.standard_errors[k]),
                "n_support": trial.n_support,
                "dual_gap": trial.gap,
                "outcome": "behind",
            }
        for line in self.table.values():
            line["outcome"] = "behind" if line["outcome"] == "chosen" else line["outcome"]
        self.table[trials[choice.chosen].candidate]["outcome"] = "chosen"

    def _line(self, candidate: Candidate) -> dict[str, Any]:
        """The line of a candidate that was not tried yet."""
        numbers = dict.fromkeys(("loss", "difference", "standard_error"), np.nan)
        return {
            "candidate": str(candidate),
            "kernel": candidate.kernel,
            "code": candidate.code,
            "columns": candidate.view,
            "budget": candidate.budget,
            "n_rows": 0,
            "gamma": None,
            "C": None,
            **numbers,
            "n_support": 0,
            "dual_gap": np.nan,
            "outcome": "not tried",
        }


def grouped(trials: list[Trial]) -> list[list[Trial]]:
    """Trials of one candidate and one gamma together, by increasing C."""
    groups: dict[tuple[Any, ...], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.candidate, trial.gamma), []).append(trial)
    return [sorted(group, key=lambda trial: trial.value or 0.0) for group in groups.values()]


def spread_rows(labels: np.ndarray, size: int) -> np.ndarray:
    """About ``size`` rows, the first of each class, with the shares of the classes."""
    share, rows = size / len(labels), []
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        rows.append(own[: max(int(np.ceil(share * len(own))), min(len(own), 2))])
    return np.sort(np.concatenate(rows))

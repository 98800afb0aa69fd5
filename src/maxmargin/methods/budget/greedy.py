"""The library's own budgeted method: support vectors chosen by gain, coefficients always at the optimum.

Support vectors are grown on a sample of the rows, large against the budget; once they are chosen, their
coefficients are refitted on all rows. One step of the loop is one round: growing to the next stated budget,
a swap, or the last refit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...numerics import FeaturePanel
from ...solving import (
    Callback,
    Certificate,
    RowPool,
    State,
    Status,
    Stop,
    drive,
)
from .all_rows import refit_on_all_rows
from .gain import pick_by_gain
from .greedy_path import (
    PATH_TOL,
    no_progress,
    record,
    record_last,
    result,
    rewrite_path,
)
from .growth_sample import GrowthSample, better_alpha, first_alpha
from .move_centers import move_centers
from .problem import BudgetProblem, BudgetResult, stated_budgets
from .reduced_newton import (
    ReducedProblem,
    Refit,
    own_bounds,
    refit,
)
from .swaps import swap_round

AFFORDABLE = 3e6  # budget squared times columns up to which a full set is tuned and improved by swaps
FIRST_SAMPLE = 64  # budget that the first sample is made for; later ones are made for four times as many
TUNED_AT = (16, 64, 256, 512, 1024, 4096, 16384)  # support vectors at which alpha is chosen anew
POOL = 8  # support vectors chosen from each draw of n_candidates, when several are added at once
PROMISE_WORK = 1 << 21  # kernel values spent on one round's promises

Pick = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Greedy:
    """How support vectors are chosen.

    ``pick(outputs, targets, n_picks, rng)`` takes the place of the choice by gain. ``n_held_out`` of the last
    rows are not trained on; ``score(outputs, rows)`` says how well the others' model does on them. ``start``
    and ``coef`` are support vectors to begin with, by position, and their coefficients; the search for alpha
    then begins at the problem's. ``swaps`` allows to exchange support vectors, ``move`` to take them off the
    data, ``path`` asks for the models of smaller budgets.
    """

    budget: int
    n_candidates: int = 60
    choose_alpha: bool = False
    cache_bytes: int = 1 << 30
    pick: Pick | None = None
    n_held_out: int = 0
    score: Callable[[np.ndarray, np.ndarray], float] | None = None
    start: np.ndarray | None = None
    coef: np.ndarray | None = None
    swaps: bool = True
    move: bool = False
    path: bool = True


def greedy(
    problem: BudgetProblem,
    how: Greedy,
    *,
    stop: Stop,
    seed: int,
    callback: Callback | None = None,
    state: State | None = None,
) -> tuple[BudgetResult, State]:
    """Minimise a ``BudgetProblem`` with a smooth loss or the hinge.

    The history's bounds are those of the reduced problem: the support vectors chosen so far, on the rows
    that the present phase works on. A ``State`` taken by a callback goes on bit for bit.
    """
    with RowPool(problem.kernel.n_threads, stop.cancel) as pool:
        fit = GreedyFit(problem, how, stop.tol, seed, pool, stop.resumed(state))
        never = replace(stop, tol=-1.0)
        status, history = drive(fit.state, fit.step, fit.certify, never, callback)
        return result(fit, status, history), fit.state


class GreedyFit:
    """A fit under way. ``state`` is all of it; the panel can be computed again from the state."""

    def __init__(
        self,
        problem: BudgetProblem,
        how: Greedy,
        tol: float,
        seed: int,
        pool: RowPool,
        state: State | None,
    ) -> None:
        self.problem, self.how, self.tol, self.pool = problem, how, tol, pool
        self.n_values = 0  # kernel values of samples that were left behind
        self.capacity = min(how.budget, problem.n_samples)
        self.state = State() if state is None else state.copy()
        if state is None:
            self._begin(seed)
        else:
            self._replay()
        self.fitted = self.present()
        if "final_bounds" in self.state:
            primal, gap = self.state.final_bounds
            self.fitted = replace(self.fitted, primal=primal, gap=gap, smoothed=False)

    # ---- state ----

    def _begin(self, seed: int) -> None:
        state, n_columns = self.state, self.problem.n_columns
        state.seed, state.phase, state.round, state.empty = seed, "grow", 0, 0
        n_start = 0 if self.how.start is None else len(self.how.start)
        self._sample_for(self.capacity)  # refuses, before any work, what memory cannot hold
        self._sample_for(min(self.capacity, max(FIRST_SAMPLE, 2 * n_start)))
        anew = self.how.choose_alpha and not (len(self.sample.start) and self.sample.can_tune)
        state.alpha = first_alpha(self.problem) if anew else self.problem.alpha
        if self.how.choose_alpha and not anew:  # it was that of all rows
            state.alpha /= self.share_of_weight()
        state.support = np.zeros(0, dtype=np.int64)  # positions in the sample
        state.V, state.factor = np.zeros((0, n_columns)), np.zeros((0, 0))
        state.ends = np.zeros(0, dtype=np.int64)
        state.swap_size, state.n_swaps = 0, 0
        state.final_coef = np.zeros((0, n_columns))
        if n_start:
            added = self.append(self.sample.start)
            if self.how.coef is not None:
                state.V = self.panel.factor.T @ self.how.coef[added]
            state.V = self.grown()
            self._remember_panel()

    def _sample_for(self, budget: int) -> None:
        """Work on a sample large enough for so many support vectors; smaller samples are part of it."""
        self.state.sampled_for = budget
        how, row_bytes = self.how, self.capacity * self.problem.kernel.dtype.itemsize
        copies = 3 if how.move else 2  # a swap can be undone; places for the centres are tried
        limit = how.cache_bytes // (copies * row_bytes)
        self.sample = GrowthSample(self.problem, budget, how.n_held_out, how.choose_alpha, limit, how.start)
        self.kernel = self.problem.kernel.take(self.sample.rows)
        self.panel = FeaturePanel(self.kernel, self.capacity, self.pool)

    def _enlarge(self) -> None:
        """Go on with a larger sample."""
        rows, old, kernel = self.sample.rows, self.panel, self.kernel
        self._sample_for(min(self.capacity, 4 * self.state.sampled_for))
        if np.array_equal(rows, self.sample.rows):
            self.panel, self.kernel = old, kernel
            return
        self.n_values += kernel.n_values
        order = np.argsort(self.sample.rows, kind="stable")
        there = order[np.searchsorted(self.sample.rows, rows[self.state.support], sorter=order)]
        self.state.support = there
        self.panel = old.on(self.kernel, self.capacity)
        self._remember_panel()

    def _remember_panel(self) -> None:
        self.state.ends = np.array(self.panel.ends, dtype=np.int64)
        self.state.factor = self.panel.factor.copy()

    def _replay(self) -> None:
        """Compute the panel again, block by block as it was."""
        state = self.state
        self._sample_for(state.sampled_for)
        points = state.centres if "centres" in state else self.kernel.points(state.support)
        self.panel.fill(points, state.factor, state.ends.tolist())

    def present(self) -> Refit:
        """The bounds at the present coefficients, with outputs computed afresh."""
        V = self.state.V
        F = self.panel.dot(V) if len(V) else np.zeros(self.sample.targets.shape)
        return refit(self.reduced(), V, F, np.inf)

    def reduced(self, alpha: float | None = None) -> ReducedProblem:
        """The problem for the present support vectors on the rows of the sample."""
        alpha = self.state.alpha if alpha is None else alpha
        return ReducedProblem(self.panel, self.sample.targets, self.sample.cost, self.problem.loss, alpha)

    def take(self, fitted: Refit) -> None:
        """Go on from these coefficients."""
        self.fitted, self.state.V = fitted, fitted.V
        self._remember_panel()

    # ---- the loop ----

    def step(self) -> Status | None:
        """One round of the present phase."""
        self.state.best_dual = -np.inf  # each round has a problem of its own
        self.state.round += 1
        if self.state.phase == "finish":
            return finish(self)
        {"grow": self._grow, "swap": self._swap, "move": self._move}[self.state.phase]()
        return None

    def certify(self) -> Certificate:
        """Bounds of the reduced problem."""
        fitted = own_bounds(self.reduced(), self.fitted)
        primal, gap = float(fitted.primal.sum()), float(fitted.gap.sum())
        n_values = self.n_values + self.kernel.n_values + self.problem.kernel.n_values
        return Certificate(primal, primal - gap, self.panel.size, n_values)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self.state.seed, self.state.round])

    def _grow(self) -> None:
        state, b = self.state, self.panel.size
        if b >= state.sampled_for < self.capacity:
            self._enlarge()
        self.fitted = self.present()
        room = [s for s in stated_budgets(self.how.budget) if s > b]
        if not room or no_progress(self):
            if state.round == 1:  # full from the start
                self._tune()
            if self._may_swap():
                state.phase = "swap"
            else:
                self._end_choice()
            return
        picks, promise = self.picks(room[0] - b)
        worthwhile = promise > 1e-3 * self.tol * float(self.fitted.primal.sum())
        if worthwhile and self.append(picks).any():
            state.empty = 0
        else:
            state.empty += 1
        ends = state.empty >= 3 or len(state.support) >= self.sample.n_trained
        self.take(refit(self.reduced(), self.grown(), self.fitted.F, PATH_TOL))
        if self._time_to_tune(b, ends):
            self._tune()
        record(self, self.panel.size)
        if ends:
            self._end_choice()

    def _tune(self) -> None:
        """Look for a better alpha, where it is ours to choose."""
        state = self.state
        if self.how.choose_alpha and self.sample.can_tune:
            state.alpha, fitted = better_alpha(self.reduced, self.fitted, state.alpha, self.sample, PATH_TOL)
            self.take(fitted)

    def append(self, picks: np.ndarray) -> np.ndarray:
        """Add rows of the sample to the support vectors; a mask of those that were added."""
        if len(picks) == 0:
            return np.zeros(0, dtype=bool)
        added = self.panel.append(self.kernel.points(picks))
        self.state.support = np.append(self.state.support, picks[added])
        return added

    def grown(self) -> np.ndarray:
        """The coefficients, with zeros for the support vectors just added."""
        V = np.zeros((self.panel.size, self.state.V.shape[1]))
        V[: len(self.state.V)] = self.state.V
        return V

    def _time_to_tune(self, before: int, ends: bool) -> bool:
        """At some budgets, and at the end of the growth where that is cheap."""
        b = self.panel.size
        at_the_end = (b >= self.how.budget or ends) and self._affordable()
        return at_the_end or any(before < turn <= b for turn in TUNED_AT)

    def _affordable(self) -> bool:
        return bool(self.how.budget**2 * self.problem.n_columns <= AFFORDABLE)

    def _may_swap(self) -> bool:
        full = self.panel.size == self.how.budget
        return full and self._affordable() and self.how.swaps and self.how.pick is None

    def picks(self, n_picks: int) -> tuple[np.ndarray, float]:
        """New support vectors among candidates drawn at random, and the best one's promise."""
        rng, n_draws = self._rng(), max(self.how.n_candidates, self.how.n_candidates * n_picks // POOL)
        candidates = self.sample.draw(n_draws, self.state.support, rng)
        if len(candidates) == 0:
            return candidates, 0.0
        if self.how.pick is not None:
            F, y = self.fitted.F[candidates], self.sample.targets[candidates]
            return candidates[self.how.pick(F, y, n_picks, rng)], np.inf
        size = int(np.clip(PROMISE_WORK // len(candidates), 1024, self.sample.n_trained))
        start = int(rng.integers(self.sample.n_trained - min(size, self.sample.n_trained) + 1))
        rows = slice(start, min(start + size, self.sample.n_trained))
        n_rows = self.sample.n_trained
        return pick_by_gain(self.reduced(), self.fitted.F, n_rows, rows, candidates, n_picks)

    def _swap(self) -> None:
        """One try to exchange support vectors."""
        self.fitted = self.present()
        if not swap_round(self):
            self._end_choice()

    def _end_choice(self) -> None:
        """The set is chosen: what is left is to move it, and to refit."""
        if self.state.n_swaps or len(self.sample.start):
            rewrite_path(self)
        self.state.phase = "move" if self.how.move and self.panel.size else "finish"

    def _move(self) -> None:
        """Some iterations that move the support vectors off the data."""
        self.fitted = self.present()
        if not move_centers(self):
            self.state.phase = "finish"

    def share_of_weight(self) -> float:
        """What alpha of the sample becomes on all rows: C = 1 / (n alpha) is what was chosen."""
        n_trained = self.problem.n_samples - self.how.n_held_out
        if self.sample.covers(n_trained):
            return 1.0
        sampled = self.sample.weight[: self.sample.n_trained].sum()
        return float(sampled / self.problem.weight[:n_trained].sum())


ENOUGH_TO_CALIBRATE = 1000  # held-out rows; with fewer, all rows are used, out of fold
FOLDS = 5  # where no rows are held out, outputs for calibration come from so many refits


def finish(fit: GreedyFit) -> Status:
    """Refit on all rows; the rows held out for choosing alpha take part again."""
    state, judge = fit.state, fit.sample.judge
    fit.fitted = fit.present()
    if judge.stop - judge.start >= ENOUGH_TO_CALIBRATE:
        state.judged, state.judged_outputs = fit.sample.rows[judge], fit.fitted.F[judge]
    elif fit.problem.n_samples >= FOLDS:
        state.judged = fit.sample.rows[: fit.sample.n_trained]
        state.judged_outputs = _out_of_fold(fit)
    full = _on_all_rows(fit)
    fit.fitted = full
    state.final_coef = fit.panel.coef(full.V)
    state.final_bounds = np.stack([full.primal, full.gap])
    record_last(fit, full)
    if full.relative_gap > fit.tol:
        return Status.STALLED
    return Status.BUDGET_FULL if fit.panel.size >= fit.how.budget else Status.NO_LOSS_LEFT


def _out_of_fold(fit: GreedyFit) -> np.ndarray:
    """Outputs on each fold of the rows, of coefficients refitted without it."""
    n, out = fit.sample.n_trained, np.zeros_like(fit.fitted.F[: fit.sample.n_trained])
    for fold in range(FOLDS):
        problem = fit.reduced()
        problem.cost = fit.sample.without(np.arange(fold, n, FOLDS))
        there = refit(problem, fit.state.V, fit.fitted.F, PATH_TOL)
        out[fold::FOLDS] = there.F[fold:n:FOLDS]
    return out


def _on_all_rows(fit: GreedyFit) -> Refit:
    state, sample, problem = fit.state, fit.sample, fit.problem
    n_trained = problem.n_samples - fit.how.n_held_out
    if sample.covers(n_trained):
        sample.train_on(n_trained)
        return refit(fit.reduced(), state.V, fit.panel.dot(state.V), fit.tol, exact=True)
    if fit.how.choose_alpha:
        state.alpha *= fit.share_of_weight()
    limits = (fit.how.cache_bytes, fit.tol)
    rows = (sample.n_trained, n_trained)
    return refit_on_all_rows(problem, fit.panel, *rows, (state.V, state.alpha), limits)

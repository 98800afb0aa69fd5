"""The library's own budgeted method: support vectors chosen by gain, coefficients always at the optimum.

Support vectors are chosen on a sample of the rows that is large compared with the budget; then their
coefficients are refitted on all rows. One step of the loop is one round of a phase: growth to the next stated
budget, a swap, some moves of the centres, or the last refit. ``ending.py`` decides when each phase ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ...numerics import FeaturePanel
from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    Check,
    RowPool,
    State,
    Status,
    Stop,
    certified,
    drive,
)
from .centers import move_centers
from .ending import (
    budget_is_full,
    candidates_are_used_up,
    held_out_loss_has_settled,
    is_promising,
    most_swaps,
)
from .final_refit import finish
from .gain import pick_by_gain
from .growth_sample import AlphaSearch, GrowthSample, first_alpha
from .path import PATH_TOL, StoredPath, add_present, final_points, refit_path, stated_budgets
from .problem import BudgetProblem, BudgetResult, UntrainedOutputs
from .reduced_newton import ReducedProblem, Refit, own_bounds, refit
from .swaps import swap_round

MAX_IMPROVEMENT_WORK = 3e6  # budget squared times columns up to which a full set is tuned and swapped
FIRST_SAMPLE_BUDGET = 64  # that the first sample is made for; each later one is for four times as many
ALPHA_CHOSEN_AT = (16, 64, 256, 512, 1024, 4096, 16384)  # numbers of support vectors
MIN_ROUNDS_OF_GROWTH, MAX_FIRST_PICKS = 8, 16  # so many support vectors, at most, are added to none
FEW_ROWS_PER_SUPPORT_VECTOR = 2
PICKS_PER_DRAW = 8  # support vectors chosen from n_candidates candidates, when several are added at once
KERNEL_VALUES_PER_SHORTLIST = 1 << 21  # spent in one round on the first comparison of candidates
MIN_ROWS_PER_SHORTLIST = 1024

Pick = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class GreedyOptions:
    """How support vectors are chosen.

    ``pick(outputs, targets, n_picks, rng)`` replaces the choice by gain. The last ``n_held_out`` rows are not
    trained on; ``score(outputs, rows)`` evaluates models on them. ``start`` and ``coef`` are the positions of
    support vectors to start from and their coefficients; the search for alpha then starts at the problem's.
    ``swaps`` allows swaps, ``move`` moves the centres off the data, ``path`` asks for the models of smaller
    budgets, ``calibrate`` for outputs on rows that the coefficients were not fitted to.
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
    calibrate: bool = True


def greedy(
    problem: BudgetProblem,
    options: GreedyOptions,
    *,
    stop: Stop,
    seed: int,
    callback: Callback | None = None,
    state: State | None = None,
) -> tuple[BudgetResult, State]:
    """Minimise a ``BudgetProblem`` with a smooth loss or the hinge.

    The history's bounds are those of the reduced problem: the support vectors chosen so far, on the rows
    that the present phase works on. A ``State`` taken by a callback resumes bit for bit.
    """
    with RowPool(problem.kernel.n_threads, stop.cancel) as pool:
        fit = GreedyFit(problem, options, stop.tol, seed, pool, stop.resumed(state))
        never = replace(stop, tol=-1.0)  # a small gap does not end the fit
        status, history = drive(fit.state, fit.step, fit.certify, never, callback)
        return fit.result(status, history), fit.state


class GreedyFit:
    """A fit under way. ``state`` is all of it; the panel can be computed again from the state."""

    def __init__(
        self,
        problem: BudgetProblem,
        options: GreedyOptions,
        tol: float,
        seed: int,
        pool: RowPool,
        state: State | None,
    ) -> None:
        self.problem, self.options, self.tol, self.pool = problem, options, tol, pool
        self.n_values = 0  # kernel values computed for earlier samples
        self.capacity = min(options.budget, problem.n_samples)
        self.state = State() if state is None else state.copy()
        self.path = StoredPath(self.state)
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
        n_start = 0 if self.options.start is None else len(self.options.start)
        self._sample_for(self.capacity)  # raises, before any work, if the memory is too small
        self._sample_for(min(self.capacity, max(FIRST_SAMPLE_BUDGET, 2 * n_start)))
        new = self.options.choose_alpha and not (len(self.sample.start) and self.sample.can_tune)
        state.alpha = first_alpha(self.problem) if new else self.problem.alpha
        if self.options.choose_alpha and not new:  # the problem's is that of all rows
            state.alpha /= self.share_of_weight()
        state.support = np.zeros(0, dtype=np.int64)  # positions in the sample
        state.V, state.factor = np.zeros((0, n_columns)), np.zeros((0, 0))
        state.ends = np.zeros(0, dtype=np.int64)
        state.swap_size, state.n_swaps = 0, 0
        state.final_coef = np.zeros((0, n_columns))
        if n_start:
            added = self.append(self.sample.start)
            if self.options.coef is not None:
                state.V = self.panel.factor.T @ self.options.coef[added]
            state.V = self.grown()
            self._store_panel()

    def _sample_for(self, budget: int) -> None:
        """Work on a sample large enough for so many support vectors; it contains smaller samples."""
        self.state.sampled_for = budget
        options, row_bytes = self.options, self.capacity * self.problem.kernel.dtype.itemsize
        copies = 3 if options.move else 2  # undoing swaps and trying centre positions need copies
        limit = options.cache_bytes // (copies * row_bytes)
        self.sample = GrowthSample(
            self.problem, budget, options.n_held_out, options.choose_alpha, limit, options.start
        )
        self.kernel = self.problem.kernel.take(self.sample.rows)
        self.panel = FeaturePanel(self.kernel, self.capacity, self.pool)

    def _enlarge(self) -> None:
        """Change to a larger sample."""
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
        self._store_panel()

    def _store_panel(self) -> None:
        self.state.ends = np.array(self.panel.ends, dtype=np.int64)
        self.state.factor = self.panel.factor.copy()

    def _replay(self) -> None:
        """Compute the panel again, in the same blocks."""
        state = self.state
        self._sample_for(state.sampled_for)
        points = state.centres if "centres" in state else self.kernel.points(state.support)
        self.panel.fill(points, state.factor, state.ends.tolist())

    def present(self) -> Refit:
        """The bounds at the present coefficients, with outputs computed anew."""
        V = self.state.V
        F = self.panel.dot(V) if len(V) else np.zeros(self.sample.targets.shape)
        return refit(self.reduced(), V, F, np.inf)

    def reduced(self, alpha: float | None = None) -> ReducedProblem:
        """The problem for the present support vectors on the rows of the sample."""
        alpha = self.state.alpha if alpha is None else alpha
        there, sample = self.problem, self.sample
        return ReducedProblem(self.panel, sample.targets, sample.cost, there.loss, alpha, there.argument)

    def take(self, fitted: Refit) -> None:
        """Make these coefficients the present ones."""
        self.fitted, self.state.V = fitted, fitted.V
        self._store_panel()

    # ---- the loop ----

    def step(self) -> Status | None:
        """One round of the present phase."""
        self.state.best_dual = -np.inf  # each round solves its own problem
        self.state.round += 1
        if self.state.phase == "finish":
            return finish(self)
        {"grow": self._grow, "swap": self._swap, "move": self._move}[self.state.phase]()
        return None

    def certify(self) -> Certificate:
        """Bounds of the reduced problem."""
        fitted = own_bounds(self.reduced(), self.fitted)
        self.certified = self._model_of(State(**self.state))
        unit = self.problem.unit
        primal, gap = unit * float(fitted.primal.sum()), unit * float(fitted.gap.sum())
        n_values = self.n_values + self.kernel.n_values + self.problem.kernel.n_values
        tiny = FLOAT_EPS * unit * self.problem.at_zeros
        return Certificate(primal, primal - gap, self.panel.size, n_values, tiny=tiny)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self.state.seed, self.state.round])

    def _grow(self) -> None:
        state, b = self.state, self.panel.size
        if b >= state.sampled_for < self.capacity:
            self._enlarge()
        self.fitted = self.present()
        if budget_is_full(b, self.options.budget) or self._no_progress():
            if state.round == 1:  # full from the start, with an alpha that was chosen for it
                self._tune(keep=True)
            if self._may_swap():
                state.phase = "swap"
            else:
                self._end_choice()
            return
        picks, promise = self.picks(self._n_picks(b))
        promising = is_promising(promise, float(self.fitted.primal.sum()), self.tol)
        state.empty = 0 if promising and self.append(picks).any() else state.empty + 1
        ends = candidates_are_used_up(state.empty, len(state.support), self.sample.n_trained)
        self.take(refit(self.reduced(), self.grown(), self.fitted.F, PATH_TOL))
        if self._time_to_tune(b, ends):
            self._tune()
        add_present(self)
        if self.options.n_held_out:
            refit_path(self, anew=False)
        if ends:
            self._end_choice()

    def _n_picks(self, b: int) -> int:
        """Support vectors to add to b: up to the next stated budget, and several at once for a large one."""
        budget = self.options.budget
        at_once = min(budget // MIN_ROUNDS_OF_GROWTH, MAX_FIRST_PICKS)
        least = min(b + (budget // 2 if self._has_few_rows() else at_once), budget)
        return next(s for s in stated_budgets(budget) if s >= max(least, b + 1)) - b

    def _has_few_rows(self) -> bool:
        """Whether any choice covers much of the data: then two rounds grow the set, and swaps are useless."""
        return self.sample.n_trained <= FEW_ROWS_PER_SUPPORT_VECTOR * self.options.budget

    def _no_progress(self) -> bool:
        if not self.options.n_held_out:
            return False
        return held_out_loss_has_settled([point.held_out_loss for point in self.path.points()])

    def _tune(self, *, keep: bool = False) -> None:
        """Look for a better alpha, where it is not given; ``keep`` the present one if it is as good."""
        state = self.state
        if self.options.choose_alpha and self.sample.can_tune:
            share = self.share_of_weight()
            default = first_alpha(self.problem) / share  # of the sample
            search = AlphaSearch(self.reduced, self.sample, PATH_TOL, share=share, default=default)
            chosen = search.choose(state.alpha, self.fitted, keep=keep)
            state.alpha = chosen.alpha
            self.take(chosen.fitted)
            table = np.insert(search.table(), 0, self.panel.size, axis=1)
            state.alpha_search = np.concatenate([state.get("alpha_search", table[:0]), table])

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
        at_the_end = (b >= self.options.budget or ends) and self._affordable()
        return at_the_end or any(before < turn <= b for turn in ALPHA_CHOSEN_AT)

    def _affordable(self) -> bool:
        return bool(self.options.budget**2 * self.problem.n_columns <= MAX_IMPROVEMENT_WORK)

    def _may_swap(self) -> bool:
        full = self.panel.size == self.options.budget and not self._has_few_rows()
        allowed = self.options.swaps and self.options.pick is None
        return full and self._affordable() and allowed and self.most_swaps() > 0

    def most_swaps(self) -> int:
        """How many swaps may be tried."""
        return most_swaps(self.options.budget, self.sample.n_trained * self.problem.n_columns)

    def picks(self, n_picks: int) -> tuple[np.ndarray, float]:
        """New support vectors among candidates drawn at random, and the best one's promise."""
        rng, n_draws = (
            self._rng(),
            max(self.options.n_candidates, self.options.n_candidates * n_picks // PICKS_PER_DRAW),
        )
        candidates = self.sample.draw(n_draws, self.state.support, rng)
        if len(candidates) == 0:
            return candidates, 0.0
        if self.options.pick is not None:
            F, y = self.fitted.F[candidates], self.sample.targets[candidates]
            return candidates[self.options.pick(F, y, n_picks, rng)], np.inf
        n_rows = self.sample.n_trained
        size = int(np.clip(KERNEL_VALUES_PER_SHORTLIST // len(candidates), MIN_ROWS_PER_SHORTLIST, n_rows))
        start = int(rng.integers(n_rows - min(size, n_rows) + 1))
        rows = slice(start, min(start + size, n_rows))
        return pick_by_gain(self.reduced(), self.fitted.F, n_rows, rows, candidates, n_picks)

    def _swap(self) -> None:
        """Try one swap of support vectors."""
        self.fitted = self.present()
        if not swap_round(self):
            self._end_choice()

    def _end_choice(self) -> None:
        """End the choice of support vectors; moving them and the last refit remain."""
        refit_path(self, anew=bool(self.state.n_swaps or len(self.sample.start)))
        self.state.phase = "move" if self.options.move and self.panel.size else "finish"

    def _move(self) -> None:
        """Some iterations that move the support vectors off the data."""
        self.fitted = self.present()
        if not move_centers(self):
            self.state.phase = "finish"

    def share_of_weight(self) -> float:
        """The factor from alpha on the sample to alpha on all rows, which keeps C = 1 / (n alpha)."""
        n_trained = self.problem.n_samples - self.options.n_held_out
        if self.sample.covers(n_trained):
            return 1.0
        sampled = self.sample.weight[: self.sample.n_trained].sum()
        return float(sampled / self.problem.weight[:n_trained].sum())

    def result(self, status: Status, history: tuple[Check, ...]) -> BudgetResult:
        """The model and its path; that of the last certificate, where a round was cut after it."""
        model = self.certified() if status is Status.TIME_LIMIT else self._model_of(self.state)()
        return replace(model, status=status, history=certified(history))

    def _model_of(self, state: State) -> Callable[[], BudgetResult]:
        """The model and its path at a state; at the end the last point is the model itself."""
        rows, points = self.sample.rows, self.panel.points

        def model() -> BudgetResult:
            calibration = None
            if "untrained_rows" in state:
                calibration = UntrainedOutputs(state.untrained_rows, state.untrained_outputs)
            coef = state.final_coef
            if not len(coef):
                coef = solve_triangular(state.factor.T, state.V, lower=False, check_finite=False)
            return BudgetResult(
                coef,
                0.0,
                Status.TIME_LIMIT,
                (),
                support=rows[state.support],
                points=points if "centres" in state else None,
                path=final_points(state, coef),
                alpha=state.alpha,
                alpha_search=state.get("alpha_search", np.zeros((0, 5))),
                calibration=calibration,
            )

        return model

"""Support vectors added one at a time by stochastic gradient steps (Blondel, Seki, Uehara).

Each column of a ``BudgetProblem`` takes Pegasos steps, of rate ``eta = 1/(alpha t)``, on samples drawn in
proportion to their weights. Growing (Algorithm 1) draws some candidates, selects one of them, and steps:

    a = (1 - eta alpha) a;   if u != 0, the sample becomes a support vector with a_i = eta u.

Back-fitting (Algorithm 2) then steps in the coefficients of the support vectors there are, for some samples
each of which is drawn afresh: ``a = (1 - eta alpha) a + eta u (k(x_i, x_j))_j``. Columns share the support
vectors and the kernel values. Each has its own t, because a sample is a step of only those columns in which
it takes part. The first step (t = 1) forgets whatever coefficients there were.

No single objective is minimised and there is no certificate. ``primal`` in the history is the mean loss over
the candidates drawn since the previous check, each at the time of its draw, summed over the columns (of f = 0
before the first draw): a free estimate of what the source minimises, which has no penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _native
from ...data import check_number
from ...kernels import n_points
from ...solving import Callback, Certificate, State, Status, Stop, drive
from .ending import incremental_status
from .path import PathPoint, StoredPath, stated_budgets
from .problem import BudgetProblem, BudgetResult
from .selectors import Candidates, Selector, selector_from_name

KERNEL_VALUES_PER_BLOCK = 1 << 22  # in memory while back-fitting


@dataclass(frozen=True)
class Expansion:
    """``f_c(x) = sum_j coef[j, c] k(x, points[j])``, found on earlier data; t numbers the next step.

    ``rows`` are the points' positions where all of them are rows of the problem, and so no candidates.
    """

    points: Any
    coef: np.ndarray
    t: np.ndarray | int
    rows: np.ndarray | None = None


@dataclass(frozen=True)
class BackFit:
    """How many samples to back-fit with: some after each step of growth, and ``n_in_all``, if it is given.

    No step follows once there were so many in all; where growth ends earlier, the rest comes at once.
    """

    n_each: int = 0
    n_in_all: int | None = None

    def n_next(self, n_done: int, grown: bool) -> int:
        """Samples after the next step, ``n_done`` having been used before; ``grown`` if growth has ended."""
        if self.n_in_all is None:
            return self.n_each
        n_left = self.n_in_all - n_done
        return n_left if grown else min(self.n_each, n_left)


@dataclass(frozen=True)
class IncrementalOptions:
    """How support vectors are chosen."""

    budget: int
    select: Selector
    n_candidates: int
    back_fit: BackFit
    cancel: np.ndarray


def incremental(
    problem: BudgetProblem,
    *,
    budget: int,
    selection: str | Selector = "loss-probabilistic",
    back_fit: BackFit | int | None = None,
    n_candidates: int = 60,
    stop: Stop,
    seed: int = 0,
    start: Expansion | None = None,
    state: State | None = None,
    callback: Callback | None = None,
) -> BudgetResult:
    """Choose up to ``budget`` support vectors and their coefficients for a ``BudgetProblem``.

    Parameters
    ----------
    problem : BudgetProblem
    budget : int
        Support vectors in all. ``Status.BUDGET_FULL`` means that they were found, and
        ``Status.NO_LOSS_LEFT`` that the candidates are used up or that none of those drawn in
        ``MAX_EMPTY_DRAWS`` draws in a row had a loss.
    selection : str or Selector
        Which candidate of a draw is taken; see ``selectors.py``.
    back_fit : BackFit, int or None
        Samples to back-fit with, after each step of growth where it is a number; None for no back-fitting.
        They are drawn from the candidates, or from all rows where there are none left.
    n_candidates : int
        Candidates in a draw.
    stop : Stop
        ``max_iter`` bounds the steps of growth; checks come at the stated budgets.
    seed : int
        Draws depend on it and on the number of samples met before, and on nothing else.
    start : Expansion, optional
        Support vectors and coefficients to start from, which count towards the budget. They come first in
        the result, with -1 for their rows where these are not given. Where they fill the budget, one round
        of back-fitting follows.
    state : State, optional
        A state to resume from, of the same problem, options and start.
    callback : callable, optional

    Returns
    -------
    BudgetResult
        ``path`` holds the coefficients of each stated budget as they stood last, back-fitting included.
        ``Status.DIVERGED`` is an overflow, to which a small alpha and losses with unbounded slopes may
        lead; the coefficients are then the last finite ones.
    """
    for name, value in (("budget", budget), ("n_candidates", n_candidates)):
        check_number(name, value, at_least=1, integer=True)
    if not isinstance(back_fit, BackFit):
        check_number("back_fit", back_fit or 1, at_least=1, integer=True)
        back_fit = BackFit(back_fit or 0)
    options = IncrementalOptions(budget, selector_from_name(selection), n_candidates, back_fit, stop.cancel)
    state = stop.resumed(state) or _begin(problem, budget, seed, start)
    state.setdefault("n_back_fitted", 0)  # states of earlier versions have none
    foreign = start.points if start is not None and start.rows is None else None
    growth = Growth(problem, options, foreign, state)
    status, history = drive(state, growth.step, growth.certify, stop, callback, due=lambda: state.check_due)
    coef, n = growth.coef(), state.n_support
    path = {point.budget: point for point in StoredPath(state).points()} | {n: PathPoint(n, coef)}
    return BudgetResult(
        coef, 0.0, status, history, support=state.support[:n].copy(), path=path, t=state.t.copy()
    )


def _begin(problem: BudgetProblem, budget: int, seed: int, start: Expansion | None) -> State:
    n_given = 0 if start is None else n_points(start.points)
    if n_given > budget:
        raise ValueError(f"start has {n_given} points, more than the budget of {budget}; raise the budget.")
    n_foreign = n_given if start is not None and start.rows is None else 0
    capacity, n_columns = min(budget, n_foreign + problem.n_samples), problem.n_columns
    state = State(
        a=np.zeros((n_columns, capacity)),  # the coefficients of column c are scale[c] * a[c]
        scale=np.ones(n_columns),
        t=np.ones(n_columns, dtype=np.int64),
        support=np.full(capacity, -1),
        n_support=n_given,
        n_met=1,
        seed=seed,
        n_empty=0,
        loss_seen=np.zeros(n_columns),
        n_seen=np.zeros(n_columns),
        kernel_values=0,
        check_due=False,
    )
    if start is not None:
        state.a[:, :n_given] = start.coef.T
        state.t[:] = start.t
        state.support[:n_given] = -1 if start.rows is None else start.rows
        state.n_met = state.t.max()
    return state


class Growth:
    """Steps of Algorithm 1, each with its back-fitting."""

    def __init__(
        self, problem: BudgetProblem, options: IncrementalOptions, points: Any, state: State
    ) -> None:
        self.problem, self.options, self.state = problem, options, state
        self.stated = frozenset(stated_budgets(options.budget))
        self.targets = np.ascontiguousarray(problem.targets, dtype=np.float64)
        self.points, self.n_given = points, 0 if points is None else n_points(points)
        if self.n_given and problem.kernel.compiled:
            self.points = points.astype(problem.kernel.dtype, copy=False)
        self.pool = CandidatePool(problem.weight, state.support[self.n_given : state.n_support])
        if "drawn" not in state and state.n_support < options.budget:
            self._draw(np.random.default_rng([state.seed, state.n_met, 1]), 0, options.n_candidates)

    def step(self) -> Status | None:
        """Add a support vector if the selected candidate has a loss, back-fit, and draw again."""
        state = self.state
        if state.check_due:
            state.check_due, state.loss_seen[:], state.n_seen[:] = False, 0.0, 0.0
        before = state.n_support, state.a.copy(), state.scale.copy(), state.t.copy()
        rng = np.random.default_rng([state.seed, state.n_met])
        with np.errstate(over="ignore", invalid="ignore"):
            finite = state.n_support == state.a.shape[1] or self._grow(rng)
            ended = self._status()
            n_back_fit = self.options.back_fit.n_next(state.n_back_fitted, ended is not None)
            state.n_back_fitted += n_back_fit
            if ended is None and state.n_back_fitted == self.options.back_fit.n_in_all:
                ended = Status.NO_LOSS_LEFT
            if finite:
                self._draw(rng, n_back_fit, 0 if ended else self.options.n_candidates)
        if not (finite and np.isfinite(state.a).all()):
            state.n_support, state.a[...], state.scale[...], state.t[...] = before
            return Status.DIVERGED
        state.n_met += 1 + n_back_fit
        if state.n_support in self.stated:
            state.check_due = state.n_support > before[0]
            StoredPath(state).add(PathPoint(state.n_support, self.coef()))
        return ended

    def certify(self) -> Certificate:
        """The mean loss over the candidates drawn since the last check, summed over the columns."""
        state = self.state
        seen = state.n_seen > 0.0
        unseen = float(self.problem.loss.value(np.zeros(1))[0]) * int((~seen).sum())
        with np.errstate(over="ignore"):
            primal = unseen + float(np.sum(state.loss_seen[seen] / state.n_seen[seen]))
        return Certificate(primal, n_support=state.n_support, kernel_values=state.kernel_values)

    def coef(self) -> np.ndarray:
        """The coefficients, (n_support, n_columns)."""
        state = self.state
        return np.ascontiguousarray((state.scale[:, None] * state.a[:, : state.n_support]).T)

    def _status(self) -> Status | None:
        state = self.state
        return incremental_status(state.n_support, self.options.budget, self.pool.n_left, state.n_empty)

    def _grow(self, rng: np.random.Generator) -> bool:
        """One step of Algorithm 1; False if the scores are not finite."""
        problem, state, drawn = self.problem, self.state, self.state.drawn
        targets = self.targets[drawn]
        coef = state.a[:, : state.n_support].T
        scores = state.scale * _native.rows_dot(state.drawn_rows, np.arange(len(drawn)), coef)
        if not np.isfinite(scores).all():
            return False
        candidates = Candidates.of(scores, targets, problem.loss)
        state.loss_seen += candidates.losses.sum(axis=0)
        state.n_seen += np.abs(targets).sum(axis=0)
        state.n_empty = 0 if candidates.update.any() else state.n_empty + 1
        chosen = self.options.select(candidates, rng) or 0  # if no candidate has a loss, any one is taken
        u = candidates.update[chosen]
        _native.add_support(state.n_support, targets[chosen], u, problem, state)
        if u.any():
            state.support[state.n_support] = drawn[chosen]
            state.n_support += 1
            self.pool.remove(drawn[chosen])
        return True

    def _draw(self, rng: np.random.Generator, n_back_fit: int, n_candidates: int) -> None:
        """Algorithm 2 for some samples, and a draw of the next candidates.

        Their kernel values are computed in one block: two would gather and pack the support vectors twice.
        """
        state = self.state
        drawn = np.concatenate([self.pool.repeated(rng, n_back_fit), self.pool.distinct(rng, n_candidates)])
        size = max(1, KERNEL_VALUES_PER_BLOCK // max(1, state.n_support))
        kept = [np.zeros((0, state.n_support), dtype=self.problem.kernel.dtype)]
        for first in range(0, len(drawn), size):
            some = drawn[first : first + size]
            K, n = self._kernel_rows(some), max(0, min(len(some), n_back_fit - first))
            _native.back_fit(K[:n], self.targets[some[:n]], self.problem, state, self.options.cancel)
            kept.append(K[n:])
        state.drawn, state.drawn_rows = drawn[n_back_fit:], np.concatenate(kept)

    def _kernel_rows(self, drawn: np.ndarray) -> np.ndarray:
        """Kernel values of the drawn rows against the support vectors, given points first."""
        kernel, state = self.problem.kernel, self.state
        rows = state.support[self.n_given : state.n_support]
        state.kernel_values += len(drawn) * state.n_support
        if state.n_support == 0:
            return np.zeros((len(drawn), 0), dtype=kernel.dtype)
        if self.n_given == 0:
            return kernel.between(drawn, rows)
        given = kernel.block(drawn, self.points)
        return np.hstack([given, kernel.between(drawn, rows)]) if len(rows) else given


MAX_PROPOSAL_ROUNDS = 4  # before the remaining candidates are listed
MIN_CANDIDATES_PER_DRAWN = 4  # with fewer, candidates are listed at once, without proposals


class CandidatePool:
    """The candidates: rows of given weights, all positive, without those ``taken``."""

    def __init__(self, weight: np.ndarray, taken: np.ndarray) -> None:
        self.weight = weight
        self.free = np.ones(len(weight), dtype=bool)
        self.free[taken] = False
        self.n_left = int(self.free.sum())
        equal = len(weight) == 0 or bool((weight == weight[0]).all())
        self.cumulative = None if equal else np.cumsum(weight)

    def remove(self, row: int) -> None:
        """Remove a candidate."""
        self.free[row] = False
        self.n_left -= 1

    def distinct(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Draw ``size`` different candidates, or all of them, one after the other without replacement."""
        size, found = min(size, self.n_left), {}
        if MIN_CANDIDATES_PER_DRAWN * size < self.n_left:
            for _ in range(MAX_PROPOSAL_ROUNDS):
                proposed = self._propose(rng, size + size // 2, self.cumulative)
                found.update(dict.fromkeys(proposed[self.free[proposed]].tolist()))
                if len(found) >= size:
                    return np.array(list(found)[:size], dtype=np.int64)
        drawn = np.array(list(found), dtype=np.int64)
        left = self.free.copy()
        left[drawn] = False
        rest = np.flatnonzero(left)
        # Of several exponential clocks, each rings first with probability proportional to its rate.
        order = np.argsort(rng.standard_exponential(len(rest)) / self.weight[rest])
        return np.concatenate([drawn, rest[order[: size - len(drawn)]]])

    def repeated(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """``size`` independent draws of a candidate, or of any row where no candidates are left."""
        if self.n_left == 0:
            return self._propose(rng, size, self.cumulative)
        found = np.zeros(0, dtype=np.int64)
        for _ in range(MAX_PROPOSAL_ROUNDS):
            proposed = self._propose(rng, size + size // 8, self.cumulative)
            found = np.concatenate([found, proposed[self.free[proposed]]])
            if len(found) >= size:
                return found[:size]
        rest = np.flatnonzero(self.free)
        chosen = self._propose(rng, size - len(found), np.cumsum(self.weight[rest]))
        return np.concatenate([found, rest[chosen]])

    def _propose(self, rng: np.random.Generator, size: int, cumulative: np.ndarray | None) -> np.ndarray:
        """Positions drawn in proportion to the steps of a cumulative sum; uniformly where it is None."""
        if cumulative is None:
            return rng.integers(len(self.weight), size=size)
        found = cumulative.searchsorted(rng.random(size) * cumulative[-1], side="right")
        return np.minimum(found, len(cumulative) - 1)  # the product may have been rounded up to the total

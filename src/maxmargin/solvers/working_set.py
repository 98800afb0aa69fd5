"""The kernel SVM of one column by working sets.

*Active* samples have gradients that are kept up to date; the others are settled at a bound, and their
gradients are those of an earlier iterate. A round chooses a block of active samples, solves it for itself
with the kernel values between them, and updates the gradients of all active ones from the rows of those that
moved. Large problems begin with a sample of the rows, which is grown: f of the sample tells which other rows
matter. At the end every settled gradient is computed once more, and what is not settled after all returns.
"""

from __future__ import annotations

import time

import numpy as np

from .. import _native
from .drive import Callback, Certificate, drive
from .polish import polish
from .result import SolverResult, State, Stop
from .row_cache import RowCache
from .svm_problem import SvmProblem

FIRST = 4096  # samples to begin with, where there are more than half as many again
GROWTH = 4
CROWDED = 0.3  # share of support vectors with which a sample is grown to all rows at once
LARGEST_BLOCK, SMALLEST_BLOCK = 4096, 256
FREE_SHARE = 0.7  # of a block, up to which it takes in all free samples
INNER = 0.02  # a block is solved to this share of the violation over all active samples
SLACK = 0.4  # in margin: who is further than that on the safe side is settled
SHRINK_BELOW, SHRINK_SHARE = 0.1, 0.3  # relative gap and share of settled samples at which these leave
ROUGH = 0.03  # relative gap of a sample before it is grown
SLICE = 8_000_000  # kernel values that one native call reads: some 10 ms
POLISHED = 1000  # samples up to which the solution is exact


def working_sets(
    problem: SvmProblem,
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool = True,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise to ``stop.tol``; ``coef`` is y times the multipliers.

    ``state`` is one that a callback has seen, or ``start(...)`` with coefficients of a similar problem.
    """
    sets = WorkingSets(problem, cache_bytes, stop, shrinking, state)
    status, history = drive(sets.state, sets.step, sets.certify, stop, callback, sets.due)
    return SolverResult(sets.state.a, sets.b, status, history)


def start(problem: SvmProblem, tol: float, shrinking: bool, a: np.ndarray | None = None) -> State:
    """Nothing learnt yet, or coefficients that are learnt already."""
    n = len(problem.y)
    seen = FIRST if a is None and shrinking and n > FIRST + FIRST // 2 else n
    return State(
        a=np.zeros(n) if a is None else feasible(problem, a),
        g=problem.y.astype(np.float64),  # of no coefficients
        active=np.arange(seen if a is None else 0),
        seen=seen,
        target=0.5 * tol,
        dual=0.0,
        fresh=a is None,
        polished=n > POLISHED,
    )


def feasible(problem: SvmProblem, a: np.ndarray) -> np.ndarray:
    """Coefficients within the bounds, the heavier side made as light as the other."""
    a = np.clip(a, problem.lower, problem.upper)
    positive, negative = a[a > 0.0].sum(), -a[a < 0.0].sum()
    if positive == negative:
        return a
    heavier = a > 0.0 if positive > negative else a < 0.0
    return np.where(heavier, a * (min(positive, negative) / max(positive, negative)), a)


class WorkingSets:
    """Rounds on an ``SvmProblem``.

    ``state.fresh`` says that the gradients of all samples belong to the present coefficients. Where they do
    not, that of settled sample i belongs to ``snapshots[reference[i]]``.
    """

    def __init__(
        self, problem: SvmProblem, cache_bytes: int, stop: Stop, shrinking: bool, state: State | None
    ) -> None:
        self.problem, self.stop, self.shrinking = problem, stop, shrinking
        self.state = state if state is not None else start(problem, stop.tol, shrinking)
        self.deadline = time.perf_counter() + stop.max_seconds
        self.block_size = _block_size(len(problem.y), problem.kernel.dtype, cache_bytes)
        block_bytes = self.block_size**2 * np.dtype(problem.kernel.dtype).itemsize
        self.cache = RowCache(problem.kernel, cache_bytes - block_bytes)
        self.snapshots = [self.state.a.copy() if self.state.fresh else np.zeros(len(problem.y))]
        self.reference = np.zeros(len(problem.y), dtype=np.int64)
        self._take(self.state.active, np.arange(0))

    # ---- the active samples ----

    def _take(self, active: np.ndarray, kept: np.ndarray) -> None:
        """Work on these samples, of which the first are those at ``kept`` among the present ones."""
        self.cache.set_active(active, kept)
        state, problem = self.state, self.problem
        state.active = active
        self.a, self.g = state.a[active], state.g[active]
        self.lower, self.upper = problem.lower[active], problem.upper[active]
        self._look()

    def _put_back(self) -> None:
        self.state.a[self.state.active], self.state.g[self.state.active] = self.a, self.g

    def _look(self) -> None:
        """The intercept and the gap as the active samples see them."""
        problem, active = self.problem, self.state.active
        if not len(active):
            self.b, self.open, self.violation = 0.0, np.inf, np.inf
            return
        self.b = problem.intercept(active, self.a, self.g)
        self.open = problem.gap(active, self.a, self.g, self.b)
        self.violation = problem.violation(active, self.a, self.g)

    def _open_share(self) -> float:
        return self.open / max(abs(self.state.dual), self.problem.tiny)

    def _content(self) -> bool:
        everyone = self.state.seen == len(self.problem.y)
        return self._open_share() <= (self.state.target if everyone else max(self.state.target, ROUGH))

    def _settled(self, which: np.ndarray, a: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Who is at a bound and would go beyond it, with some slack."""
        lowest, highest = a <= self.problem.lower[which], a >= self.problem.upper[which]
        return (lowest & (g < self.b - SLACK)) | (highest & (g > self.b + SLACK))

    def _shrink(self) -> None:
        """Settled samples leave, where they are many and the solution has taken shape."""
        active = self.state.active
        if not self.shrinking or len(active) <= 2 * self.block_size or self._open_share() > SHRINK_BELOW:
            return
        settled = self._settled(active, self.a, self.g)
        if settled.sum() <= SHRINK_SHARE * len(active):
            return
        self._put_back()
        self.reference[active[settled]] = len(self.snapshots)
        self.snapshots.append(self.state.a.copy())
        kept = np.flatnonzero(~settled)
        self._take(active[kept], kept)

    def _choose(self) -> None:
        """Among the samples seen, whose gradients are all fresh, those that are not settled become active."""
        state = self.state
        seen = np.arange(state.seen)
        open_ = ~self._settled(seen, state.a[: state.seen], state.g[: state.seen])
        kept = np.flatnonzero(open_[state.active])
        open_[state.active] = False
        self._take(np.concatenate([state.active[kept], np.flatnonzero(open_)]), kept)

    def _evaluate(self, which: np.ndarray) -> None:
        """Fresh gradients for samples that are not active."""
        state, problem = self.state, self.problem
        support = np.flatnonzero(state.a)
        for r in np.unique(self.reference[which]):
            rows = which[self.reference[which] == r]
            change = state.a - self.snapshots[r]
            moved = np.flatnonzero(change)
            if len(moved) > len(support):  # not even the earlier coefficients are worth knowing
                state.g[rows] = problem.y[rows] - problem.ridge[rows] * state.a[rows]
                change, moved = state.a, support
            if len(moved):
                state.g[rows] -= problem.kernel.matmul(rows, moved, change[moved, None])[:, 0]

    def _refresh(self, n_seen: int) -> None:
        """Fresh gradients for the first samples."""
        settled = np.ones(n_seen, dtype=bool)
        settled[self.state.active] = False
        which = np.flatnonzero(settled)
        if len(which):
            self._evaluate(which)
        self.snapshots = [np.zeros_like(self.state.a), self.state.a.copy()]
        self.reference[:n_seen] = 1
        self.reference[n_seen:] = 0

    # ---- steps ----

    def step(self) -> bool:
        """A round, or a look at samples that are not active; true where nothing more can be gained."""
        state, n = self.state, len(self.problem.y)
        if state.fresh and len(state.active) < state.seen:  # the certificate before was not good enough
            state.target *= 0.5
            self._choose()
        state.fresh = False
        if not self._content():
            return self._round()
        self._put_back()
        if state.seen < n:
            self._grow()
        elif not state.polished:
            self._polish()
        else:
            self._refresh(n)
            state.fresh = True
        return False

    def due(self) -> bool:
        """Whether a certificate can be had for little."""
        return bool(self.state.fresh)

    def certify(self) -> Certificate:
        """Bounds over all samples, with fresh gradients."""
        state, problem = self.state, self.problem
        if not state.fresh:  # stopped on the way
            self._put_back()
            self._refresh(len(problem.y))
            state.seen, state.fresh = len(problem.y), True
        everyone = slice(None)
        self.b = problem.intercept(everyone, state.a, state.g)
        state.dual = problem.dual(everyone, state.a, state.g)
        return Certificate(
            primal=state.dual + problem.gap(everyone, state.a, state.g, self.b),
            dual=state.dual,
            n_support=int(np.count_nonzero(state.a)),
            kernel_values=problem.kernel.n_values,
            tiny=problem.tiny,
            violation=problem.violation(everyone, state.a, state.g),
            hit_rate=self.cache.hit_rate,
        )

    def _grow(self) -> None:
        """More samples; who of them is not settled joins."""
        state, n = self.state, len(self.problem.y)
        n_seen = n if CROWDED * state.seen < np.count_nonzero(state.a) else min(n, GROWTH * state.seen)
        self._refresh(n_seen)
        state.seen = n_seen
        self._choose()

    def _round(self) -> bool:
        """A block of samples is solved, and the gradients of all active ones follow."""
        state, problem, cancel = self.state, self.problem, self.stop.cancel
        block = self._block()
        samples = state.active[block]
        slots = self.cache.fetch(samples)
        K = self.cache.between(slots, block)
        K[np.diag_indices(len(K))] += problem.ridge[samples].astype(K.dtype)
        a, g = self.a[block], self.g[block]
        before, slope = a.copy(), g.copy()
        self._solve_block(K, a, g, self.lower[block], self.upper[block])
        change = a - before
        moved = np.flatnonzero(change)
        if not len(moved):
            return True
        state.dual += 0.5 * float(change @ (slope + g))
        self.cache.subtract(slots[moved], change[moved], self.g)
        self.a[block], self.g[block] = a, g
        self._look()
        self._shrink()
        return False

    def _solve_block(
        self, K: np.ndarray, a: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> None:
        """SMO until the block violates optimality by a share of what all active samples do."""
        tolerance = INNER * self.violation
        steps, at_once = 0, max(1, SLICE // len(a))
        while steps < 100 * len(a):
            taken, _, stalled = _native.smo_block(K, a, g, lower, upper, tolerance, at_once, self.stop.cancel)
            steps += taken
            if taken < at_once or stalled or self._late():
                return

    def _late(self) -> bool:
        return time.perf_counter() >= self.deadline or bool(self.stop.cancel[0])

    def _block(self) -> np.ndarray:
        """Positions of free samples, which must be able to make good what others do, and of violating ones."""
        size = min(self.block_size, self.cache.capacity)
        if len(self.a) <= size:
            return np.arange(len(self.a))
        up, down = self.a < self.upper, self.a > self.lower
        free = np.flatnonzero(up & down)
        chosen = np.zeros(len(self.a), dtype=bool)
        if len(free) <= FREE_SHARE * size:
            chosen[free] = True
        half = (size - int(chosen.sum())) // 2
        for may, order in ((up, -self.g), (down, self.g)):
            others = np.flatnonzero(may & ~chosen)
            chosen[others[_smallest(order[others], half)]] = True
        return np.flatnonzero(chosen)

    def _polish(self) -> None:
        """The exact solution of a small problem."""
        state, problem = self.state, self.problem
        state.a = polish(problem, state.a, self._late)
        support = np.flatnonzero(state.a)
        state.g = problem.y - problem.ridge * state.a
        everyone = np.arange(len(state.a))
        state.g -= problem.kernel.matmul(everyone, support, state.a[support, None])[:, 0]
        state.polished = True
        self._take(state.active, everyone)


def _block_size(n: int, dtype: np.dtype, cache_bytes: int) -> int:
    """A quarter of the samples, within limits; a block takes no more than a quarter of the memory."""
    within = int(np.sqrt(max(cache_bytes, 0) / 4 / np.dtype(dtype).itemsize))
    return max(2, min(int(np.clip(n // 4, SMALLEST_BLOCK, LARGEST_BLOCK)), within))


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the smallest values are."""
    return np.argpartition(values, count)[:count] if count < len(values) else np.arange(len(values))

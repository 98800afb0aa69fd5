"""The kernel SVM of one column by working sets.

*Active* samples have gradients that are kept up to date; the others are settled at a bound, and their
gradients are those of an earlier iterate. A round chooses a block of active samples, solves it for itself
with the kernel values between them, and updates the gradients of all active ones from the rows of those that
moved. Large problems begin with a sample of the rows, which is grown: f of the sample tells which other rows
matter. At the end every settled gradient is computed once more, and what is not settled after all returns.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ... import _native
from ...data import check_kernel_sums, lazy_array
from ...solving import Callback, Certificate, SolverResult, State, Status, Stop, drive, without_bound
from .polish import polish
from .problem import SvmProblem, balanced, refuted_by
from .row_cache import RowCache, SettledSamples, unmoved
from .small_sets import SmallSets, stands_still

N_INITIAL_ROWS = 4096  # samples to begin with, where there are more than half as many again
GROWTH, FAST_GROWTH, CROWDED = 2, 4, 0.3  # of the sample, and the share of support vectors that decides
BLOCK_SHARE, SMALLEST_BLOCK = 8, 128  # a block is an eighth of the samples, or at least so many
LARGEST_BLOCK = 4096
FREE_SHARE = 0.7  # of a block, up to which it takes in all free samples
SMALL, SMALL_ROUNDS = 2048, 16  # up to so many samples, so many rounds are one step
INNER = 0.02  # a block is solved to this share of the violation over all active samples
SLACK = 0.5  # in margin: who is further than that on the safe side is settled
SHRINK_BELOW, SHRINK_SHARE = 0.1, 0.3  # relative gap and share of settled samples at which these leave
SHARE = 0.1  # of tol, to which the active samples are solved: the dual value is then good to a tenth of tol
ROUGH = 0.03  # relative gap of a sample before it is grown
POLISHED = 1000  # samples up to which the solution is exact
LOOKS = 3  # at settled samples, at most, before a certificate is given however many come back
PATIENCE = 4  # steps after which such a problem is left to the exact method
NEARLY_EXACT = 1e-8  # relative gap from which that is tried


def working_sets(
    problem: SvmProblem,
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool = True,
    state: State | None = None,
    callback: Callback | None = None,
    memory: np.ndarray | None = None,
) -> SolverResult:
    """Minimise to ``stop.tol``; ``coef`` is y times the multipliers.

    ``memory`` is an array of the kernel's dtype, of ``cache_bytes``, that may be written to: pages that are
    used again need not be found again. ``state`` is one that a callback has seen, or ``start(...)`` with
    coefficients of a similar problem.
    """
    state = stop.resumed(state) or start(problem, stop.tol, shrinking)
    sets = sets_for(problem, cache_bytes, stop, shrinking, state, memory)
    return solved(sets, stop, callback)


def solved(sets: SmallSets | WorkingSets, stop: Stop, callback: Callback | None = None) -> SolverResult:
    """Rounds until ``stop``; a problem whose kernel values are not finite is refused.

    A kernel that turns out not to be positive semi-definite leaves the solution, and takes its bounds away.
    """
    status, history = drive(sets.state, sets.step, sets.certify, stop, callback, sets.due)
    if status is Status.FAILED:
        check_kernel_sums(sets.problem.kernel.dtype, sets.state.g)
    result = SolverResult(sets.state.a.copy(), sets.b, status, history)
    refuted = refuted_by(sets.problem, sets.state.a, sets.state.g, sets.kernel_among)
    return without_bound(result) if refuted else result


def sets_for(
    problem: SvmProblem,
    cache_bytes: int,
    stop: Stop,
    shrinking: bool,
    state: State,
    memory: np.ndarray | None = None,
) -> SmallSets | WorkingSets:
    """The way that the problem's size asks for."""
    small = small_sets(problem, stop, cache_bytes, state, memory)
    return small or WorkingSets(problem, cache_bytes, stop, shrinking, state, memory)


def small_sets(
    problem: SvmProblem, stop: Stop, cache_bytes: int, state: State, memory: np.ndarray | None
) -> SmallSets | None:
    """The short way, where there are few samples, memory for all their rows, and gradients of all of them."""
    n, dtype = len(problem.y), np.dtype(problem.kernel.dtype)
    if not 2 <= n <= SMALL or 2 * n * n * dtype.itemsize > cache_bytes:
        return None
    if len(state.active) < n:
        if (state.row_path != state.path).any():
            return None
        state.active, state.seen = np.arange(n), n
    if memory is None or len(memory) < 2 * n * n:
        memory = lazy_array(2 * n * n, dtype)
    block = min(n, LARGEST_BLOCK, max(SMALLEST_BLOCK, n // BLOCK_SHARE))
    rules = {
        "block": block,
        "largest_block": min(n, LARGEST_BLOCK),
        "free_share": FREE_SHARE,
        "inner": INNER,
    }
    return SmallSets(problem, stop, state, memory, rules)


def start(
    problem: SvmProblem,
    tol: float,
    shrinking: bool,
    a: np.ndarray | None = None,
    f: np.ndarray | None = None,
) -> State:
    """A cold start; or given coefficients, with their outputs if these are known."""
    n = len(problem.y)
    seen = N_INITIAL_ROWS if a is None and shrinking and n > N_INITIAL_ROWS + N_INITIAL_ROWS // 2 else n
    g = problem.y.astype(np.float64)  # of no coefficients
    coef = np.zeros(n) if a is None else balanced(problem, a)
    if f is not None:
        g -= f + problem.ridge * coef
    return State(
        a=coef,
        g=g,
        active=np.arange(seen if a is None else 0),
        seen=seen,
        target=SHARE * tol,
        dual=0.0,
        covered=a is None or f is not None,
        polished=n > POLISHED,
        path=0.0,
        looks=0,
        still=0,
        **unmoved(coef if f is not None else np.zeros(n), known=a is None or f is not None),
    )


class WorkingSets:
    """Rounds on an ``SvmProblem``.

    ``state.covered`` says that what is known of the samples that are not active makes a certificate: each has
    a fresh gradient, or is settled for sure.
    """

    def __init__(
        self,
        problem: SvmProblem,
        cache_bytes: int,
        stop: Stop,
        shrinking: bool,
        state: State,
        memory: np.ndarray | None = None,
    ) -> None:
        self.problem, self.stop, self.shrinking, self.state = problem, stop, shrinking, state
        self.deadline, self.b = time.perf_counter() + stop.max_seconds, 0.0
        n, itemsize = len(problem.y), np.dtype(problem.kernel.dtype).itemsize
        within = int(np.sqrt(cache_bytes / 4 / itemsize))  # a block's matrix takes a quarter of the memory
        self.largest_block = max(2, min(LARGEST_BLOCK, n, within))
        self.block_size = min(self.largest_block, max(SMALLEST_BLOCK, n // BLOCK_SHARE))
        n_block = self.largest_block**2
        if memory is None or len(memory) < n_block:
            memory = lazy_array(n_block, problem.kernel.dtype)
        self.block_memory = memory[:n_block]
        self.cache = RowCache(problem.kernel, cache_bytes - n_block * itemsize, memory[n_block:])
        self.settled = SettledSamples(problem, self.state)
        self._take(self.state.active, np.arange(0))

    def go_on(self, problem: SvmProblem, state: State, stop: Stop) -> None:
        """Solve another problem with the same kernel and targets; the active samples keep their rows."""
        self.problem, self.state, self.stop = problem, state, stop
        self.deadline = time.perf_counter() + stop.max_seconds
        self.settled = SettledSamples(problem, state)
        self._take(state.active, np.arange(len(state.active)))
        self._cover()
        state.covered = False

    # ---- the active samples ----

    def _take(self, active: np.ndarray, kept: np.ndarray) -> None:
        """Work on these samples, of which the first are those at ``kept`` among the present ones."""
        self.cache.set_active(active, kept)
        state, problem = self.state, self.problem
        state.active = active
        self.a, self.g = state.a[active], state.g[active]
        self.lower, self.upper = problem.lower[active], problem.upper[active]
        self.y, self.cost = problem.y[active], problem.cost[active]
        self._look()

    def _put_back(self) -> None:
        self.state.a[self.state.active], self.state.g[self.state.active] = self.a, self.g

    def _look(self) -> None:
        """The intercept, the gap and the KKT violation as the active samples see them."""
        if len(self.a):
            self.b, self.open, self.violation = _native.svm_look(*self._samples())
        else:  # nobody has anything to gain
            self.open = self.violation = 0.0

    def _samples(self) -> tuple[Any, ...]:
        return self.a, self.g, self.lower, self.upper, self.y, self.cost, self.problem.squared

    def _open_share(self) -> float:
        return self.open / max(abs(self.state.dual), self.problem.tiny)

    def _target(self) -> float:
        everyone = self.state.seen == len(self.problem.y)
        return self.state.target if everyone else max(self.state.target, ROUGH)

    def _shrink(self) -> None:
        """Settled samples leave, where they are many and the solution has taken shape."""
        active = self.state.active
        if not self.shrinking or len(active) <= SMALL or self._open_share() > SHRINK_BELOW:
            return
        settled = self.settled.by(SLACK, active, self.a, self.g, self.b)
        if settled.sum() <= SHRINK_SHARE * len(active):
            return
        self._put_back()
        self._keep_active(np.flatnonzero(~settled), active[:0])

    def _keep_active(self, kept: np.ndarray, others: np.ndarray) -> None:
        """Continue with the active samples at these positions, and with others."""
        active = self.state.active
        gone = np.ones(len(active), dtype=bool)
        gone[kept] = False
        if gone.any():
            self.settled.leave(active[gone])
        self._take(np.concatenate([active[kept], others]), kept)

    def _choose(self) -> None:
        """Active samples that are settled leave, others with a fresh gradient that are not come."""
        state = self.state
        everyone = np.arange(state.seen)
        open_ = ~self.settled.by(SLACK, everyone, state.a[: state.seen], state.g[: state.seen], self.b)
        kept = np.flatnonzero(open_[state.active])
        open_[state.active] = False
        open_ &= self.settled.fresh(everyone)
        self._keep_active(kept, np.flatnonzero(open_))

    def _inactive(self) -> np.ndarray:
        n = len(self.problem.y)
        if len(self.state.active) == n:
            return self.state.active[:0]
        inactive = np.ones(n, dtype=bool)
        inactive[self.state.active] = False
        return np.flatnonzero(inactive)

    # ---- steps ----

    def step(self) -> bool:
        """A round, or a look at samples that are not active; true where nothing more can be gained."""
        state = self.state
        if state.covered and len(state.active) < state.seen:  # the certificate before was not good enough
            state.target *= 0.5
            self._choose()
            if self._open_share() <= self._target():  # who is active sees nothing wrong: everybody has a look
                self.settled.evaluate(self._inactive())
                self._keep_active(np.arange(len(state.active)), self._inactive())
        state.covered = False
        everyone = state.seen == len(self.problem.y)
        if not self._open_share() <= self._target() and not (everyone and self._weary()):
            stalled = self._rounds()
            if not stalled or (everyone and state.polished):
                return stalled
        self._put_back()
        if state.seen < len(self.problem.y):
            self._grow()
        elif not state.polished:
            self._polish()
        else:
            self._cover()
        return False

    def _weary(self) -> bool:
        """Whether a small problem is so hard for pairs that the exact method does better."""
        return not self.state.polished and self.state.n_iter >= PATIENCE

    def due(self) -> bool:
        """Whether a certificate can be had for little."""
        return bool(self.state.covered)

    def certify(self) -> Certificate:
        """Bounds over all samples."""
        state, problem = self.state, self.problem
        if not state.covered:  # stopped on the way
            self._put_back()
            state.seen = len(problem.y)
            self.settled.evaluate(self._inactive())
            state.covered = True
        known = self._known()
        self.b, gap, violation = self._look_at(known)
        if isinstance(known, slice):
            state.dual = problem.dual(known, state.a, state.g)
        return Certificate(
            primal=state.dual + gap,
            dual=state.dual,
            n_support=int(np.count_nonzero(state.a)),
            kernel_values=problem.kernel.n_values,
            tiny=problem.tiny,
            violation=violation,
            hit_rate=self.cache.hit_rate,
        )

    def _known(self) -> np.ndarray | slice:
        """The samples with fresh gradients."""
        inactive = self._inactive()
        fresh = inactive[self.settled.fresh(inactive)]
        if len(self.state.active) + len(fresh) == len(self.problem.y):
            return slice(None)
        return np.sort(np.concatenate([self.state.active, fresh]))

    def _look_at(self, which: np.ndarray | slice) -> tuple[float, float, float]:
        state, problem = self.state, self.problem
        parts = (state.a, state.g, problem.lower, problem.upper, problem.y, problem.cost)
        b, gap, violation = _native.svm_look(*(part[which] for part in parts), problem.squared)
        return float(b), float(gap), float(violation)

    def _cover(self) -> None:
        """Fresh gradients for all samples of which it is not sure that they are settled."""
        state, gap = self.state, self.open
        while len(unsure := self.settled.unsure(self._inactive(), self.b)):
            self.settled.evaluate(unsure)
            self.b, gap, _ = self._look_at(self._known())
        state.looks += 1
        if gap > 2.0 * max(self.open, state.target * abs(state.dual)) and state.looks <= LOOKS:
            self._choose()  # others have something to gain, and what they need is at hand
        else:
            state.covered, state.looks = True, 0

    def _grow(self) -> None:
        """More samples; who of them is not settled joins."""
        state = self.state
        before, n_support = state.seen, np.count_nonzero(state.a)
        growth = FAST_GROWTH if n_support < CROWDED * before else GROWTH
        state.seen = min(len(self.problem.y), growth * before)
        self.settled.evaluate(np.arange(before, state.seen))
        self._choose()

    def _rounds(self) -> bool:
        """Blocks of samples are solved, and the gradients of all active ones follow."""
        stalled = self._run_rounds(SMALL_ROUNDS if len(self.a) <= SMALL else 1, self._target())
        still = stands_still(self.state, self.violation, self.g)
        self._shrink()
        return stalled or still

    def _run_rounds(self, n_rounds: int, target: float) -> bool:
        state, cache = self.state, self.cache
        _, state.dual, moved, stalled, _ = _native.svm_rounds(
            cache.rows,
            self.block_memory,
            *self._samples(),
            block=min(self.block_size, cache.capacity),
            largest_block=min(self.largest_block, cache.capacity),
            n_rounds=n_rounds,
            free_share=FREE_SHARE,
            inner=INNER,
            target=target,
            tiny=self.problem.tiny,
            seconds=max(self.deadline - time.perf_counter(), 0.0),
            dual=state.dual,
            fetch=lambda block: cache.fetch(state.active[block]),
            n_threads=self.problem.kernel.n_threads,
            cancel=self.stop.cancel,
        )
        state.path += moved
        self._look()
        return bool(stalled)

    def kernel_among(self, which: np.ndarray) -> np.ndarray:
        """The kernel values between some samples."""
        return self.problem.kernel.between(which, which)

    def _late(self) -> bool:
        return time.perf_counter() >= self.deadline or bool(self.stop.cancel[0])

    def _polish(self) -> None:
        """The exact solution of a small problem, all of whose samples are active."""
        state = self.state
        self._run_rounds(SMALL_ROUNDS, NEARLY_EXACT)
        self._put_back()
        with _native.one_blas_thread():
            state.a, state.g = polish(self.problem, state.a, self._late)
        state.polished = True
        state.path += 1.0  # the way there is not known
        self.settled.leave(self._inactive())
        self._take(state.active, np.arange(len(state.active)))

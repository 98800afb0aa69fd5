"""The working-set method for the dual of one column.

*Active* samples have current gradients. The others are settled at a bound, and their gradients belong to an
earlier iterate. A round chooses a block of active samples, solves the block alone with its own kernel matrix,
and updates the gradients of all active samples from the kernel rows of those that moved. Large problems start
on a subset of the rows, which grows: f on the subset shows which other rows matter. At the end the gradients
of settled samples are recomputed, and samples that are not settled after all become active again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _native
from ...data import lazy_array
from ...solving import Certificate, State, Stop
from .packed_block import ActiveSamples, PackedBlock, worth_packing
from .pairs import PairLimits
from .polish import polish
from .problem import BLOCKS_PER_PROBLEM, BoxProblem, balanced
from .row_cache import RowCache, SettledSamples, unmoved
from .small_sets import GAP_BEFORE_POLISH, MAX_STEPS_BEFORE_POLISH, SmallSets, stands_still

N_INITIAL_ROWS = 4096  # size of the initial subset of problems more than 1.5 times as large
GROWTH, FAST_GROWTH = 2, 4  # factors by which the subset grows
MAX_SUPPORT_SHARE_TO_GROW_FAST = 0.3
MIN_BLOCK_SIZE, MAX_BLOCK_SIZE = 128, 4096
MAX_FREE_SHARE = 0.7  # share of a block that free samples may fill
MAX_SMALL_SAMPLES = 2048  # a problem up to this size is small: it is never shrunk
ROUNDS_PER_SMALL_STEP = 16
BLOCK_TOLERANCE = 0.02  # violation left in a block, relative to that of all active samples
SETTLED_MARGIN = 0.5  # a sample at a bound is settled if its margin is safe by more than this
MAX_GAP_TO_SHRINK = 0.1  # relative gap
MIN_SETTLED_SHARE_TO_SHRINK = 0.3
TARGET_PER_TOL = 0.1  # target gap of the active samples, which makes the dual value accurate to tol / 10
MIN_SUBSET_GAP = 0.03  # relative gap to which a subset is solved before it grows
MAX_POLISHED_SAMPLES = 1000  # problems up to this size are solved exactly
PAIR_LIMITS = PairLimits(
    min_block=MIN_BLOCK_SIZE,
    blocks_per_problem=BLOCKS_PER_PROBLEM,
    max_block=MAX_BLOCK_SIZE,
    free_share=MAX_FREE_SHARE,
    inner=BLOCK_TOLERANCE,
    max_polished=MAX_POLISHED_SAMPLES,
    target_per_tol=TARGET_PER_TOL,
)
ROUNDS_PER_PACKED_BLOCK = 4  # rounds of pairs after each packed block, for samples that are nearly the same
MAX_LOOKS_PER_CERTIFICATE = 3  # how often settled samples may become active again before a certificate


def sets_for(
    problem: BoxProblem,
    cache_bytes: int,
    stop: Stop,
    shrinking: bool,
    state: State,
    memory: np.ndarray | None = None,
) -> SmallSets | WorkingSets:
    """The solver for the size of the problem."""
    small = small_sets(problem, stop, cache_bytes, state, memory)
    return small or WorkingSets(problem, cache_bytes, stop, shrinking, state, memory)


def small_sets(
    problem: BoxProblem, stop: Stop, cache_bytes: int, state: State, memory: np.ndarray | None
) -> SmallSets | None:
    """The solver for small problems if all kernel rows fit in memory and all gradients are known."""
    n, dtype = len(problem.y), np.dtype(problem.kernel.dtype)
    if not 2 <= n <= MAX_SMALL_SAMPLES or 2 * n * n * dtype.itemsize > cache_bytes:
        return None
    if len(state.active) < n:
        if (state.row_path != state.path).any():
            return None
        state.active, state.seen = np.arange(n), n
    if memory is None or len(memory) < 2 * n * n:
        memory = lazy_array(2 * n * n, dtype)
    block = min(n, MAX_BLOCK_SIZE, max(MIN_BLOCK_SIZE, n // BLOCKS_PER_PROBLEM))
    rules: dict[str, Any] = {"block": block, "largest_block": min(n, MAX_BLOCK_SIZE)}
    rules |= {"free_share": MAX_FREE_SHARE, "inner": BLOCK_TOLERANCE}
    return SmallSets(problem, stop, state, memory, rules)


def start(
    problem: BoxProblem,
    tol: float,
    shrinking: bool,
    a: np.ndarray | None = None,
    f: np.ndarray | None = None,
) -> State:
    """A cold start, or a warm start from coefficients and, if known, their outputs."""
    n = len(problem.y)
    seen = N_INITIAL_ROWS if a is None and shrinking and n > N_INITIAL_ROWS + N_INITIAL_ROWS // 2 else n
    g = problem.y.astype(np.float64)  # the gradient at a = 0
    coef = np.zeros(n) if a is None else balanced(problem, a)
    if f is not None:
        g -= f + problem.ridge * coef
    return State(
        a=coef,
        g=g,
        active=np.arange(seen if a is None else 0),
        seen=seen,
        target=TARGET_PER_TOL * tol,
        dual=0.0,
        covered=a is None or f is not None,
        polished=n > MAX_POLISHED_SAMPLES,
        path=0.0,
        looks=0,
        still=0,
        double=False,
        n_since_packed=-1,
        **unmoved(coef if f is not None else np.zeros(n), known=a is None or f is not None),
    )


class WorkingSets:
    """Rounds on a ``BoxProblem``.

    ``state.covered`` means that a certificate can be computed: each inactive sample has a fresh gradient or
    is certainly settled.
    """

    def __init__(
        self,
        problem: BoxProblem,
        cache_bytes: int,
        stop: Stop,
        shrinking: bool,
        state: State,
        memory: np.ndarray | None = None,
    ) -> None:
        self.problem, self.stop, self.shrinking, self.state = problem, stop, shrinking, state
        self.b = 0.0
        n, itemsize = len(problem.y), np.dtype(problem.kernel.dtype).itemsize
        within = int(np.sqrt(cache_bytes / 4 / itemsize))  # a block's matrix takes a quarter of the memory
        self.largest_block = max(2, min(MAX_BLOCK_SIZE, n, within))
        self.block_size = min(self.largest_block, max(MIN_BLOCK_SIZE, n // problem.blocks))
        n_block = self.largest_block**2
        if memory is None or len(memory) < n_block:
            memory = lazy_array(n_block, problem.kernel.dtype)
        self.block_memory = memory[:n_block]
        self.cache = RowCache(problem.kernel, cache_bytes - n_block * itemsize, memory[n_block:])
        self.settled = SettledSamples(problem, self.state)
        shared = self.cache.give_half() if state.n_since_packed >= 0 else None
        self.packed = None if shared is None else PackedBlock(problem.kernel, shared)
        self._take(self.state.active, np.arange(0))

    def go_on(self, problem: BoxProblem, state: State, stop: Stop) -> None:
        """Switch to another problem with the same kernel and targets; cached rows remain."""
        self.problem, self.state, self.stop = problem, state, stop
        state.n_since_packed = -1 if self.packed is None else 0
        self.settled = SettledSamples(problem, state)
        self._take(state.active, np.arange(len(state.active)))
        self._cover()
        state.covered = False

    # ---- the active samples ----

    def _take(self, active: np.ndarray, kept: np.ndarray) -> None:
        """Make these samples active; the first are the current ones at the positions ``kept``."""
        self.cache.set_active(active, kept)
        state, problem = self.state, self.problem
        state.active = active
        self.a, self.g = state.a[active], state.g[active]
        self.lower, self.upper = problem.lower[active], problem.upper[active]
        self.y, self.cost = problem.y[active], problem.cost[active]
        self._look()

    def put_back(self) -> None:
        """Copy the coefficients and gradients of active samples to the state."""
        self.state.a[self.state.active], self.state.g[self.state.active] = self.a, self.g

    def _look(self) -> None:
        """Compute intercept, gap and KKT violation from the active samples."""
        if len(self.a):
            self.b, self.open, self.violation = _native.svm_look(*self._samples(), **self.problem.shape)
        else:  # no sample can improve
            self.open = self.violation = 0.0

    def _samples(self) -> tuple[Any, ...]:
        return self.a, self.g, self.lower, self.upper, self.y, self.cost, self.problem.squared

    def _open_share(self) -> float:
        return self.open / max(abs(self.state.dual), self.problem.tiny)

    def _target(self) -> float:
        everyone = self.state.seen == len(self.problem.y)
        return self.state.target if everyone else max(self.state.target, MIN_SUBSET_GAP)

    def _shrink(self) -> None:
        """Deactivate settled samples if there are many and the gap is small enough."""
        active = self.state.active
        if not self.shrinking or len(active) <= MAX_SMALL_SAMPLES or self._open_share() > MAX_GAP_TO_SHRINK:
            return
        settled = self.settled.by(SETTLED_MARGIN, active, self.a, self.g, self.b)
        if settled.sum() <= MIN_SETTLED_SHARE_TO_SHRINK * len(active):
            return
        self.put_back()
        self._keep_active(np.flatnonzero(~settled), active[:0])

    def _keep_active(self, kept: np.ndarray, others: np.ndarray) -> None:
        """Keep the active samples at these positions, and add others."""
        active = self.state.active
        gone = np.ones(len(active), dtype=bool)
        gone[kept] = False
        if gone.any():
            self.settled.leave(active[gone])
        self._take(np.concatenate([active[kept], others]), kept)

    def _choose(self) -> None:
        """Deactivate settled samples, and activate unsettled ones that have a fresh gradient."""
        state = self.state
        everyone = np.arange(state.seen)
        a, g = state.a[: state.seen], state.g[: state.seen]
        open_ = ~self.settled.by(SETTLED_MARGIN, everyone, a, g, self.b)
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
        """A round, or an update of inactive samples; True if no further progress is possible."""
        state = self.state
        if state.covered and len(state.active) < state.seen:  # the last certificate was not good enough
            state.target *= 0.5
            self._choose()
            if self._open_share() <= self._target():  # the violation is elsewhere: activate all
                self.settled.evaluate(self._inactive())
                self._keep_active(np.arange(len(state.active)), self._inactive())
        state.covered = False
        everyone = state.seen == len(self.problem.y)
        if not self._open_share() <= self._target() and not (everyone and self._weary()):
            stalled = self._rounds()
            if not stalled or (everyone and state.polished):
                return stalled
        self.put_back()
        if state.seen < len(self.problem.y):
            self._grow()
        elif not state.polished:
            self._polish()
        else:
            self._cover()
        return False

    def _weary(self) -> bool:
        """Whether the exact method should take over a small problem that pairs solve too slowly."""
        return not self.state.polished and self.state.n_iter >= MAX_STEPS_BEFORE_POLISH

    def due(self) -> bool:
        """Whether a certificate is cheap now."""
        return bool(self.state.covered)

    def certify(self) -> Certificate:
        """Bounds over all samples."""
        state, problem = self.state, self.problem
        if self.packed is not None:  # a resumed solve begins without members, too
            self.packed.clear()
        if not state.covered:  # stopped between certificates
            self.put_back()
            state.seen = len(problem.y)
            self.evaluate_all()
            state.covered = True
        self.b, gap, violation = self._look_at(known := self.fresh())
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

    def evaluate_all(self) -> None:
        """Compute fresh gradients for all samples."""
        self.settled.evaluate(self._inactive())

    def fresh(self) -> np.ndarray | slice:
        """The samples with fresh gradients."""
        inactive = self._inactive()
        known = np.concatenate([self.state.active, inactive[self.settled.fresh(inactive)]])
        return slice(None) if len(known) == len(self.problem.y) else np.sort(known)

    def _look_at(self, which: np.ndarray | slice) -> tuple[float, ...]:
        state, problem = self.state, self.problem
        parts = (state.a, state.g, problem.lower, problem.upper, problem.y, problem.cost)
        own = (part[which] for part in parts)
        return tuple(map(float, _native.svm_look(*own, problem.squared, **problem.shape)))

    def _cover(self) -> None:
        """Compute fresh gradients for all samples that are not certainly settled."""
        state, gap = self.state, self.open
        while len(unsure := self.settled.unsure(self._inactive(), self.b)):
            self.settled.evaluate(unsure)
            self.b, gap, _ = self._look_at(self.fresh())
        state.looks += 1
        enough = 2.0 * max(self.open, state.target * abs(state.dual))
        if gap > enough and state.looks <= MAX_LOOKS_PER_CERTIFICATE:
            self._choose()  # other samples can improve, and their gradients are fresh
        else:
            state.covered, state.looks = True, 0

    def _grow(self) -> None:
        """Enlarge the subset, and activate its unsettled samples."""
        state = self.state
        before = state.seen
        is_sparse = np.count_nonzero(state.a) < MAX_SUPPORT_SHARE_TO_GROW_FAST * before
        state.seen = min(len(self.problem.y), (FAST_GROWTH if is_sparse else GROWTH) * before)
        self.settled.evaluate(np.arange(before, state.seen))
        self._choose()

    def _rounds(self) -> bool:
        """Solve blocks of samples and update the gradients of all active ones."""
        if self._needs_packed_block() and self._packed_round():
            self._shrink()
            return False
        n_rounds = ROUNDS_PER_SMALL_STEP if len(self.a) <= MAX_SMALL_SAMPLES else 1
        stalled = self._run_rounds(n_rounds, self._target())
        still = stands_still(self.state, self.violation, self.g)
        self._shrink()
        return stalled or still

    def _needs_packed_block(self) -> bool:
        """Whether the free samples are too many for a block and their rows too many for the cache."""
        n_free = int(np.count_nonzero(self.problem.is_free(self.state.active, self.a)))
        if n_free <= MAX_FREE_SHARE * self.largest_block or not self.problem.kernel.kernel.positive:
            return False
        sizes = n_free * len(self.a), len(self.problem.y), self.largest_block
        return self.packed is not None or worth_packing(self.cache.memory, *sizes)

    def _packed_round(self) -> bool:
        """Solve all free samples together; False if a round of pairs is due instead."""
        state = self.state
        state.n_since_packed += 1
        if self.packed is None:
            self.packed = PackedBlock(self.problem.kernel, self.cache.give_half())
        elif state.n_since_packed <= ROUNDS_PER_PACKED_BLOCK:
            return False
        state.n_since_packed = 0
        here = ActiveSamples(state.active, self.a, self.g, self.b)
        move = self.packed.move(self.problem, here, BLOCK_TOLERANCE * self.violation, self.stop)
        if move is not None:
            self.a, self.g = move.a, move.g
            state.dual, state.path = state.dual + move.gain, state.path + move.moved
            self._look()
        return move is not None

    def _run_rounds(self, n_rounds: int, target: float) -> bool:
        state, cache = self.state, self.cache
        _, state.dual, moved, stalled, _ = _native.svm_rounds(
            cache.rows,
            self.block_memory,
            *self._samples(),
            block=min(self.block_size, cache.capacity),
            largest_block=min(self.largest_block, cache.capacity),
            n_rounds=n_rounds,
            free_share=MAX_FREE_SHARE,
            inner=BLOCK_TOLERANCE,
            target=target,
            tiny=self.problem.tiny,
            seconds=self.stop.deadline.left(),
            dual=state.dual,
            fetch=lambda block: cache.fetch(state.active[block]),
            n_threads=self.problem.kernel.n_threads,
            cancel=self.stop.cancel,
            **self.problem.shape,
        )
        state.path += moved
        self._look()
        return bool(stalled)

    def kernel_among(self, which: np.ndarray) -> np.ndarray:
        """The kernel values between some samples."""
        return self.problem.kernel.between(which, which)

    def _polish(self) -> None:
        """The exact solution of a small problem whose samples are all active."""
        state = self.state
        self._run_rounds(ROUNDS_PER_SMALL_STEP, GAP_BEFORE_POLISH)
        self.put_back()
        with _native.one_blas_thread():
            state.a, state.g = polish(self.problem, state.a, self.stop.deadline.passed)
        state.polished = True
        state.path += 1.0  # the path length is not known
        self.settled.leave(self._inactive())
        self._take(state.active, np.arange(len(state.active)))

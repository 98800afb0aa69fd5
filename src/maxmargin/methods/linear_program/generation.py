"""Hinge programs by column and constraint generation (Dedieu, Mazumder and Wang 2022), in their dual.

Few coefficients are non-zero at the optimum, and pairs with a margin above 1 do not matter. So a restricted
program has some active coefficients and pairs. Its optimum is priced on all others: pairs with a margin below
1 and coefficients with a price above the penalty are added until none is left. Pairs whose margins are far
below 1 after the start are fixed at their cost, and added once their margin exceeds 1. Every round gives a
certificate of the whole program. A small program is solved whole.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning, lu_factor, lu_solve

from ..._native import Cancelled
from ...numerics import BASIC, LOWER, Outcome
from ...solving import (
    Callback,
    Certificate,
    Deadline,
    SolverResult,
    State,
    Status,
    Stop,
    counted_rounding,
    drive,
    unsolved,
    until_cut,
)
from ..eigen_map import EigenFeatures
from .master import HingeMaster
from .program import KINK_ERRORS, HingeProgram

MAX_WHOLE_PROGRAM_ENTRIES = 200_000  # a smaller program is solved without generation
START_SAMPLE_DIVISOR = 8  # the start is solved on one eighth of the samples
MIN_START_SAMPLE = 500  # samples
START_PAIR_SHARE = 0.25  # share of pairs active after such a start: those with margins nearest to 1
START_TOL = 1e-2  # the relative duality gap of such a start
FIRST_COEFFICIENTS = 50  # of a program without such a start
MIN_NEW_COEFFICIENTS = 50  # that join in a round, if so many are attractive
VIOLATION_SLACK = 1e-9  # smaller violations are rounding
MAX_REFINED_ORDER = 2000  # of a basis matrix that is factorised


@dataclass(frozen=True)
class ProgramResult(SolverResult):
    """``coef`` is (n_outputs, n_features); ``intercepts`` of all outputs; ``state`` is the last one.

    ``eigen`` are the features that the program was solved on, where these are eigen features.
    """

    intercepts: np.ndarray = field(default_factory=lambda: np.zeros(1))
    state: State = field(default_factory=State, repr=False)
    eigen: EigenFeatures | None = field(default=None, repr=False)


def generate(
    program: HingeProgram, *, stop: Stop, state: State | None = None, callback: Callback | None = None
) -> ProgramResult:
    """Minimise a ``HingeProgram`` to ``stop.tol``.

    A ``state`` passed to a callback resumes bit for bit; ``WorkingSet.state`` makes one from another fit.
    """
    state = stop.resumed(state) or start(program, stop)
    try:
        iteration = ColumnGeneration(program, state, stop.deadline)
        status, history = drive(state, iteration.step, iteration.certify, stop, callback)
    except Cancelled:
        if not (stop.deadline.has_cut and state.last_W.any()):
            raise
        state.W[:], state.b[:] = state.last_W, state.last_b  # a start that there was no time to evaluate
        status, history = Status.TIME_LIMIT, unsolved(state.W).history
    b = program.given_intercepts(state.W, state.b)
    A = program.pairs.spread(state.pi)
    return ProgramResult(state.W.T.copy(), float(b[0]), status, history, A, intercepts=b, state=state)


def start(program: HingeProgram, stop: Stop) -> State:
    """A start with all of a small program active; else with what is active for a sample, or with a guess."""
    n, outputs, d = len(program.features), program.pairs.n_outputs, program.features.n_features
    n_sample = n // START_SAMPLE_DIVISOR
    pairs = np.flatnonzero(program.pairs.exists())
    if n * program.pairs.width * d <= MAX_WHOLE_PROGRAM_ENTRIES:
        return new_state(program, pairs, _coefficients(np.arange(outputs * d), d))
    if n_sample >= MIN_START_SAMPLE and (n_sample >= 4 * d or program.features.by_sample):
        return _start_from_sample(program, n_sample, stop)
    return new_state(program, pairs, _attractive(program))


def new_state(program: HingeProgram, pairs: np.ndarray, coefficients: np.ndarray) -> State:
    """A state with these pairs and coefficients active, at W = 0.

    ``W, b, pi`` are the best so far, ``last_W, last_b, last_pi`` those of the last restricted program, which
    ended with ``outcome``. Statuses of pairs and rows in its basis are HiGHS's; without rows there is none.
    """
    n, outputs, d = len(program.features), program.pairs.n_outputs, program.features.n_features
    return State(
        W=np.zeros((d, outputs)),
        b=np.zeros(outputs),
        pi=np.zeros((n, program.pairs.width)),
        best_primal=np.inf,
        best_rounding=0.0,
        pairs=pairs,
        coefficients=coefficients,
        held=np.zeros(0, dtype=np.int64),
        pair_status=np.full(len(pairs), LOWER, dtype=np.int8),
        row_status=np.zeros(0, dtype=np.int8),
        last_W=np.zeros((d, outputs)),
        last_b=np.zeros(outputs),
        last_pi=np.zeros((n, program.pairs.width)),
        outcome="",
        refined=False,
        unit=0.0,  # that of another master than the first
    )


def nothing_active() -> State:
    """The working set of a program that there was no time to begin."""
    none = np.zeros(0, dtype=np.int64)
    basis = np.zeros(0, dtype=np.int8)
    pairs = {"coefficients": np.zeros((0, 2), dtype=np.int64), "pairs": none, "held": none}
    return State(**pairs, pair_status=basis, row_status=basis)


def _coefficients(numbers: np.ndarray, d: int) -> np.ndarray:
    """(output, feature) of the numbers output * d + feature."""
    return np.stack(np.divmod(numbers, d), axis=1)


def _attractive(program: HingeProgram) -> np.ndarray:
    """The coefficients with the largest prices, on features of one scale, when every pair is at its cost."""
    pi = program.feasible(np.where(program.pairs.exists(), program.cost[:, None], 0.0))
    prices = np.abs(program.prices(pi) / program.features.scale[:, None]).T.ravel()
    chosen = np.sort(np.argsort(-prices, kind="stable")[:FIRST_COEFFICIENTS])
    return _coefficients(chosen, program.features.n_features)


def _start_from_sample(program: HingeProgram, n_sample: int, stop: Stop) -> State:
    """Solve for the first samples; of all pairs, those with margins near 1 become active."""
    sample = program.first(n_sample)
    rough = replace(
        stop,
        tol=max(stop.tol, START_TOL),
        max_iter=max(1, stop.max_iter // 2),
        journal=None,
    )
    solved = start(sample, rough)
    with until_cut(stop.deadline):
        iteration = ColumnGeneration(sample, solved, stop.deadline)
        drive(solved, iteration.step, iteration.certify, rough)
    if len(solved.row_status) == 0:  # stopped before its first program
        return new_state(program, np.flatnonzero(program.pairs.exists()), solved.coefficients)
    basic = solved.pairs[solved.pair_status == BASIC]
    intercepts, rows = np.split(solved.row_status, [len(solved.row_status) - len(solved.coefficients)])
    used = rows != BASIC
    W = np.zeros((program.features.n_features, program.pairs.n_outputs))
    W[: len(solved.W)] = solved.W
    missing = 1.0 - program.margins(W, solved.b).ravel()
    near = np.argsort(np.abs(missing), kind="stable")[: int(START_PAIR_SHARE * len(missing))]
    at_work = np.union1d(near[np.isfinite(missing[near])], basic)
    state = new_state(program, at_work, solved.coefficients[used])
    state.last_W, state.last_b = W, solved.b
    state.held = np.setdiff1d(np.flatnonzero(missing > 0.0), at_work)
    state.pair_status = np.where(np.isin(at_work, basic), BASIC, LOWER).astype(np.int8)
    state.row_status = np.concatenate([intercepts, rows[used]])
    state.n_iter, state.seconds = solved.n_iter, solved.seconds
    return state


class ColumnGeneration:
    """One restricted program a step."""

    def __init__(self, program: HingeProgram, state: State, deadline: Deadline) -> None:
        self.program, self.state, self.deadline = program, state, deadline
        self.master = self._new_master()

    def _new_master(self) -> HingeMaster:
        state = self.state
        master = HingeMaster(self.program, self.deadline.flag, state.unit or None)
        master.add_pairs(state.pairs)
        master.add_coefficients(state.coefficients)
        if len(state.held):
            master.hold(state.held)
        master.pair_status, master.row_status = state.pair_status, state.row_status
        return master

    def certify(self) -> Certificate:
        """Bounds of the whole program; stores the best point, and margins and prices at the current one."""
        program, state = self.program, self.state
        W, b = state.last_W, state.last_b
        self.Z = program.margins(W, program.stored_intercepts(W, b))
        primal, rounding, factor = self._stretched_primal(W, b)
        if primal + rounding < state.best_primal + state.best_rounding:
            state.best_primal, state.best_rounding = primal, rounding
            state.W[:], state.b[:] = W * factor, b * factor
        feasible = program.feasible(state.last_pi)
        self.prices = program.prices(feasible)
        dual = program.dual(feasible, self.prices, W)
        if dual > state.get("best_dual", -np.inf):
            state.pi[:] = feasible
        return Certificate(
            primal=state.best_primal,
            dual=dual,
            n_support=int(np.count_nonzero(state.pi.any(axis=1))),
            tiny=program.tiny,
            rounding=state.best_rounding,
        )

    def _stretched_primal(self, W: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
        """The objective at a factor of (W, b), what rounding can add to it, and the factor.

        A factor just above 1 can bring all margins near 1 beyond the reach of rounding.
        """
        program, factor = self.program, self.program.stretch(W, self.Z)
        primal, rounding = self._primal_at(W, b, factor)
        if rounding > 0.0:
            beyond = factor * (1.0 + 2.0 * KINK_ERRORS * program.margin_error(W, b))
            stretched, left = self._primal_at(W, b, beyond)
            if stretched + left < primal + rounding:
                return stretched, left, beyond
        return primal, rounding, factor

    def _primal_at(self, W: np.ndarray, b: np.ndarray, factor: float) -> tuple[float, float]:
        program = self.program
        W, b, Z = W * factor, b * factor, self.Z * factor
        if factor != 1.0 and program.features.is_moved:
            Z = program.margins(W, program.stored_intercepts(W, b))
        primal = program.primal(W, Z)
        return primal, counted_rounding(program.rounding(W, Z, program.margin_error(W, b)), primal)

    def step(self) -> Status | None:
        """Add violated pairs and attractive coefficients, and solve."""
        outcome = self.state.outcome
        if outcome == "failed":
            return Status.STALLED
        if outcome == "infeasible":
            self._release(self._nearest_held())
        elif outcome == "optimal" and not self._join():
            return self._sharpen()
        self._solve()
        return None

    def _solve(self) -> None:
        state, master = self.state, self.master
        outcome: Outcome = master.solve(self.deadline)
        self._go_to(master.solution() if outcome != "infeasible" else None)
        state.outcome, state.refined = outcome, False
        state.pairs, state.coefficients, state.held = master.pairs, master.coefficients, master.held
        state.pair_status, state.row_status = master.pair_status, master.row_status

    def _go_to(self, point: ProgramPoint | None) -> None:
        if point is not None:
            self.state.last_W, self.state.last_b, self.state.last_pi = point

    def _sharpen(self) -> Status | None:
        """All have joined, and rounding is what is left: refine, then take another unit, where that helps."""
        state = self.state
        if not state.refined:
            state.refined = True
            found = refined(self.master, state.last_W, state.last_b, state.last_pi)
            if found is not None:
                self._go_to(found)
                return None
        unit = state.best_primal / len(self.master.pairs)
        if state.unit or not 0.0 < unit < 0.1 * self.master.unit:
            return Status.STALLED
        state.unit = unit
        self.master = self._new_master()
        self._solve()
        return None

    def _join(self) -> bool:
        pairs, coefficients = self._violated_pairs(), self._attractive_coefficients()
        self._release(pairs)
        if len(coefficients):
            self.master.add_coefficients(coefficients)
        return bool(len(pairs) or len(coefficients))

    def _release(self, pairs: np.ndarray) -> None:
        """Add pairs, some of which may have been fixed."""
        if len(pairs):
            self.master.add_pairs(pairs)
            held = np.setdiff1d(self.master.held, pairs)
            if len(held) < len(self.master.held):
                self.master.hold(held)

    def _nearest_held(self) -> np.ndarray:
        """Fixed pairs with the largest margins, as many as there are active ones."""
        held = self.master.held
        order = np.argsort(-self.Z.ravel()[held], kind="stable")
        return np.sort(held[order[: max(100, len(self.master.pairs))]])

    def _violated_pairs(self) -> np.ndarray:
        missing = 1.0 - self.Z.ravel()
        missing[self.master.held] *= -1.0
        missing[self.master.pairs] = 0.0
        return np.flatnonzero(missing > VIOLATION_SLACK)

    def _attractive_coefficients(self) -> np.ndarray:
        master = self.master
        prices = np.abs(self.prices / master.scale[:, None]).T
        penalised = self.program.penalised
        worth = prices / master.penalty - 1.0 if penalised else prices / self.program.cost.sum()
        worth[master.coefficients[:, 0], master.coefficients[:, 1]] = 0.0
        flat = worth.ravel()
        chosen = np.argsort(-flat, kind="stable")[: max(MIN_NEW_COEFFICIENTS, len(master.coefficients))]
        return _coefficients(np.sort(chosen[flat[chosen] > VIOLATION_SLACK]), worth.shape[1])


ProgramPoint = tuple[np.ndarray, np.ndarray, np.ndarray]


def refined(master: HingeMaster, W: np.ndarray, b: np.ndarray, pi: np.ndarray) -> ProgramPoint | None:
    """``W, b, pi`` nearer to the vertex of the last basis; None where its matrix is too large or singular."""
    basic_pairs, basic_rows = master.basic()
    pairs, rows = master.pairs[basic_pairs], np.flatnonzero(~basic_rows)
    if len(pairs) != len(rows) or not 0 < len(rows) <= MAX_REFINED_ORDER:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LinAlgWarning)
            factors = lu_factor(master.columns(pairs)[:, rows])
    except (LinAlgWarning, np.linalg.LinAlgError, ValueError):
        return None
    missing = 1.0 - master.program.margins(W, b).ravel()[pairs]
    step = np.zeros(len(basic_rows))
    step[rows] = lu_solve(factors, missing)
    W, b = master.moved(W, b, step)
    short = master.short_of_bounds(pi)[rows]
    pi = pi.copy()
    pi.ravel()[pairs] += lu_solve(factors, short, trans=1)
    return (W, b, pi) if np.isfinite(W).all() and np.isfinite(pi).all() else None


@dataclass(frozen=True)
class WorkingSet:
    """Active coefficients and pairs, fixed pairs, and the basis; rows are numbered as in the given X.

    With ``by_row`` features are rows too, as kernel columns are. For another program it is a guess: pairs and
    coefficients that the program does not have are dropped.
    """

    coefficients: np.ndarray
    pairs: np.ndarray
    held: np.ndarray
    pair_status: np.ndarray
    row_status: np.ndarray
    by_row: bool

    @classmethod
    def of(cls, state: State, index: np.ndarray, width: int, by_row: bool) -> WorkingSet:
        """From the last state of a program whose sample i is row ``index[i]`` of X."""
        coefficients = state.coefficients.copy()
        if by_row:
            coefficients[:, 1] = index[coefficients[:, 1]]
        pairs, held = (index[p // width] * width + p % width for p in (state.pairs, state.held))
        return cls(coefficients, pairs, held, state.pair_status, state.row_status, by_row)

    def state(self, program: HingeProgram, index: np.ndarray) -> State:
        """A start for a program on rows ``index`` of X; with the basis, if nothing had to be dropped."""
        width = program.pairs.width
        place = np.full(int(index.max()) + 1, -1)
        place[index] = np.arange(len(index))
        pairs, known_pairs = _renumbered(self.pairs, place, width)
        held, _ = _renumbered(self.held, place, width)
        exists = program.pairs.exists().ravel()
        outputs, features = self.coefficients.T
        known = np.ones(len(features), dtype=bool)
        if self.by_row:
            features, known = _renumbered(features, place, 1)
        coefficients = np.stack([outputs[known], features], axis=1)
        state = new_state(program, pairs[exists[pairs]], coefficients)
        state.held = held[exists[held]]
        if known.all() and known_pairs.all() and exists[pairs].all():
            state.pair_status, state.row_status = self.pair_status, self.row_status
        return state


@dataclass(frozen=True)
class WarmSets:
    """The working sets that all columns of a fit ended with; ``kind`` says which fits can use them."""

    kind: tuple[Any, ...]
    sets: list[WorkingSet]


def _renumbered(numbers: np.ndarray, place: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of X's rows as pairs of samples, and which of them are still there."""
    rows = numbers // width
    samples = np.where(rows < len(place), place[np.minimum(rows, len(place) - 1)], -1)
    known = samples >= 0
    return samples[known] * width + numbers[known] % width, known

"""Small fits: all columns of a code by Newton's method in one native call, without Python between steps.

The iteration is that of `newton.py`, on a dense copy of the rows in double; tests compare the two. A call
ends with each column at a certificate, and its arrays are the whole state, so steps taken one at a time (for
callbacks and checkpoints) end in the same bits. A column that needs more than ``MAX_SMALL_STEPS`` steps, or
whose rounding shows in the gap, is handed over to `newton.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ... import _native
from ..._native import one_blas_thread
from ...codes import Code
from ...data import WeightedRows
from ...losses import loss_from_name
from ...solving import Callback, Certificate, Check, SolverResult, State, Status, Stop, drive, solve_columns
from .newton import newton, start_at
from .problem import Intercept, MarginProblem

MAX_SMALL_VALUES = 1 << 19  # entries of the rows: beyond, they do not fit the cache
MAX_SMALL_FEATURES = 256  # order of a factorisation without LAPACK
MAX_SMALL_STEPS = 60
BEST_DUAL, N_ITER, TINY = 1, 2, 4  # places in ``numbers``


def is_small(data: WeightedRows) -> bool:
    """Whether a fit is solved here."""
    n, d = len(data.rows), data.rows.n_features
    return 0 < n * d <= MAX_SMALL_VALUES and d <= MAX_SMALL_FEATURES and data.rows.moved_by is None


@dataclass(frozen=True)
class SmallFit:
    """Rows with costs, a code, a loss and the role of the intercept."""

    data: WeightedRows
    cost: np.ndarray
    code: Code
    loss: str
    intercept: Intercept

    def solve(self, stop: Stop, callback: Callback | None, n_threads: int) -> list[SolverResult]:
        """A result for each column."""
        n_columns = self.code.n_columns
        if callback is not None or stop.journal is not None:
            return solve_columns(
                lambda column, stop, _: self._step_by_step(column, stop, callback), n_columns, stop, n_threads
            )
        columns = range(n_columns)
        state = self._start(columns)
        reports = self._run(state, columns, stop, MAX_SMALL_STEPS, n_threads)
        starts = [*self._starts(columns).tolist(), len(state.anchor)]
        targets, which = self._targets(columns)
        state.dual_coef = self.cost[which] * state.dual_share * targets
        return [
            self._result(column, _ColumnPart(state, column, slice(*ends)), reports.of(column), stop)
            for column, ends in zip(columns, pairwise(starts), strict=True)
        ]

    def _step_by_step(self, column: int, stop: Stop, callback: Callback | None) -> SolverResult:
        """The result of one column, with whatever happens between two steps."""
        state = stop.resumed(None) or self._start([column])

        def step() -> bool:
            if state.handed_over:
                return True
            return self._run(state, [column], stop, 1).ends[0] == _native.SMALL_STALLED

        def certify() -> Certificate:
            reports = self._run(state, [column], stop, 0)
            state.n_iter = int(state.numbers[0, N_ITER])
            late = state.n_iter >= MAX_SMALL_STEPS
            state.handed_over = bool(late or reports.ends[0] == _native.SMALL_INEXACT)
            _, primal, dual, _, n_support = reports.of(0)[1][-1]
            unmoved = not state.n_iter and not state.coef[0, :-1].any()
            return Certificate(
                primal, dual, int(n_support), tiny=float(state.numbers[0, TINY]), provisional=unmoved
            )

        status, history = drive(state, step, certify, stop, callback)
        if status is Status.STALLED and state.handed_over:
            return self._handed_over(column, state, history, stop, callback)
        targets, which = self._targets([column])
        state.dual_coef = self.cost[which] * state.dual_share * targets
        return self._finished(_ColumnPart(state, 0, slice(None)), status, history)

    def _result(
        self, column: int, part: _ColumnPart, report: tuple[int, list[list[float]]], stop: Stop
    ) -> SolverResult:
        """The result of one column of a whole fit."""
        end, rows = report
        tiny = float(part.state.numbers[part.place, TINY])
        history = tuple(
            [
                Check(int(n_iter), primal, dual, seconds, int(n_support), tiny=tiny)
                for n_iter, primal, dual, seconds, n_support in rows
            ]
        )
        if end == _native.SMALL_CONVERGED:
            failed = history[-1].gap < 0.0
            return self._finished(part, Status.FAILED if failed else Status.CONVERGED, history)
        if end == _native.SMALL_STALLED:
            return self._finished(part, Status.STALLED, history)
        if end == _native.SMALL_OPEN and history[-1].n_iter >= stop.max_iter:
            return self._finished(part, Status.MAX_ITER, history)
        if end == _native.SMALL_OPEN and stop.deadline.passed():
            return self._finished(part, Status.TIME_LIMIT, history)
        return self._handed_over(column, part.alone(), history, stop, None)

    @staticmethod
    def _finished(part: _ColumnPart, status: Status, history: tuple[Check, ...]) -> SolverResult:
        coef = part.state.coef[part.place]
        return SolverResult(coef[:-1], float(coef[-1]), status, history, part.state.dual_coef[part.samples])

    def _handed_over(
        self, column: int, state: State, history: tuple[Check, ...], stop: Stop, callback: Callback | None
    ) -> SolverResult:
        """The rest of the iteration by `newton.py`, whose history follows."""
        which, targets = self.code.column(self.data.labels, column)
        rows = self.data.take(which, 1, stop.cancel).rows
        problem = MarginProblem(rows, targets, self.cost[which], loss_from_name(self.loss), self.intercept)
        start = start_at(problem, state.coef[0, :-1], float(state.coef[0, -1]))
        start.anchor[:], start.dual_share[:] = state.anchor, state.dual_share
        start.sharpness, start.best_dual = (float(state.numbers[0, i]) for i in (0, BEST_DUAL))
        start.n_iter, start.seconds = history[-1].n_iter, history[-1].seconds
        before = history[-1].n_iter
        rest = newton(problem, stop=stop, state=start, callback=callback)
        whole = (*(check for check in history if check.n_iter < before), *rest.history)
        return SolverResult(rest.coef, rest.intercept, rest.status, whole, rest.dual_coef)

    def _targets(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The targets of the samples of each column, one column after the other, and which samples."""
        entries = self.code.matrix.T[columns][:, self.data.labels]
        places, which = np.nonzero(entries)
        return entries[places, which], which

    def _sizes(self, columns: Sequence[int]) -> np.ndarray:
        """The number of samples of each column."""
        counts = np.bincount(self.data.labels, minlength=len(self.code.matrix))
        return counts @ (self.code.matrix[:, columns] != 0)

    def _starts(self, columns: Sequence[int]) -> np.ndarray:
        sizes = self._sizes(columns)
        return np.cumsum(sizes) - sizes

    def _start(self, columns: Sequence[int]) -> State:
        n, total = len(columns), int(self._sizes(columns).sum())
        numbers = np.zeros((n, 5))
        numbers[:, BEST_DUAL] = -np.inf
        coef = np.zeros((n, self.data.rows.n_features + 1))
        return State(
            coef=coef, numbers=numbers, anchor=np.zeros(total), dual_share=np.zeros(total), handed_over=False
        )

    def _run(
        self, state: State, columns: Sequence[int], stop: Stop, max_steps: int, n_threads: int = 1
    ) -> _native.SmallReports:
        with one_blas_thread():
            code = np.ascontiguousarray(self.code.matrix[:, columns])
            return _native.small_columns(self, state, code, self._starts(columns), stop, max_steps, n_threads)


@dataclass(frozen=True)
class _ColumnPart:
    """The part of a state that belongs to one column: a place among the columns, and a slice of samples."""

    state: State
    place: int
    samples: slice

    def alone(self) -> State:
        """It as a state of its own."""
        arrays = {name: self.state[name][self.place, None] for name in ("coef", "numbers")}
        return State(
            **arrays,
            **{name: self.state[name][self.samples] for name in ("anchor", "dual_share", "dual_coef")},
        )

"""The restricted dual program inside HiGHS: rows are the active coefficients, columns the active pairs.

    max  sum_p pi_p    s.t.  |h_r + sum_p e_p x_pr pi_p| <= q_r,   h_t + sum_p e_pt pi_p = 0,
                             0 <= pi_p <= c_p,

where h comes from pairs fixed at their cost. The order of its basis is the number of coefficients, whatever
the number of samples. Every variable has two finite bounds, so that any basis is dual feasible after some
variables switch bounds: the dual simplex method resumes from the last basis after changes of rows, columns
and bounds. The coefficients are the rows' multipliers.

Features are divided by their scale, and multipliers by a unit between costs and penalties, since HiGHS's
tolerances are absolute. Every program is solved by a new HiGHS instance, from the basis statuses of the
previous program: its result depends on these alone, so a run can be resumed from them bit for bit.
"""

from __future__ import annotations

import numpy as np

from ..._native import Cancelled
from ...numerics import (
    BASIC,
    LOWER,
    SERIAL_SIMPLEX,
    Options,
    Outcome,
    basis_of,
    new_highs,
    outcome_of,
    run_highs,
    set_basis,
)
from ...solving import Deadline
from .program import HingeProgram

ENTRIES_PER_BLOCK = 1 << 20  # held at a time
SIMPLEX_OPTIONS: Options = SERIAL_SIMPLEX | {
    "small_matrix_value": 1e-12,
    "simplex_scale_strategy": 2,
    "dual_simplex_cost_perturbation_multiplier": 1.0,
}
FALLBACK_OPTIONS: tuple[Options, ...] = (  # where rounding defeats it: one after another
    {"simplex_scale_strategy": 0},
    {"dual_simplex_cost_perturbation_multiplier": 0.0},
    {"simplex_strategy": 4},  # primal
)


class HingeMaster:
    """The program restricted to some coefficients (output, feature) and some pairs."""

    def __init__(self, program: HingeProgram, cancel: np.ndarray, unit: float | None = None) -> None:
        self.program = program
        self.scale = program.features.scale
        self.penalty = (1.0 if program.penalised else 0.0) / self.scale
        self.unit = _unit(program.cost, self.penalty) if unit is None else unit
        self.n_intercepts = _n_intercepts(program)
        self.coefficients = np.zeros((0, 2), dtype=np.int64)  # (output, feature) of the rows after intercepts
        self.pairs = np.zeros(0, dtype=np.int64)
        self.held = np.zeros(0, dtype=np.int64)  # pairs at their cost
        self._shift = np.zeros((program.features.n_features, program.pairs.n_outputs))
        self._cancel = cancel
        self.pair_status = np.zeros(0, dtype=np.int8)  # of the pairs in the last basis
        self.row_status = np.zeros(0, dtype=np.int8)  # of the rows, intercepts first; none without a basis
        self._model = new_highs(SIMPLEX_OPTIONS)  # holds the program, and never runs
        self._highs = self._model
        zeros = np.zeros(self.n_intercepts)
        starts = np.zeros(self.n_intercepts, dtype=np.int32)
        none = np.zeros(0, dtype=np.int32)
        self._model.addRows(self.n_intercepts, zeros, zeros, 0, starts, none, np.zeros(0))

    def add_coefficients(self, coefficients: np.ndarray) -> None:
        """Rows for some (output, feature); their entries are those of the pairs at work."""
        lower, upper = self._bounds(coefficients)
        starts, index, value = self._sparse(coefficients, self.pairs, by_pair=False)
        self._model.addRows(len(lower), lower, upper, len(index), starts, index, value)
        self.coefficients = np.concatenate([self.coefficients, coefficients])
        if len(self.row_status):
            self.row_status = np.append(self.row_status, np.full(len(lower), BASIC, dtype=np.int8))

    def add_pairs(self, pairs: np.ndarray) -> None:
        """Columns for some pairs, with entries in the rows of intercepts and coefficients at work."""
        upper = self.program.cost[pairs // self.program.pairs.width] / self.unit
        starts, index, value = self._sparse(self.coefficients, pairs, by_pair=True)
        n = len(pairs)
        self._model.addCols(n, -np.ones(n), np.zeros(n), upper, len(index), starts, index, value)
        self.pairs = np.concatenate([self.pairs, pairs])
        self.pair_status = np.append(self.pair_status, np.full(n, LOWER, dtype=np.int8))

    def _bounds(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        outputs, features = coefficients.T
        shift, penalty = self._shift[features, outputs] / self.scale[features], self.penalty[features]
        return (-penalty - shift) / self.unit, (penalty - shift) / self.unit

    def hold(self, pairs: np.ndarray) -> None:
        """Hold these pairs, and no others, at their cost: the bounds of all rows move."""
        self.held = pairs
        at_cost = np.zeros((len(self.program.features), self.program.pairs.width))
        at_cost.ravel()[pairs] = self.program.cost[pairs // self.program.pairs.width]
        A = self.program.pairs.spread(at_cost)
        self._shift = self.program.features.sum(A)
        intercepts = -A.sum(axis=0)[: self.n_intercepts] / self.unit
        lower, upper = self._bounds(self.coefficients)
        for row, bounds in enumerate(zip([*intercepts, *lower], [*intercepts, *upper])):
            self._model.changeRowBounds(row, *bounds)

    def _sparse(
        self, coefficients: np.ndarray, pairs: np.ndarray, by_pair: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Entries of rows and columns, compressed by column (with intercepts) or by row."""
        n_other = len(coefficients) + self.n_intercepts if by_pair else len(pairs)
        along = pairs if by_pair else coefficients
        step = max(1, ENTRIES_PER_BLOCK // max(1, n_other))
        counts, index, value = [], [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        for start in range(0, len(along), step):
            if self._cancel[0]:
                raise Cancelled("cancelled")
            some = along[start : start + step]
            block = self.columns(some) if by_pair else self.entries(some, pairs).T
            r, c = np.nonzero(block)
            counts.append(np.bincount(r, minlength=len(some)))
            index.append(c.astype(np.int32))
            value.append(block[r, c])
        ends = np.cumsum(np.concatenate(counts)) if counts else np.zeros(0)
        starts = np.concatenate([np.zeros(1), ends[:-1]]).astype(np.int32)[: len(along)]
        return starts, np.concatenate(index), np.concatenate(value)

    def columns(self, pairs: np.ndarray) -> np.ndarray:
        """Entries of some pairs in all rows, intercepts first, (len(pairs), n_rows)."""
        intercepts = self.program.pairs.signs(pairs, np.arange(self.n_intercepts))
        return np.hstack([intercepts, self.entries(self.coefficients, pairs)])

    def entries(self, coefficients: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """``e_pt x_pj / scale_j``, (len(pairs), len(coefficients))."""
        outputs, features = coefficients.T
        distinct, place = np.unique(features, return_inverse=True)
        samples = pairs // self.program.pairs.width
        values = self.program.features.block(samples, distinct) / self.scale[distinct]
        return values[:, place] * self.program.pairs.signs(pairs, outputs)

    # ---- solving ----

    def basic(self) -> tuple[np.ndarray, np.ndarray]:
        """Masks of the basic pairs and of the basic rows, intercepts first; no rows without a basis."""
        return self.pair_status == BASIC, self.row_status == BASIC

    def solve(self, deadline: Deadline) -> Outcome:
        """Run the dual simplex method, from the last basis where there is one."""
        options = SIMPLEX_OPTIONS
        for remedy in ({}, *FALLBACK_OPTIONS):
            options = options | remedy
            self._load(options)
            self._run(deadline)
            self._keep_basis()
            outcome = outcome_of(self._highs)
            if outcome != "failed" and (outcome != "infeasible" or len(self.held)):
                return outcome
            self.row_status = self.row_status[:0]  # a remedy starts without the old basis
        return "failed"

    def _load(self, options: Options) -> None:
        """A new HiGHS with the program and its last basis."""
        self._highs = new_highs(options)
        self._highs.passModel(self._model.getLp())
        if len(self.row_status):
            set_basis(self._highs, self.pair_status, self.row_status)

    def _run(self, deadline: Deadline) -> None:
        run_highs(self._highs, deadline)

    def _keep_basis(self) -> None:
        columns, self.row_status = basis_of(self._highs)
        self.pair_status = np.full(len(self.pairs), LOWER, dtype=np.int8)
        self.pair_status[: len(columns)] = columns

    def solution(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """``W, b, pi`` of the whole program, zero where nothing is at work; None where HiGHS has nothing."""
        found = self._highs.getSolution()
        if not (found.value_valid and found.dual_valid):
            return None
        program = self.program
        multipliers, values = -np.asarray(found.row_dual), np.asarray(found.col_value)
        W = np.zeros((program.features.n_features, program.pairs.n_outputs))
        W, b = self.moved(W, np.zeros(program.pairs.n_outputs), multipliers)
        pi = np.zeros((len(program.features), program.pairs.width))
        pi.ravel()[self.pairs] = values * self.unit
        pi.ravel()[self.held] = program.cost[self.held // program.pairs.width]
        if not (np.isfinite(W).all() and np.isfinite(b).all() and np.isfinite(pi).all()):
            return None
        return W, b, pi

    def moved(self, W: np.ndarray, b: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(W, b) plus a step in the rows' multipliers."""
        W, b = W.copy(), b.copy()
        outputs, features = self.coefficients.T
        W[features, outputs] += step[self.n_intercepts :] / self.scale[features]
        b[: self.n_intercepts] += step[: self.n_intercepts]
        return W, b

    def short_of_bounds(self, pi: np.ndarray) -> np.ndarray:
        """What the rows, on features of one scale, lack to their nearest bounds, from all multipliers."""
        A = self.program.pairs.spread(pi)
        outputs, features = self.coefficients.T
        prices = self.program.features.sum(A)[features, outputs] / self.scale[features]
        bounds = np.sign(prices) * self.penalty[features]
        return np.concatenate([-A.sum(axis=0)[: self.n_intercepts], bounds - prices])


def _unit(cost: np.ndarray, penalty: np.ndarray) -> float:
    """Half way, in digits, between the costs and the penalties."""
    middle = float(np.median(cost))
    most = float(penalty.max(initial=0.0))
    return float(np.sqrt(middle) * np.sqrt(most)) if most > 0.0 else middle


def _n_intercepts(program: HingeProgram) -> int:
    """Of several outputs only differences count, so that the last one's intercept is 0."""
    if not program.intercept:
        return 0
    return max(1, program.pairs.n_outputs - 1)

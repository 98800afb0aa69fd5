"""One-vs-one columns together: results in a few arrays, and all pairs of small classes in one native call.

Two classes are one pair.

A row has coefficients only in the columns of its own class, so those of all columns are one matrix with a
row for each sample and a column for each other class. A column that the native call leaves undone (its face
is singular, its gap stays open) is solved like any other, by ``small_sets.py``; one whose time is up keeps
the coefficients that it has reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast, overload

import numpy as np

from ... import _native
from ...codes import Code, PairCode
from ...kernels import KernelData
from ...solving import (
    KERNEL_ERRORS,
    UNCOUNTED_ROUNDING,
    Check,
    Histories,
    SolverResult,
    Status,
    Stop,
    Summary,
    unsolved,
    worst_status,
)
from .small_sets import (
    GAP_BEFORE_POLISH,
    GAP_BEFORE_POLISH_AT_ONCE,
    MAX_POLISHED_AT_ONCE,
    MAX_STEPS_BEFORE_POLISH,
    ROUNDS_PER_STEP,
)

__all__ = [
    "SOLVED",
    "PairResults",
    "RowsByClass",
    "column_rules",
    "pairs_of",
    "small_pairs_of",
    "solve_pairs",
]

MAX_EAGER_CLASS = 256  # rows of a class all of whose kernel values are computed; a larger one's on demand
CUT, SOLVED, LEFT, LATE = range(4)  # what the native call says of a column
STATUSES = tuple(Status)


def pairs_of(code: Code) -> PairCode | None:
    """The code if it is one-vs-one of three classes or more."""
    return code if isinstance(code, PairCode) and code.n_classes > 2 else None


def small_pairs_of(code: Code) -> PairCode | None:
    """The code whose columns one native call can solve: one-vs-one, also that of two classes."""
    if code.n_classes == 2 and code.n_columns == 1 and code.matrix[0, 0] == -code.matrix[1, 0] == -1:
        return PairCode(2)
    return pairs_of(code)


class RowsByClass:
    """Rows sorted by class, each class in the order given.

    ``order`` lists the rows; those of class c are at ``starts[c] : starts[c + 1]`` in it.
    """

    def __init__(self, labels: np.ndarray, n_classes: int) -> None:
        self.order = np.argsort(labels, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=n_classes))])

    def __len__(self) -> int:
        return len(self.order)

    def size(self, c: int) -> int:
        """The number of rows of a class."""
        return int(self.starts[c + 1] - self.starts[c])

    def of_pair(self, first: int, second: int) -> np.ndarray:
        """Positions in ``order`` of the rows of two classes, one class after the other."""
        return np.concatenate([np.arange(self.starts[c], self.starts[c + 1]) for c in (first, second)])

    @cached_property
    def largest_pair(self) -> int:
        """The number of rows of the two largest classes."""
        return int(np.sort(np.diff(self.starts))[-2:].sum())

    def pair_sizes(self) -> np.ndarray:
        """The number of rows of each pair (0, 1), (0, 2), ..., (1, 2), ..."""
        sizes = np.diff(self.starts)
        first, second = np.triu_indices(len(sizes), k=1)
        return np.asarray(sizes[first] + sizes[second])


@dataclass(frozen=True, eq=False)
class PairResults(Sequence[SolverResult]):
    """The results of all columns; item t is made when it is asked for.

    ``coef`` (n_rows, n_classes - 1) belongs to the rows sorted by class, ``status`` holds positions in
    ``STATUSES``.
    """

    code: PairCode
    rows: RowsByClass
    coef: np.ndarray
    intercept: np.ndarray
    status: np.ndarray
    histories: Histories

    @classmethod
    def of(cls, results: Sequence[SolverResult], code: PairCode, labels: np.ndarray) -> PairResults:
        """Results that were found one by one."""
        rows = RowsByClass(labels, code.n_classes)
        found = cls(
            code,
            rows,
            np.zeros((len(labels), code.n_classes - 1)),
            np.array([result.intercept for result in results]),
            np.array([STATUSES.index(result.status) for result in results], dtype=np.uint8),
            Histories.of(result.history for result in results),
        )
        for t, result in enumerate(results):
            found._put(t, result.coef)
        return found

    def _put(self, t: int, coef: np.ndarray) -> None:
        """Store the coefficients of a column, which are in the order of the code."""
        (first, second), own = self.code.pair(t), self.rows.of_pair(*self.code.pair(t))
        sorted_by_class = coef[np.argsort(np.argsort(self.rows.order[own]))]
        n_first = self.rows.size(first)
        self.coef[own[:n_first], second - 1] = sorted_by_class[:n_first]
        self.coef[own[n_first:], first] = sorted_by_class[n_first:]

    def __len__(self) -> int:
        return self.code.n_columns

    @overload
    def __getitem__(self, t: int) -> SolverResult: ...
    @overload
    def __getitem__(self, t: slice) -> list[SolverResult]: ...
    def __getitem__(self, t: int | slice) -> SolverResult | list[SolverResult]:
        """The result of a column, with its coefficients in the order of the code."""
        if isinstance(t, slice):
            return [self[one] for one in range(*t.indices(len(self)))]
        if not -len(self) <= t < len(self):
            raise IndexError(f"there are {len(self)} columns")
        t %= len(self)
        own = self.rows.of_pair(*self.code.pair(t))
        coef = _column_of(self.code, self.rows, self.coef, t)[np.argsort(self.rows.order[own])]
        status = STATUSES[int(self.status[t])]
        return SolverResult(coef, float(self.intercept[t]), status, self.histories[t])

    def summary(self) -> Summary:
        """What they come to, without an object for each."""
        primal, codes = self.histories.last("primal"), np.unique(self.status)
        diverged = self.status == STATUSES.index(Status.DIVERGED)
        return Summary(
            history=self.histories,
            n_iter=int(self.histories.last("n_iter").max()),
            objective=math.fsum(primal) if np.isfinite(primal).all() else float(primal.sum()),
            gap=float(np.max(self.histories.gaps())),
            status=worst_status(STATUSES[int(code)] for code in codes),
            finite=bool(np.isfinite(self.coef).all() and np.isfinite(primal[diverged]).all()),
        )


@dataclass(frozen=True)
class PairProblem:
    """The rows of all columns: kernel values in double, and a cost for each row."""

    kernel: KernelData
    cost: np.ndarray
    squared: bool
    code: PairCode
    labels: np.ndarray


@dataclass(frozen=True)
class PairLimits:
    """The rules of ``working_set.py`` that small problems share."""

    min_block: int
    blocks_per_problem: int
    max_block: int
    free_share: float
    inner: float
    max_polished: int
    target_per_tol: float


def solve_pairs(
    problem: PairProblem,
    limits: PairLimits,
    solve_some: Callable[[np.ndarray, Stop, dict[int, np.ndarray]], Iterable[SolverResult]],
    stop: Stop,
    n_threads: int,
) -> PairResults:
    """All columns; ``solve_some(columns, stop, begun)`` solves those that the native call leaves.

    ``begun`` has the coefficients, sorted by class, of those whose time is up.
    """
    code, k = problem.code, problem.code.n_classes
    rows = RowsByClass(problem.labels, k)
    n_columns, kernel = code.n_columns, problem.kernel
    out: dict[str, np.ndarray] = {
        "coef": np.zeros((len(rows), k - 1)),
        "intercept": np.zeros(n_columns),
        "first": np.zeros((n_columns, 2)),
        "last": np.zeros((n_columns, 4)),
        "n_iter": np.zeros(n_columns, dtype=np.int32),
        "n_support": np.zeros(n_columns, dtype=np.int32),
        "n_values": np.zeros(n_columns, dtype=np.int64),
        "seconds": np.zeros(n_columns, dtype=np.float32),
        "end": np.zeros(n_columns, dtype=np.uint8),
    }
    rules = column_rules(limits, stop)
    if (
        k == 2 and len(rows) > limits.max_polished
    ):  # there is no other column, and no exact method, to go on to
        rules["max_steps"] = stop.max_iter
    with _native.one_blas_thread():
        _native.svm_pairs(
            cast(_native.RowFiller, kernel.filler()),
            kernel.index[rows.order],
            rows.starts,
            problem.cost[rows.order],
            kernel.lengths(rows.order),
            problem.squared,
            rules=rules,
            **out,
            n_threads=n_threads,
            cancel=stop.cancel,
        )
    end = out["end"]
    if (end == CUT).any() and not (end[0] != CUT and stop.deadline.has_cut):
        raise _native.Cancelled("cancelled")
    left = np.flatnonzero(end == LEFT)
    late = stop.deadline.passed()
    begun = {int(t): _column_of(code, rows, out["coef"], int(t)) for t in left if late and out["coef"].any()}
    others = dict(zip(left.tolist(), solve_some(left, stop, begun) if len(left) else []))
    others |= {int(t): unsolved(np.zeros(0)) for t in np.flatnonzero(end == CUT)}
    return _assembled(problem, rows, out, others)


def _column_of(code: PairCode, rows: RowsByClass, coef: np.ndarray, t: int) -> np.ndarray:
    """The coefficients of one column, sorted by class."""
    (first, second), own = code.pair(t), rows.of_pair(*code.pair(t))
    n_first = rows.size(first)
    return np.concatenate([coef[own[:n_first], second - 1], coef[own[n_first:], first]])


def column_rules(limits: PairLimits, stop: Stop) -> dict[str, float]:
    """The numbers that a native call for many small columns needs."""
    return {
        "tol": stop.tol,
        "target": limits.target_per_tol * stop.tol,
        "polish_gap": GAP_BEFORE_POLISH,
        "polish_at_once_gap": GAP_BEFORE_POLISH_AT_ONCE,
        "free_share": limits.free_share,
        "inner": limits.inner,
        "negligible_rounding": UNCOUNTED_ROUNDING,
        "double_errors": KERNEL_ERRORS,
        "min_block": limits.min_block,
        "blocks_per_problem": limits.blocks_per_problem,
        "max_block": limits.max_block,
        "rounds_per_step": ROUNDS_PER_STEP,
        "max_iter": stop.max_iter,
        "max_steps": MAX_STEPS_BEFORE_POLISH,
        "max_polished": limits.max_polished,
        "max_polished_at_once": MAX_POLISHED_AT_ONCE,
        "max_eager_class": MAX_EAGER_CLASS,
        "seconds": stop.deadline.left(),
    }


def _assembled(
    problem: PairProblem, rows: RowsByClass, out: dict[str, np.ndarray], others: dict[int, SolverResult]
) -> PairResults:
    """The native results, and others in the columns that have none."""
    end = out["end"]
    status = np.full(len(end), STATUSES.index(Status.CONVERGED), dtype=np.uint8)
    status[end == LATE] = STATUSES.index(Status.TIME_LIMIT)
    n_checks = np.where(end == SOLVED, 2, 1).astype(np.int32)
    for t, result in others.items():
        status[t], n_checks[t] = STATUSES.index(result.status), len(result.history)
    histories = _histories(rows, out, n_checks, {t: result.history for t, result in others.items()})
    found = PairResults(problem.code, rows, out["coef"], out["intercept"], status, histories)
    for t, result in others.items():
        found.intercept[t] = result.intercept
        if len(result.coef):
            found._put(t, result.coef)
    return found


def _histories(
    rows: RowsByClass, out: dict[str, np.ndarray], lengths: np.ndarray, others: dict[int, tuple[Check, ...]]
) -> Histories:
    """Two certificates for each solved column: at zero, and at the end."""
    end, ends = out["end"], np.cumsum(lengths)
    first, solved = ends - lengths, np.flatnonzero(end == SOLVED)
    values: dict[str, np.ndarray] = {}
    zero = np.zeros(len(end))
    for name, at_zero, at_end in (
        ("primal", out["first"][:, 0], out["last"][:, 0]),
        ("dual", zero, out["last"][:, 1]),
        ("violation", out["first"][:, 1], out["last"][:, 2]),
        ("tiny", out["last"][:, 3], out["last"][:, 3]),
        ("n_iter", zero, out["n_iter"]),
        ("n_support", zero, out["n_support"]),
        ("kernel_values", zero, out["n_values"]),
        ("seconds", zero, out["seconds"]),
    ):
        values[name] = np.zeros(int(lengths.sum()), dtype=at_end.dtype)
        values[name][first] = at_zero
        values[name][ends[solved] - 1] = at_end[solved]
    for t, history in others.items():
        for i, check in enumerate(history, start=int(first[t])):
            for name, value in values.items():
                value[i] = getattr(check, name)
    return Histories(lengths, values)

"""Stopping rules for solvers, and their certified results."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .deadline import Deadline
from .divergence import counted_excess

if TYPE_CHECKING:
    from .journal import JournalPart

FLOAT_EPS = float(np.finfo(np.float64).eps)
GAP_ROUNDING = 1e-12  # a relative gap this small may have the wrong sign
UNCOUNTED_ROUNDING = 5e-8  # of the objective: less is left out of a gap where it is an estimate
MAX_NEGATIVE_GAP = UNCOUNTED_ROUNDING  # a relative gap further below 0 is not rounding: a bound is wrong


class Status(enum.Enum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    TIME_LIMIT = "time_limit"
    STALLED = "stalled"
    STOPPED = "stopped"
    DIVERGED = "diverged"
    FAILED = "failed"
    BUDGET_FULL = "budget_full"
    NO_LOSS_LEFT = "no_loss_left"

    def __str__(self) -> str:
        return self.value


SEVERITY = [
    Status.CONVERGED,
    Status.BUDGET_FULL,
    Status.NO_LOSS_LEFT,
    Status.STOPPED,
    Status.STALLED,
    Status.MAX_ITER,
    Status.TIME_LIMIT,
    Status.DIVERGED,
    Status.FAILED,
]


KEPT_BY_WORSE_THAN_ZEROS = (  # by a result that is worse than zero coefficients: all others diverged
    Status.CONVERGED,  # no further from the optimum than the tolerance
    Status.STOPPED,  # from outside: nothing is known of where the solve was going
    Status.TIME_LIMIT,
    Status.BUDGET_FULL,  # no room for the support vectors that the next steps need
    Status.FAILED,
)


def worst_status(ends: Iterable[Status]) -> Status:
    """The worst status of several; converged if there are none."""
    return max((Status.CONVERGED, *ends), key=SEVERITY.index)


@dataclass(frozen=True)
class Stop:
    """When to stop: ``tol`` bounds the relative duality gap, the rest bounds the work.

    A certificate is computed every ``check_every`` steps. ``journal``, if any, stores the progress of the
    solves.
    """

    tol: float = 1e-4
    max_iter: int = 1000
    deadline: Deadline = field(default_factory=Deadline)
    check_every: int = 1
    journal: JournalPart | None = None

    @property
    def cancel(self) -> np.ndarray:
        """One byte shared between threads; once it is set, the work within a step ends."""
        return self.deadline.flag

    def part(self, name: str) -> Stop:
        """The same rules for a part of the fit, whose solves the journal stores under this name."""
        return self if self.journal is None else replace(self, journal=self.journal.part(name))

    def resumed(self, state: State | None) -> State | None:
        """The state that the next solve starts from: the journal's if it has one, else the given one."""
        kept = None if self.journal is None else self.journal.state()
        return state if kept is None else kept


@dataclass(frozen=True)
class Check:
    """One certificate: bounds on the optimum after ``n_iter`` steps; ``dual`` is the best seen so far.

    A solve that was cut before a certificate was complete has ``primal`` inf there: nothing is known about
    its last point. ``tiny`` is the objective of zero coefficients times the unit roundoff, or 0 where the
    method does not know it. Where they apply, ``violation`` is the violation of the KKT conditions and
    ``hit_rate`` that of the kernel row cache.
    """

    n_iter: int
    primal: float
    dual: float
    seconds: float
    n_support: int = 0
    kernel_values: int = 0
    tiny: float = 0.0
    violation: float = 0.0
    hit_rate: float = 0.0

    @property
    def gap(self) -> float:
        """``(primal - dual) / max(|primal|, |dual|, tiny)``, and 0 if the denominator is 0.

        A negative gap shows how large rounding is at least: it counts with its size, or as 0 where it is
        tiny. One that rounding cannot explain is returned unchanged: a bound is wrong, and the fit fails.
        """
        gap = relative_gap(self.primal, self.dual, self.tiny)
        if not -MAX_NEGATIVE_GAP <= gap < 0.0:
            return gap
        return 0.0 if gap >= -GAP_ROUNDING else -gap

    @property
    def at_zeros(self) -> float:
        """The objective of zero coefficients; 0 where it is unknown."""
        return self.tiny / FLOAT_EPS

    @property
    def excess_over_zeros(self) -> float:
        """How far the objective is above that of zero coefficients; 0 by rounding or where it is unknown.

        So it is of a problem without a bound, which is not convex.
        """
        known, noise = self.tiny > 0.0 and self.dual > -math.inf, UNCOUNTED_ROUNDING * self.at_zeros
        return counted_excess(self.primal - self.at_zeros, noise) if known else 0.0


def relative_gap(primal: float, dual: float, tiny: float = 0.0) -> float:
    """The gap relative to the objective; ``tiny`` is what counts as zero on the scale of the problem."""
    if not (math.isfinite(primal) and math.isfinite(dual)):
        return math.nan if math.isnan(primal) or math.isnan(dual) else math.inf
    scale = max(abs(primal), abs(dual), tiny)
    return (primal - dual) / scale if scale > 0.0 else 0.0


def gap_of(primal: np.ndarray, dual: np.ndarray, tiny: np.ndarray) -> np.ndarray:
    """``Check.gap`` of many certificates."""
    scale = np.maximum(np.maximum(np.abs(primal), np.abs(dual)), tiny)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(scale > 0.0, (primal - dual) / scale, 0.0)
    gap = np.where(np.isfinite(primal) & np.isfinite(dual), gap, np.inf)
    gap = np.where(np.isnan(primal) | np.isnan(dual), np.nan, gap)
    rounding = (gap >= -MAX_NEGATIVE_GAP) & (gap < 0.0)
    return np.where(rounding, np.where(gap >= -GAP_ROUNDING, 0.0, -gap), gap)


class State(dict[str, Any]):
    """Everything a solver remembers: named arrays and plain numbers, which is what a checkpoint stores.

    Entries can be read as attributes. Solvers change arrays in place. ``copy`` is deep, so the same solver
    can later resume from a copy taken by a callback, with identical bits.
    """

    PLAIN = frozenset((bool, int, float, str))
    ALLOWED = (np.ndarray, *PLAIN)

    def __setitem__(self, name: str, value: Any) -> None:
        """Store an array or a plain value; nothing else can be written to a checkpoint."""
        if type(value) in self.PLAIN:
            super().__setitem__(name, value)
            return
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, self.ALLOWED) or (isinstance(value, np.ndarray) and value.dtype == object):
            raise TypeError(
                f"State holds arrays, numbers and strings only; {name} is a {type(value).__name__}."
            )
        super().__setitem__(name, value)

    def __init__(self, **entries: Any) -> None:
        super().__init__()
        for name, value in entries.items():
            self[name] = value

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def copy(self) -> State:
        """A deep copy with the same memory layout, because the order of summation may depend on it."""
        return State(**{k: v.copy(order="K") if isinstance(v, np.ndarray) else v for k, v in self.items()})


@dataclass(frozen=True)
class SolverResult:
    """Coefficients with the certificates that prove their quality.

    A result whose objective is worse than that of zero coefficients has the status "diverged", whichever rule
    ended its solve.
    """

    coef: np.ndarray
    intercept: float
    status: Status
    history: tuple[Check, ...]
    dual_coef: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Change the status of a result that is worse than zero coefficients."""
        may_change = self.status not in KEPT_BY_WORSE_THAN_ZEROS and self.history
        if may_change and self.history[-1].excess_over_zeros > 0.0:
            object.__setattr__(self, "status", Status.DIVERGED)

    @property
    def gap(self) -> float:
        """The relative duality gap of the last certificate."""
        return self.history[-1].gap

    @property
    def n_iter(self) -> int:
        """The number of steps taken."""
        return self.history[-1].n_iter

    @property
    def objective(self) -> float:
        """The primal value of the coefficients."""
        return self.history[-1].primal


@dataclass(frozen=True)
class Summary:
    """What the results of all columns come to; ``gap`` is the largest, ``finite`` is about coefficients."""

    history: Sequence[tuple[Check, ...]]
    n_iter: int
    objective: float
    gap: float
    status: Status
    finite: bool


def summary_of(results: Sequence[SolverResult]) -> Summary:
    """The summary of a list of results, or that which ``results`` computes by itself."""
    own = getattr(results, "summary", None)
    if own is not None:
        return cast(Summary, own())

    def is_finite(result: SolverResult) -> bool:
        overflown = result.status is Status.DIVERGED and not np.isfinite(result.objective)
        return bool(np.isfinite(result.coef).all()) and not overflown

    return Summary(
        history=[result.history for result in results],
        n_iter=max(result.n_iter for result in results),
        objective=float(sum(result.objective for result in results)),
        gap=float(np.max([result.gap for result in results])),
        status=worst_status(result.status for result in results),
        finite=all(map(is_finite, results)),
    )


def certified(history: tuple[Check, ...]) -> tuple[Check, ...]:
    """The history up to its last certificate, for a solver that returns the point of that one."""
    return history[:-1] if history[-1].primal == math.inf and len(history) > 1 else history


def unsolved(coef: np.ndarray, intercept: float = 0.0) -> SolverResult:
    """The result of a solve that was cut before its first certificate: where it would have started."""
    nothing = Check(n_iter=0, primal=math.inf, dual=-math.inf, seconds=0.0)
    return SolverResult(coef, intercept, Status.TIME_LIMIT, (nothing,))

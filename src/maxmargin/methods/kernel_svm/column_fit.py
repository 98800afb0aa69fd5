"""How one column of a fit is solved: with the hinge, along a path of C, with the ramp, or for nu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...codes import Code
from ...solving import Callback, SolverResult, State, Stop
from .columns import SvmColumn
from .nu import solve_margin
from .path import svm_path
from .problem import SvmProblem
from .ramp import by_convex_steps, with_outputs
from .solve import working_sets
from .working_set import start

__all__ = ["ColumnFit", "check_feasible", "column_in_words"]

SLACK = 1e-12  # of the largest feasible nu, a quotient of sums
COLUMNS_AT_ONCE = 1024  # of a code's matrix


@dataclass(frozen=True)
class ColumnFit:
    """The choices of the estimator that all columns share."""

    ramp: bool
    nu: float | None
    shrinking: bool
    callback: Callback | None
    column_in_words: Callable[[int], str]

    def solve(self, column: SvmColumn, stop: Stop, coef: np.ndarray | None = None) -> SolverResult:
        """The solution, from the coefficients of an earlier fit if there are any."""
        if self.nu is not None:
            return solve_margin(
                column.problem,
                self.nu,
                column=self.column_in_words(column.number),
                stop=stop,
                callback=self.callback,
                **self._rules(column),
            )
        state = None if coef is None else start(column.problem, stop.tol, self.shrinking, coef)
        return self._ramped(column, column.problem, self._convex(column, column.problem, stop, state), stop)

    def path(self, column: SvmColumn, stop: Stop, factors: Sequence[float]) -> list[SolverResult]:
        """The solutions with all costs multiplied by each factor in turn."""
        convex = svm_path(column.problem, factors, stop=stop, **self._rules(column))
        costs = [replace(column.problem, cost=column.problem.cost * factor) for factor in factors]
        return [self._ramped(column, at, found, stop) for at, found in zip(costs, convex)]

    def _rules(self, column: SvmColumn) -> dict[str, Any]:
        return {"cache_bytes": column.cache_bytes, "shrinking": self.shrinking, "memory": column.memory}

    def _convex(
        self, column: SvmColumn, problem: SvmProblem, stop: Stop, state: State | None
    ) -> SolverResult:
        return working_sets(problem, stop=stop, state=state, callback=self.callback, **self._rules(column))

    def _ramped(
        self, column: SvmColumn, problem: SvmProblem, convex: SolverResult, stop: Stop
    ) -> SolverResult:
        """The result itself, or with the ramp loss the stationary point that convex steps lead to."""
        if not self.ramp:
            return convex

        def solve(part: SvmProblem, a: np.ndarray) -> SolverResult:
            state = start(part, stop.tol, self.shrinking, *with_outputs(part, a))
            return self._convex(column, part, stop, state)

        return by_convex_steps(solve, problem, convex)


def check_feasible(
    nu: float, code: Code, classes: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> None:
    """Raise unless each column of the code has enough weight on both of its sides."""
    of_class = np.bincount(labels, weight / weight.sum(), len(classes))
    largest = np.zeros(code.n_columns)
    for first in range(0, code.n_columns, COLUMNS_AT_ONCE):
        which = np.arange(first, min(first + COLUMNS_AT_ONCE, code.n_columns))
        matrix = np.asarray(code.part(which).matrix)
        sides = of_class @ (matrix > 0), of_class @ (matrix < 0)
        largest[which] = 2.0 * np.minimum(*sides) / (sides[0] + sides[1])
    t = int(np.argmin(largest))
    if nu > largest[t] * (1.0 + SLACK):
        raise ValueError(
            f"nu={nu:g} is infeasible: in {column_in_words(code, classes, t)}, the lighter side has "
            f"{0.5 * largest[t]:.3g} of the weight, which allows nu up to {largest[t]:.6g}. Lower nu, or "
            "balance the classes, for example with class_weight='balanced'."
        )


def column_in_words(code: Code, classes: np.ndarray, t: int) -> str:
    """The column and the classes on its two sides, for messages."""
    signs = np.asarray(code.part(np.array([t])).matrix)[:, 0]
    sides = [", ".join(repr(c) for c in classes[signs * side > 0][:3].tolist()) for side in (1, -1)]
    more = [", ..." if np.count_nonzero(signs * side > 0) > 3 else "" for side in (1, -1)]
    return f"column {t} of the code (classes {sides[0]}{more[0]} against {sides[1]}{more[1]})"

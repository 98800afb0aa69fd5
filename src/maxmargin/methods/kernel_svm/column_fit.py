"""How one column of a fit is solved: with the hinge, along a path of C, with the ramp, or for nu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...solving import Callback, SolverResult, State, Stop
from .columns import SvmColumn
from .nu import solve_margin
from .path import svm_path
from .problem import SvmProblem
from .ramp import by_convex_steps, with_outputs
from .solve import working_sets
from .working_set import start

__all__ = ["ColumnFit"]


@dataclass(frozen=True)
class ColumnFit:
    """The choices of the estimator that all columns share."""

    ramp: bool
    nu: float | None
    shrinking: bool
    callback: Callback | None

    def solve(self, column: SvmColumn, stop: Stop, coef: np.ndarray | None = None) -> SolverResult:
        """The solution, from the coefficients of an earlier fit if there are any."""
        if self.nu is not None:
            return solve_margin(
                column.problem, self.nu, stop=stop, callback=self.callback, **self._rules(column)
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

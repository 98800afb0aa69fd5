"""Several quantiles of one regression: a problem each, solved in turn over the same kernel rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...solving import Callback, SolverResult, State, Stop
from ..kernel_svm import Solve, solved, start
from .problem import RegressionProblem

__all__ = ["check_quantiles", "solve_in_turn"]


def check_quantiles(quantiles: Any) -> None:
    """Raise unless these are ascending numbers between 0 and 1."""
    try:
        values = np.asarray(quantiles, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    inside = values.ndim == 1 and len(values) and bool(((values > 0.0) & (values < 1.0)).all())
    if not inside or (np.diff(values) <= 0.0).any():
        raise ValueError(
            f"quantiles must be None or ascending numbers between 0 and 1, such as (0.05, 0.5, 0.95); got "
            f"{quantiles!r}."
        )


def solve_in_turn(
    problems: Sequence[RegressionProblem],
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool,
    callback: Callback | None,
) -> list[SolverResult]:
    """The solutions of problems that differ in their bounds only; kernel rows are computed once.

    Each gets an equal share of the time that is left.
    """
    solve: Solve | None = None
    results: list[SolverResult] = []
    for k, problem in enumerate(problems):
        part = stop.part(f"quantile-{k}")
        limits = replace(part, deadline=stop.deadline.part(1.0 / (len(problems) - k)))
        stored = limits.resumed(None)
        if solve is None or stored is not None:
            state = stored or start(problem, stop.tol, shrinking)
            solve = Solve(problem, cache_bytes, limits, shrinking, state)
        else:
            solve.go_on(problem, _from_zero(solve.state, problem, stop.tol), limits)
        results.append(solved(solve, limits, callback))
    return results


def _from_zero(state: State, problem: RegressionProblem, tol: float) -> State:
    """A cold start whose active samples are those that have kernel rows."""
    new = start(problem, tol, False)
    new.update(active=state.active, double=state.double)
    return new

"""The whole path of ridge or the lasso over C: certified coefficients for a grid of costs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...data import WeightedRows, check_grid
from ...solving import SolverResult, Status, Stop, solve_columns, unsolved, until_cut
from .columns import SquaresOnRows

DEFAULT_N_COSTS = 50


@dataclass(frozen=True)
class LeastSquaresPath:
    """Solutions for ascending C.

    Attributes
    ----------
    Cs : ndarray of shape (n_costs,)
    coefs : ndarray of shape (n_costs, n_columns, n_features)
    intercepts : ndarray of shape (n_costs, n_columns)
    objectives : ndarray of shape (n_costs, n_columns)
    dual_gaps : ndarray of shape (n_costs, n_columns)
        Relative.
    statuses : ndarray of shape (n_costs, n_columns)
    """

    Cs: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    dual_gaps: np.ndarray
    statuses: np.ndarray

    @property
    def n_nonzero(self) -> np.ndarray:
        """Features that some column uses, for each C."""
        return np.asarray((self.coefs != 0.0).any(axis=1).sum(axis=1))


def follow(model: Any, data: WeightedRows, Cs: Any, stop: Stop, n_threads: int) -> LeastSquaresPath:
    """The path of a ``LeastSquaresClassifier`` on canonical data."""
    code = model.code_
    columns = [code.column(data.labels, t) for t in range(code.n_columns)]
    patterns = [column.tobytes() for column in (code.matrix.T != 0)]
    shared: dict[bytes, SquaresOnRows] = {}
    for (which, _), pattern in zip(columns, patterns, strict=True):
        if pattern not in shared:
            shared[pattern] = model._on_rows(data.take(which, n_threads, stop.cancel))
    targets = [y for _, y in columns]
    costs = _costs(Cs, [shared[pattern] for pattern in patterns], targets)
    for C in (costs[0], costs[-1]):
        model.set_params(C=float(C))._prepare(data)
    problems = {pattern: [rows.at(C, of_many=True) for C in costs] for pattern, rows in shared.items()}

    def solve(column: int, stop: Stop, n_inner: int) -> list[SolverResult]:
        results: list[SolverResult] = []
        for at_cost in problems[patterns[column]]:
            w = results[-1].coef if results else None
            result = None
            with until_cut(stop.deadline):
                result = at_cost.solve(targets[column], w, stop, None)
            results.append(
                unsolved(np.zeros(data.rows.n_features) if w is None else w) if result is None else result
            )
        return results

    found = solve_columns(solve, code.n_columns, stop, n_threads)
    return _gathered(costs, list(zip(*found, strict=True)))


def _costs(Cs: Any, problems: list[SquaresOnRows], targets: list[np.ndarray]) -> np.ndarray:
    """The given costs, checked and sorted, or a grid that the data suggest."""
    if Cs is not None:
        return np.sort(check_grid("Cs", Cs))
    if problems[0].penalty == "lasso":
        first = min(rows.smallest_cost(y) for rows, y in zip(problems, targets, strict=True))
        return np.geomspace(first, 1e3 * first, DEFAULT_N_COSTS)
    unit = problems[0].unit
    spread = unit.cost @ unit.rows.sqnorms() - unit.total * float(unit.centre @ unit.centre)
    typical = max(float(spread) / unit.order, 1e-12 * unit.total)
    return np.geomspace(1e-3 / typical, 1e5 / typical, DEFAULT_N_COSTS)


def _gathered(costs: np.ndarray, rows: list[tuple[SolverResult, ...]]) -> LeastSquaresPath:
    path = LeastSquaresPath(
        costs,
        np.array([[result.coef for result in row] for row in rows]),
        np.array([[result.intercept for result in row] for row in rows]),
        np.array([[result.objective for result in row] for row in rows]),
        np.array([[result.gap for result in row] for row in rows]),
        np.array([[str(result.status) for result in row] for row in rows]),
    )
    if (path.statuses != str(Status.CONVERGED)).any():
        warnings.warn(
            f"the path did not converge at every C: the largest relative duality gap is "
            f"{path.dual_gaps.max():.1e}; raise max_iter or max_seconds, raise tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return path

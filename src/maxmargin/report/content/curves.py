"""How a fit came down to its gap, and what each number of support vectors was worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...solving import FLOAT_EPS, gap_series, largest_gap
from .description import fitted_inside

FLOOR_SHARE = 1e-2  # of the gap asked for or reached: a gap of 0 on the way would hide the rest of the chart
MAX_SINGLE_COLUMNS = 8  # columns drawn beside the worst
MAX_MOMENTS = 400  # of the line of the worst column


@dataclass(frozen=True)
class Curve:
    """Gaps of one column of the code, or the largest of all columns at each moment."""

    name: str
    seconds: list[float]
    iterations: list[float]
    gap: list[float]


@dataclass(frozen=True)
class GapHistory:
    """The worst column at each moment, and some single ones; against seconds and against iterations."""

    worst_by_time: Curve
    worst_by_iteration: Curve
    columns: list[Curve]
    n_columns: int
    tol: float | None
    floor: float  # smaller gaps are drawn there


@dataclass(frozen=True)
class BudgetPath:
    """Models with the first 1, 2, ... support vectors of the fit."""

    budget: list[int]
    loss: list[float]
    score: list[float]  # accuracy on rows held out; NaN where there were none
    gap: list[float]

    @property
    def has_scores(self) -> bool:
        """Whether accuracies were measured."""
        return bool(np.isfinite(self.score).any())


def gap_history(model: Any) -> GapHistory | None:
    """None for a model without certificates."""
    inner = fitted_inside(model)
    history, tol = getattr(inner, "history_", []), getattr(inner, "tol", None)
    ends = [checks[-1].gap for checks in history if len(checks)]
    floor = max(FLOAT_EPS, FLOOR_SHARE * min([tol or 1.0, *(gap for gap in ends if 0.0 < gap < np.inf)]))
    columns = [_curve(f"column {t}", checks, floor) for t, checks in enumerate(history)]
    columns = [column for column in columns if column.gap]
    if not columns:
        return None
    by_time, by_iteration = (_worst(columns, axis) for axis in ("seconds", "iterations"))
    slowest = sorted(columns, key=lambda c: -c.seconds[-1])[:MAX_SINGLE_COLUMNS]
    few = slowest if len(columns) > 1 else []
    return GapHistory(by_time, by_iteration, few, len(columns), tol, floor)


def _curve(name: str, checks: Any, floor: float) -> Curve:
    kept = [check for check in checks if np.isfinite(check.gap)]
    seconds, gaps = gap_series(kept, "seconds", floor)
    iterations, _ = gap_series(kept, "iterations", floor)
    return Curve(name, seconds.tolist(), iterations.tolist(), gaps.tolist())


def _worst(columns: list[Curve], axis: str) -> Curve:
    """The largest gap of all columns at each moment with a certificate, at up to 400 of them."""
    if len(columns) == 1:
        return columns[0]
    x, largest = largest_gap([(np.array(getattr(c, axis)), np.array(c.gap)) for c in columns])
    shown = np.linspace(0, len(x) - 1, min(len(x), MAX_MOMENTS)).astype(int)
    times = x[shown].tolist()
    return Curve("largest gap of all columns", times, times, largest[shown].tolist())


def budget_path(model: Any) -> BudgetPath | None:
    """None for a model that was not grown under a budget."""
    path = getattr(fitted_inside(model), "budget_path_", None)
    if not path or len(path["budget"]) < 2:
        return None
    return BudgetPath(*(np.asarray(path[name]).tolist() for name in ("budget", "loss", "score", "gap")))

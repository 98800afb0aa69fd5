"""How a fit came down to its gap, and what each number of support vectors was worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...solving import FLOAT_EPS
from .model_words import fitted_inside

DEEPEST = 1e-2  # of what was asked for or reached: a gap of 0 on the way would hide the rest of the chart
MOST_FAINT = 8  # columns drawn beside the worst


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
    floor: float  # smaller gaps are told as this


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
    floor = max(FLOAT_EPS, DEEPEST * min([tol or 1.0, *(gap for gap in ends if 0.0 < gap < np.inf)]))
    columns = [_curve(f"column {t}", checks, floor) for t, checks in enumerate(history)]
    columns = [column for column in columns if column.gap]
    if not columns:
        return None
    by_time, by_iteration = (_worst(columns, axis) for axis in ("seconds", "iterations"))
    slowest = sorted(columns, key=lambda c: -c.seconds[-1])[:MOST_FAINT]
    few = slowest if len(columns) > 1 else []
    return GapHistory(by_time, by_iteration, few, len(columns), tol, floor)


def _curve(name: str, checks: Any, floor: float) -> Curve:
    kept = [check for check in checks if np.isfinite(check.gap)]
    return Curve(
        name,
        [float(check.seconds) for check in kept],
        [float(check.n_iter) for check in kept],
        [max(float(check.gap), floor) for check in kept],
    )


def _worst(columns: list[Curve], axis: str) -> Curve:
    """The largest gap of all columns at each moment at which some column was looked at."""
    if len(columns) == 1:
        return columns[0]
    moments = np.unique(np.concatenate([getattr(column, axis) for column in columns]))
    moments = moments[np.linspace(0, len(moments) - 1, min(len(moments), 400)).astype(int)]
    largest = np.zeros(len(moments))
    for column in columns:
        at = np.searchsorted(getattr(column, axis), moments, side="right") - 1
        largest = np.maximum(largest, np.array(column.gap)[np.maximum(at, 0)])
    times = moments.tolist()
    return Curve("largest gap of all columns", times, times, largest.tolist())


def budget_path(model: Any) -> BudgetPath | None:
    """None for a model that was not grown under a budget."""
    path = getattr(fitted_inside(model), "budget_path_", None)
    if not path or len(path["budget"]) < 2:
        return None
    return BudgetPath(*(np.asarray(path[name]).tolist() for name in ("budget", "loss", "score", "gap")))

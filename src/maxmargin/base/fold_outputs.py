"""Outputs for rows that the columns were not trained on: each fold's, by a fit without it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codes import Code
from ..data import WeightedRows
from ..solving import Callback, SolverResult, Status, Stop, worst_status

if TYPE_CHECKING:
    from .classifier import CodedClassifier

__all__ = ["FoldOutputs", "outputs_by_refits", "outputs_on_rows"]

AT_ONCE = 8192  # rows that are copied into the canonical order at one time


@dataclass(frozen=True)
class FoldOutputs:
    """Outputs (n_rows, n_columns) by the fits without each row's fold; their worst gap and end."""

    outputs: np.ndarray
    gap: float
    status: Status


def outputs_on_rows(
    model: CodedClassifier, data: WeightedRows, which: np.ndarray | None = None
) -> np.ndarray:
    """The model's outputs for canonical rows of its data, in their order, whatever the order they came in."""
    index = data.rows.index if which is None else data.rows.index[which]
    F = np.empty((len(index), model.code_.n_columns))
    for start in range(0, len(index), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        F[some] = model._column_outputs(data.rows.X[index[some]])
    return F


def outputs_by_refits(
    model: CodedClassifier,
    data: WeightedRows,
    fold: np.ndarray,
    stop: Stop,
    callback: Callback | None,
    n_threads: int,
) -> FoldOutputs:
    """Fit the model anew without each fold, with the same code, seed and kernel.

    A column whose rows outside the fold are all of one side is that side, +1 or -1; one that has no rows
    there is 0. So it is where a class has one row.
    """
    outputs, results = np.empty((len(data.rows), model.code_.n_columns)), []
    deadline = time.perf_counter() + stop.max_seconds
    for k in range(int(fold.max()) + 1):
        trained, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        part = data.take(trained, n_threads, stop.cancel)
        sides = _sides(model.code_, part.labels)
        outputs[held] = sides
        solvable = np.flatnonzero(np.isnan(sides))
        if len(solvable):
            left = replace(stop.part(f"fold-{k}"), max_seconds=max(deadline - time.perf_counter(), 0.0))
            refit = _without_state(model, model.code_.part(solvable))
            refit._prepare(part)
            found = refit._solve_all(part, left, callback, n_threads)
            refit._store(found, part)
            outputs[np.ix_(held, solvable)] = outputs_on_rows(refit, data, held)
            results += found
    return FoldOutputs(outputs, *worst_of(results))


def worst_of(results: Iterable[SolverResult]) -> tuple[float, Status]:
    """The largest relative duality gap, and the worst end."""
    results = list(results)
    return max((r.gap for r in results), default=0.0), worst_status(r.status for r in results)


def _sides(code: Code, labels: np.ndarray) -> np.ndarray:
    """For each column the side that all its rows are on, 0 if it has none, NaN if they are on both."""
    present = code.matrix[np.unique(labels)]
    above, below = (present > 0).any(axis=0), (present < 0).any(axis=0)
    return np.where(above & below, np.nan, above.astype(np.float64) - below)


def _without_state(model: CodedClassifier, code: Code) -> Any:
    """A copy that starts from nothing, for some columns of the code."""
    refit = copy(model)
    refit.code_ = code
    if hasattr(refit, "warm_start"):
        refit.warm_start = False
    if getattr(refit, "kernel", None) is not None:
        refit.kernel = refit.kernel_  # a gamma that was a word is chosen once
    return refit

"""Out-of-fold outputs: each fold is predicted by a fit to the other folds."""

from __future__ import annotations

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

ROWS_PER_COPY = 8192  # when rows are copied into canonical order


@dataclass(frozen=True)
class FoldOutputs:
    """Outputs (n_rows, n_columns) of the fits without each row's fold, with their worst gap and status."""

    outputs: np.ndarray
    gap: float
    status: Status


def outputs_on_rows(
    model: CodedClassifier, data: WeightedRows, which: np.ndarray | None = None
) -> np.ndarray:
    """The model's outputs for canonical rows of its data, in canonical order."""
    index = data.rows.index if which is None else data.rows.index[which]
    F = np.empty((len(index), model.code_.n_columns))
    for start in range(0, len(index), ROWS_PER_COPY):
        some = slice(start, start + ROWS_PER_COPY)
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
    """Refit the model without each fold, with the same code, seed and kernel.

    A column whose training rows all have the same sign outputs that sign, +1 or -1; a column without training
    rows outputs 0. This happens if a class has a single row.
    """
    outputs, results = np.empty((len(data.rows), model.code_.n_columns)), []
    n_folds = int(fold.max()) + 1
    for k in range(n_folds):
        trained, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        part = data.take(trained, n_threads, stop.cancel)
        sides = _sides(model.code_, part.labels)
        outputs[held] = sides
        solvable = np.flatnonzero(np.isnan(sides))
        if len(solvable):
            limits = replace(stop.part(f"fold-{k}"), deadline=stop.deadline.part(1.0 / (n_folds - k)))
            refit = _without_state(model, model.code_.part(solvable))
            refit._prepare(part)
            found = refit._solve_all(part, limits, callback, n_threads)
            refit._store(found, part)
            outputs[np.ix_(held, solvable)] = outputs_on_rows(refit, data, held)
            results += found
    return FoldOutputs(outputs, *worst_of(results))


def worst_of(results: Iterable[SolverResult]) -> tuple[float, Status]:
    """The largest relative duality gap, and the worst status."""
    results = list(results)
    return max((r.gap for r in results), default=0.0), worst_status(r.status for r in results)


def _sides(code: Code, labels: np.ndarray) -> np.ndarray:
    """For each column the sign that all its rows share; 0 if it has no rows, NaN if both signs occur."""
    present = code.matrix[np.unique(labels)]
    above, below = (present > 0).any(axis=0), (present < 0).any(axis=0)
    return np.where(above & below, np.nan, above.astype(np.float64) - below)


def _without_state(model: CodedClassifier, code: Code) -> Any:
    """A copy without a warm start, for some columns of the code."""
    refit = copy(model)
    refit.code_ = code
    if hasattr(refit, "warm_start"):
        refit.warm_start = False
    if getattr(refit, "kernel", None) is not None:
        refit.kernel = refit.kernel_  # so that a named gamma, such as "scale", is computed only once
    return refit

"""Outputs out of fold of the exact kernel SVM: every column without each fold, sharing kernel values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..._native import effective_n_threads
from ...base import FoldOutputs
from ...data import WeightedRows
from ...solving import (
    Callback,
    Stop,
    solve_columns,
    worst_status,
)
from .out_of_fold import FoldFits, memory, out_of_fold

if TYPE_CHECKING:
    from .estimator import KernelSVC

__all__ = ["outputs_without_folds"]


def outputs_without_folds(
    model: KernelSVC,
    data: WeightedRows,
    fold: np.ndarray,
    coef: np.ndarray,
    stop: Stop,
    *,
    everywhere: bool = True,
    callback: Callback | None = None,
) -> FoldOutputs:
    """Outputs of the canonical rows by columns fitted without their fold, from the model fitted to all rows.

    ``coef`` (n_columns, n_support) are the support vectors' coefficients that folds start from. Without
    ``everywhere``, outputs for rows that do not take part in a column are 0.
    """
    code, kernel = model.code_, model._kernel_data(data)
    outputs = np.zeros((len(data.rows), code.n_columns))
    columns = [code.column(data.labels, t) for t in range(code.n_columns)]
    # What a column may use depends on the data alone, so its bits do too; how many go at once does not.
    limit = int(model.cache_mb_ * 1e6)
    shares = [min(limit, memory(len(which), kernel.dtype)) for which, _ in columns]
    n_threads = effective_n_threads(model.n_jobs)
    at_once = max(1, min(n_threads, code.n_columns, limit // max(1, *shares)))

    def solve(t: int, stop: Stop, _: int) -> FoldFits:
        which, targets = columns[t]
        rows = replace(kernel, n_threads=n_threads // at_once, cancel=stop.cancel)
        problem = model._problem(rows.take(which), targets, data.weight[which])
        known = np.zeros(data.rows.X.shape[0])
        known[model.support_] = coef[t]
        fits = out_of_fold(
            problem,
            known[data.rows.index[which]],
            fold[which],
            int(fold.max()) + 1,
            stop=stop,
            cache_bytes=shares[t],
            shrinking=model.shrinking,
            callback=callback,
        )
        outputs[which, t] = fits.outputs
        if everywhere and len(which) < len(outputs):
            others = np.setdiff1d(np.arange(len(outputs)), which)
            F = rows.matmul(others, which, fits.coef) + fits.intercept
            outputs[others, t] = F[np.arange(len(others)), fold[others]]
        return fits

    fits = solve_columns(solve, code.n_columns, stop, at_once)
    gap = max(column.gap for column in fits)
    return FoldOutputs(outputs, gap, worst_status(status for column in fits for status in column.status))

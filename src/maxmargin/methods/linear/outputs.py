"""Outputs of linear functions, and the support vectors that their columns have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._native import effective_n_threads
from ...codes import Code
from ...data import Rows
from ...solving import SolverResult


def linear_outputs(X: Any, coef: np.ndarray, intercept: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """``X coef' + intercept``, (n_samples, n_columns), for ``coef`` of shape (n_columns, n_features)."""
    rows = Rows(X, np.arange(X.shape[0]), effective_n_threads(n_jobs))
    return rows.dot(coef.T) + intercept


def count_support(results: Sequence[SolverResult], code: Code, labels: np.ndarray) -> int:
    """The number of rows with a dual coefficient in some column; columns without time have none."""
    support = np.zeros(len(labels), dtype=bool)
    for column, result in enumerate(results):
        if result.dual_coef is not None:
            which, _ = code.column(labels, column)
            support[which] |= result.dual_coef != 0.0
    return int(np.count_nonzero(support))

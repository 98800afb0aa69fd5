"""Proof that a kernel is not positive semi-definite on the rows of a fit: then no gap is a certificate.

A dual value bounds the optimum from below only where v'Kv >= 0 for every v that the problem allows; for an
intercept that is free these sum to 0. What is found here refutes that. What is not found is not proven.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from .result import Check, SolverResult, Status

__all__ = ["is_indefinite", "most_important", "without_bound", "without_bound_words"]

ROWS = 128  # that are looked at, at most
NOT_ROUNDING = 1e-5  # of the largest |k|: a matrix that was rounded to float32 has no such eigenvalue


def is_indefinite(K: np.ndarray, *, balanced: bool) -> bool:
    """Whether some eigenvalue of a symmetric matrix is negative beyond rounding.

    ``balanced``: on the vectors that sum to 0 only, where minus a squared distance, for one, has none.
    """
    K = np.asarray(K, dtype=np.float64)
    largest = float(np.abs(K).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return False
    K = K / largest
    if balanced:
        means = K.mean(axis=0)
        K = K - means - means[:, None] + means.mean()
    K[np.diag_indices_from(K)] += NOT_ROUNDING
    try:
        cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return True
    return False


def most_important(sizes: np.ndarray) -> np.ndarray:
    """The rows that are looked at: those with the largest sizes."""
    return np.argsort(-sizes, kind="stable")[:ROWS]


def without_bound(result: SolverResult) -> SolverResult:
    """The same coefficients, of which nothing is known but that no step has anything to gain."""
    history: Iterable[Check] = (replace(check, dual=-np.inf) for check in result.history)
    status = Status.STALLED if result.status is Status.CONVERGED else result.status
    return replace(result, status=status, history=tuple(history))


def without_bound_words(kernel: object) -> str:
    """What there is to say about it, and to do."""
    return (
        f"the kernel {kernel!r} is not positive semi-definite on these rows, and no bound on the optimum is "
        "known: the model is a point where no step gains anything. Take another kernel or gamma."
    )

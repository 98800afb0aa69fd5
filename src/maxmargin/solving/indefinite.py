"""Tests that prove a kernel indefinite on the rows of a fit, which makes its duality gap meaningless.

A dual value bounds the optimum from below only if v'Kv >= 0 for every v that the problem allows; with a free
intercept these are the v that sum to 0. A positive test disproves this condition; a negative one proves
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from .result import MAX_NEGATIVE_GAP, Check, SolverResult, Status

__all__ = ["bounds_cross", "is_indefinite", "most_important", "without_bound", "without_bound_words"]

MAX_ROWS_TESTED = 128  # of the kernel matrix
NOT_ROUNDING = 1e-5  # relative to the largest |k|: rounding to float32 cannot cause such an eigenvalue


def is_indefinite(K: np.ndarray, *, balanced: bool) -> bool:
    """Whether a symmetric matrix has a negative eigenvalue that rounding cannot explain.

    ``balanced`` restricts the test to vectors that sum to 0, on which a negated squared distance, for
    example, is positive semi-definite.
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


def bounds_cross(result: SolverResult) -> bool:
    """Whether a dual value is above the objective by more than rounding, which no definite kernel allows."""
    return result.history[-1].gap < -MAX_NEGATIVE_GAP


def most_important(sizes: np.ndarray) -> np.ndarray:
    """The rows to test: those with the largest sizes."""
    return np.argsort(-sizes, kind="stable")[:MAX_ROWS_TESTED]


def without_bound(result: SolverResult) -> SolverResult:
    """The same coefficients without a bound: all that is known is that no step improves them.

    Nor is the objective of zero coefficients one: squared norms may be negative.
    """
    history: Iterable[Check] = (replace(check, dual=-np.inf) for check in result.history)
    overflown = result.status is Status.DIVERGED and not np.isfinite(result.objective)
    meaningless = result.status in (Status.CONVERGED, Status.FAILED, Status.DIVERGED) and not overflown
    status = Status.STALLED if meaningless else result.status
    return replace(result, status=status, history=tuple(history))


def without_bound_words(kernel: object) -> str:
    """The warning for a fit without a bound, with advice."""
    return (
        f"the kernel {kernel!r} is not positive semi-definite on these rows, so no bound on the optimum is "
        "known: the model is a stationary point. Use another kernel or gamma."
    )

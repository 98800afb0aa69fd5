"""The linear system of a Newton step, by the smaller of two factorisations or by conjugate gradients.

    [ I + X'KX   X'K1    ] [p  ]     [g  ]
    [ 1'KX       p_b + 1'K1 ] [p_b] = - [g_b],     K = diag(curvature)

Only rows of positive curvature enter. The border is eliminated: H = I + X'KX is solved for two right sides.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..rows import Rows
from .margins import MarginProblem
from .result import FLOAT_EPS

LARGEST_FACTOR = 3000  # order of the largest matrix that is factorised


def newton_direction(
    problem: MarginProblem, curvature: np.ndarray, gradient: np.ndarray, gradient_b: float
) -> tuple[np.ndarray, float]:
    """The direction (p, p_b)."""
    curved = np.flatnonzero(curvature)
    rows, weight = problem.rows.take(curved), curvature[curved]
    if problem.intercept == "none":
        return -_solve(rows, weight, gradient[:, None])[:, 0], 0.0
    border = rows.sum(weight)
    corner = problem.intercept_penalty + float(weight.sum())
    solved = _solve(rows, weight, np.column_stack([gradient, border]))
    schur = corner - float(border @ solved[:, 1])
    p_b = (float(border @ solved[:, 0]) - gradient_b) / schur if schur > 64 * FLOAT_EPS * corner else 0.0
    return -solved[:, 0] - p_b * solved[:, 1], p_b


def _solve(rows: Rows, weight: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``(I + X' diag(weight) X)^{-1} right``."""
    n, d = len(rows), rows.n_features
    if n == 0:
        return right.copy()
    if min(n, d) > LARGEST_FACTOR:
        return np.column_stack([_conjugate_gradients(rows, weight, column) for column in right.T])
    if d <= n or d <= 64:
        matrix = rows.gram(weight)
        matrix.flat[:: d + 1] += 1.0
        return _cholesky_solve(matrix, right)
    # The Woodbury identity: a system of order n instead of d.
    matrix = rows.products()
    matrix.flat[:: n + 1] += 1.0 / weight
    inner = _cholesky_solve(matrix, rows.dot(right))
    return right - np.column_stack([rows.sum(column) for column in inner.T])


def _cholesky_solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric positive definite system, scaled to a unit diagonal; rounding is met with a shift."""
    scale = 1.0 / np.sqrt(matrix.diagonal())
    matrix *= scale
    matrix *= scale[:, None]
    shift = 0.0
    while shift < 1.0:
        factor, failed_at = dpotrf(matrix, lower=1)
        if not failed_at:
            return scale[:, None] * dpotrs(factor, scale[:, None] * right, lower=1)[0]
        matrix.flat[:: len(matrix) + 1] += max(9.0 * shift, 64 * FLOAT_EPS)
        shift = max(10.0 * shift, 64 * FLOAT_EPS)
    raise FloatingPointError("the Newton system is not finite")


def _conjugate_gradients(rows: Rows, weight: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The same solution by conjugate gradients, to three digits: a direction needs no more."""
    x, residual = np.zeros_like(right), right.copy()
    direction, residual_sq = residual.copy(), float(residual @ residual)
    target = 1e-6 * residual_sq
    for _ in range(500):
        if residual_sq <= target:
            break
        image = direction + rows.sum(weight * rows.dot(direction))
        length = residual_sq / float(direction @ image)
        x += length * direction
        residual -= length * image
        before, residual_sq = residual_sq, float(residual @ residual)
        direction = residual + (residual_sq / before) * direction
    return x

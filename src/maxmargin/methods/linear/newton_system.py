"""The linear system of a Newton step, by the smaller of two factorisations or by conjugate gradients.

    min_{p,q}  <g, p> + g_b q + 1/2 ||p||^2 + penalty/2 q^2 + 1/2 sum_i k_i (<x_i, p> + q)^2,    k = curvature

Only rows of positive curvature take part. A free intercept (no penalty) is eliminated by centring the rows at
their mean, weighted by k: then q' = q + <mean, p> is independent of p, and rows far from the origin lose no
digits. A penalised one is a feature of value 1, eliminated as a border.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ...data import Rows
from ...solving import FLOAT_EPS
from .problem import MarginProblem

MAX_FACTOR_ORDER = 3000  # larger systems are solved by conjugate gradients


def newton_direction(
    problem: MarginProblem, curvature: np.ndarray, gradient: np.ndarray, gradient_b: float
) -> tuple[np.ndarray, float]:
    """The direction (p, q)."""
    curved = np.flatnonzero(curvature)
    rows, weight = problem.rows.take(curved), curvature[curved]
    if problem.intercept == "free" and len(curved):
        mean = rows.mean(weight)
        p = -_solve(rows, weight, (gradient - gradient_b * mean)[:, None], mean)[:, 0]
        return p, -gradient_b / float(weight.sum()) - float(mean @ p)
    if problem.intercept != "penalised":
        return -_solve(rows, weight, gradient[:, None])[:, 0], 0.0
    border = rows.sum(weight)
    solved = _solve(rows, weight, np.column_stack([gradient, border]))
    # The matrix of the system is at least the identity, and so is its Schur complement: less is rounding.
    schur = max(1.0, 1.0 + float(weight.sum()) - float(border @ solved[:, 1]))
    q = (float(border @ solved[:, 0]) - gradient_b) / schur
    return -solved[:, 0] - q * solved[:, 1], q


def _solve(rows: Rows, weight: np.ndarray, right: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
    """``(I + (X - mean)' diag(weight) (X - mean))^{-1} right``."""
    n, d = len(rows), rows.n_features
    if min(n, d) == 0:
        return right.copy()
    if min(n, d) > MAX_FACTOR_ORDER:
        return np.column_stack([_conjugate_gradients(rows, weight, column, mean) for column in right.T])
    if d <= n or d <= 64:
        matrix = rows.gram(weight, mean)
        constant = matrix.diagonal() < 0.0  # sparse rows are centred after their squares are summed
        matrix[constant] = matrix[:, constant] = 0.0
        matrix.flat[:: d + 1] += 1.0
        return _cholesky_solve(matrix, right)
    # The Woodbury identity: a system of order n instead of d.
    matrix = rows.products()
    images = rows.dot(right)
    if mean is not None:
        towards = rows.dot(mean)
        matrix -= towards[:, None] + towards - mean @ mean
        images -= mean @ right
    matrix.flat[:: n + 1] += 1.0 / weight
    inner = _cholesky_solve(matrix, images)
    back = np.column_stack([rows.sum(column) for column in inner.T])
    return right - (back if mean is None else back - np.outer(mean, inner.sum(axis=0)))


def _cholesky_solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric positive definite system; the matrix is overwritten."""
    factor, scale = scaled_cholesky(matrix)
    return scale[:, None] * dpotrs(factor, scale[:, None] * right, lower=1)[0]


def scaled_cholesky(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L and scales with ``L L' = scale matrix scale`` of unit diagonal; a shift absorbs rounding errors."""
    scale = 1.0 / np.sqrt(matrix.diagonal())
    matrix *= scale
    matrix *= scale[:, None]
    shift = 0.0
    while shift < 1.0:
        factor, failed_at = dpotrf(matrix, lower=1)
        if not failed_at:
            return factor, scale
        matrix.flat[:: len(matrix) + 1] += max(9.0 * shift, 64 * FLOAT_EPS)
        shift = max(10.0 * shift, 64 * FLOAT_EPS)
    raise FloatingPointError("the Newton system is not finite")


def _conjugate_gradients(
    rows: Rows, weight: np.ndarray, right: np.ndarray, mean: np.ndarray | None
) -> np.ndarray:
    """The same solution by conjugate gradients, to three digits, which are enough for a direction."""
    x, residual = np.zeros_like(right), right.copy()
    direction, residual_sq = residual.copy(), float(residual @ residual)
    target = 1e-6 * residual_sq
    for _ in range(500):
        if residual_sq <= target:
            break
        weighted = weight * (rows.dot(direction) - (0.0 if mean is None else mean @ direction))
        image = direction + rows.sum(weighted)
        if mean is not None:
            image -= weighted.sum() * mean
        length = residual_sq / float(direction @ image)
        x += length * direction
        residual -= length * image
        before, residual_sq = residual_sq, float(residual @ residual)
        direction = residual + (residual_sq / before) * direction
    return x

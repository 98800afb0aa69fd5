"""Smooth losses by truncated Newton steps: products with the rows that have a curvature, and no matrix.

    min_{w,b}  1/2 ||w||^2 + p/2 b^2 + sum_i c_i loss(y_i (<w, x_i> + b))

The iteration is that of `newton.py`, with its exact intercept and its search along the step. The direction
comes from conjugate gradients on (I + X'KX) q = -gradient, K the curvatures of the rows' losses.
The matrix is at least I, so half the squared residual bounds how far the quadratic is above its minimum.
Conjugate gradients stop once that is a small share of the quadratic's value, and the share shrinks near the
optimum (as in Dembo, Eisenstat and Steihaug 1982, with the duality gap instead of the gradient's norm). A
free intercept is eliminated by centring the rows at their mean, weighted by K; a penalised one is one more
feature, of value 1.
"""

from __future__ import annotations

import numpy as np

from ..._native import is_sparse
from ...data import Rows
from ...solving import Callback, SolverResult, State, Stop
from .log_newton import LogIteration
from .newton import NewtonIteration, newton
from .problem import MarginProblem

RESIDUAL_PER_SQUARED_GAP = 0.02  # relative error of a direction, divided by the squared relative duality gap
RESIDUAL_PER_TOL = 0.3  # the smallest relative error asked for, divided by tol
MAX_CG_PRODUCTS = 500  # products of one direction
ROWS_PER_BLOCK = 4096


def truncated_newton(
    problem: MarginProblem, *, stop: Stop, state: State | None = None, callback: Callback | None = None
) -> SolverResult:
    """Minimise a ``MarginProblem`` with the squared hinge, a smoothed one or the log loss to ``stop.tol``."""
    if problem.loss.name not in ("squared-hinge", "smoothed-hinge", "log"):
        raise ValueError(
            "solver 'truncated-newton' needs a loss with a curvature, 'squared-hinge' or 'log'; got "
            f"{problem.loss.name!r}. Use solver='newton' or 'dual-cd'."
        )
    direction = TruncatedDirection(feature_squares(problem.rows, problem.cost), RESIDUAL_PER_TOL * stop.tol)
    iterate = LogIteration if problem.loss.name == "log" else NewtonIteration
    return newton(problem, stop=stop, state=state, callback=callback, direction=direction, iterate=iterate)


def feature_squares(rows: Rows, weight: np.ndarray) -> np.ndarray:
    """``sum_i weight_i x_ij^2 / sum_i weight_i`` for each feature j."""
    total = np.zeros(rows.n_features)
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        X = rows.X[rows.index[start : start + ROWS_PER_BLOCK]]
        some = weight[start : start + ROWS_PER_BLOCK]
        if is_sparse(X):
            each = np.repeat(some, np.diff(X.indptr)) * X.data.astype(np.float64) ** 2
            total += np.bincount(X.indices, weights=each, minlength=rows.n_features)
        else:
            total += some @ np.asarray(X, dtype=np.float64) ** 2
    return total / float(weight.sum())


class TruncatedDirection:
    """A Newton direction by conjugate gradients, preconditioned by an estimate of the matrix's diagonal."""

    def __init__(self, squares: np.ndarray, finest: float) -> None:
        self.squares, self.finest = squares, finest

    def __call__(self, iteration: NewtonIteration) -> tuple[np.ndarray, float]:
        """The direction (p, q) of `newton_system.py`."""
        problem, curvature = iteration.problem, iteration.curvature(iteration.shares)
        gradient, gradient_b = iteration.gradient, iteration.gradient_b
        gap = min(iteration.gap / iteration.primal, 1.0) if iteration.primal > 0.0 else 1.0
        goal = iteration.primal, max(self.finest, RESIDUAL_PER_SQUARED_GAP * gap * gap)
        curved = np.flatnonzero(curvature)
        if not len(curved):
            return -gradient, -gradient_b if problem.intercept == "penalised" else 0.0
        rows, weight = problem.rows.take(curved), curvature[curved]
        total = float(weight.sum())
        if problem.intercept == "free":
            mean = rows.mean(weight)
            spread = np.maximum(self.squares - mean**2, 0.0)
            product = CentredProduct(rows, weight, mean)
            p = -conjugate_gradients(product, gradient - gradient_b * mean, 1.0 + total * spread, goal)
            return p, -gradient_b / total - float(mean @ p)
        diagonal = 1.0 + total * self.squares
        if problem.intercept == "none":
            return -conjugate_gradients(CentredProduct(rows, weight), gradient, diagonal, goal), 0.0
        both = BorderedProduct(rows, weight)
        right, diagonal = np.append(gradient, gradient_b), np.append(diagonal, 1.0 + total)
        p = -conjugate_gradients(both, right, diagonal, goal)
        return p[:-1], float(p[-1])


class CentredProduct:
    """``(I + (X - mean)' diag(weight) (X - mean)) p``."""

    def __init__(self, rows: Rows, weight: np.ndarray, mean: np.ndarray | None = None) -> None:
        self.rows, self.weight, self.mean = rows, weight, mean

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """The product with p."""
        if self.mean is None:
            return p + self.rows.sum(self.weight * self.rows.dot(p))
        u = self.weight * (self.rows.dot(p) - float(self.mean @ p))
        return p + self.rows.sum(u) - float(u.sum()) * self.mean


class BorderedProduct:
    """The same product with one more feature, of value 1, instead of a mean."""

    def __init__(self, rows: Rows, weight: np.ndarray) -> None:
        self.rows, self.weight = rows, weight

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """The product with p."""
        u = self.weight * (self.rows.dot(p[:-1]) + p[-1])
        return np.append(p[:-1] + self.rows.sum(u), p[-1] + float(u.sum()))


def conjugate_gradients(
    product: CentredProduct | BorderedProduct,
    right: np.ndarray,
    diagonal: np.ndarray,
    goal: tuple[float, float],
) -> np.ndarray:
    """An approximate solution of ``product(x) = right``, preconditioned by a diagonal.

    ``goal`` is the quadratic's value at x = 0, and the share of its present value that may remain to be
    gained. At least one product is computed, since x = 0 is not a step.
    """
    value, share = goal
    x, residual = np.zeros_like(right), right.copy()
    towards = residual / diagonal
    direction, rho = towards.copy(), float(residual @ towards)
    for n_products in range(MAX_CG_PRODUCTS):
        present = max(value - 0.5 * float(x @ (right + residual)), 0.0)
        near = n_products > 0 and 0.5 * float(residual @ residual) <= share * present
        if near or rho == 0.0:
            break
        image = product(direction)
        bend = float(direction @ image)
        if bend == 0.0:  # at least the square of the direction, which underflows: nothing is left to gain
            break
        length = rho / bend
        x += length * direction
        residual -= length * image
        towards = residual / diagonal
        before, rho = rho, float(residual @ towards)
        direction = towards + (rho / before) * direction
    return x

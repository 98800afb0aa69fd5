"""Newton's method for a few variables with lower bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Smooth = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]


def bounded_newton(
    loss: Smooth, x: FloatArray, least: float = -np.inf, tol: float = 1e-12, max_iter: int = 200
) -> tuple[FloatArray, float]:
    """Minimise a convex ``loss(x) -> value, gradient, hessian`` over ``x >= least``, from a feasible x.

    Returns the minimiser and the norm of its projected gradient. In each step, variables at their bound with
    a non-negative gradient stay fixed, the others take a Newton step, and the result is projected onto the
    bounds (Bertsekas 1982). Steps are halved until Armijo's condition holds up to rounding of the value, so
    the last tiny steps, which change only the gradient, are still taken.
    """
    value, gradient, hessian = loss(x)
    for _ in range(max_iter):
        free = (x > least) | (gradient < 0.0)
        if np.linalg.norm(gradient[free]) <= tol:
            break
        step = np.zeros(len(x))
        damped = hessian[np.ix_(free, free)] + 1e-12 * np.eye(int(free.sum()))
        step[free] = -np.linalg.solve(damped, gradient[free])
        rate = 1.0
        while True:
            there = np.maximum(x + rate * step, least)
            trial = loss(there)
            expected = 1e-4 * (gradient @ (there - x))
            if trial[0] <= value + expected + 1e-14 * (1 + abs(value)) or rate <= 1e-10:
                break
            rate /= 2
        x = there
        value, gradient, hessian = trial
    return x, float(np.linalg.norm(gradient[(x > least) | (gradient < 0.0)]))

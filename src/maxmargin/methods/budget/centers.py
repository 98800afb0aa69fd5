"""Support vectors moved off the data: centres of a Gaussian kernel, optimised with their coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize

from ..._native import is_sparse
from ...kernels import RBF
from ...numerics import FeaturePanel
from .ending import moves_are_over
from .reduced_newton import ReducedProblem, Refit, refit

if TYPE_CHECKING:
    from .greedy import GreedyFit

MOVE_TOL = 1e-4  # relative gap of the coefficients for every trial position of the centres
LBFGS_ITERATIONS = 10  # in one step of the loop


class MovingCentres:
    """``Q(Z) = min_v P(v; Z)``, the reduced problem's optimum as a function of the centres Z.

    With a = L^{-T} v optimal for Z, r = dP/df and k(x, z) = exp(-gamma ||x - z||^2), its gradient is

        dQ/dz_j = 2 gamma (sum_i W_ij (x_i - z_j) + alpha sum_l M_jl (z_l - z_j)),
        W = K * (r a'),   M = K(Z, Z) * (a a').
    """

    def __init__(self, fit: GreedyFit) -> None:
        self.fit, self.kernel = fit, fit.kernel
        self.rows = self.kernel.X[self.kernel.index]
        self.best = fit.fitted
        self.panel = fit.panel
        self.a = fit.panel.coef(fit.fitted.V)

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Q and its gradient."""
        Z = flat.reshape(-1, self.rows.shape[1])
        panel = FeaturePanel(self.kernel, len(Z), self.fit.pool)
        added = panel.append(Z.astype(self.kernel.dtype))
        V = panel.factor.T @ self.a[added]
        fitted = refit(self._reduced(panel), V, panel.dot(V), MOVE_TOL)
        a = np.zeros((len(Z), V.shape[1]))
        a[added] = panel.coef(fitted.V)
        value = float(fitted.primal.sum())
        if added.all() and value <= float(self.best.primal.sum()):
            self.best, self.panel, self.a = fitted, panel, a
        return value, self._gradient(panel, fitted, a, Z, added).ravel()

    def _reduced(self, panel: FeaturePanel) -> ReducedProblem:
        there = self.fit.reduced()
        return replace(there, panel=panel)

    def _gradient(
        self, panel: FeaturePanel, fitted: Refit, a: np.ndarray, Z: np.ndarray, added: np.ndarray
    ) -> np.ndarray:
        problem = self._reduced(panel)
        R = problem.residuals(problem.smooth(), fitted.F)
        gamma = float(self.kernel.kernel.gamma)  # type: ignore[attr-defined]
        some, centres = a[added], Z[added]
        factor = panel.factor.T.astype(panel.phi.dtype)

        def block(rows: slice) -> np.ndarray:
            W = (panel.phi[rows] @ factor) * (R[rows] @ some.T)
            pull = W.T @ self.rows[rows]
            return np.asarray(pull) - W.sum(axis=0)[:, None] * centres

        data = self.fit.pool.sum(block, panel.blocks)
        M = (panel.factor @ panel.factor.T) * (some @ some.T)
        norm = M @ centres - M.sum(axis=1)[:, None] * centres
        gradient = np.zeros_like(Z)
        gradient[added] = 2.0 * gamma * (data + problem.alpha * norm)
        return gradient


def can_move(kernel: Any) -> bool:
    """Whether the gradient with respect to the centres is implemented for this kernel."""
    return isinstance(kernel, RBF)


def move_centers(fit: GreedyFit) -> bool:
    """Run some L-BFGS iterations on the centres; return whether more are worthwhile."""
    before = float(fit.fitted.primal.sum())
    points = fit.panel.points
    start = np.asarray(points.toarray() if is_sparse(points) else points, dtype=np.float64)
    moving = MovingCentres(fit)
    minimize(moving, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": LBFGS_ITERATIONS})
    if moving.panel is not fit.panel:
        fit.panel = moving.panel
        fit.state.centres = np.asarray(moving.panel.points)
    fit.take(moving.best)
    return not moves_are_over(before, float(moving.best.primal.sum()))

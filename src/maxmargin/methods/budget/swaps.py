"""Swaps: a full set of support vectors improves when its cheapest members make room for better ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from .ending import swaps_are_over
from .reduced_newton import ReducedProblem, Refit, refit, regularised_factor

if TYPE_CHECKING:
    from .greedy import GreedyFit

SWAP_TOL = 3e-3  # relative gap at which two sets are compared
MIN_DECREASE = 1e-4  # share of the objective that a swap must save
FIRST_SWAP_SHARE = 8  # the first swap exchanges the budget divided by this


class Removal:
    """The second-order model of the objective about an optimum, in the coefficients a of each column.

    With M_t the inverse of the Hessian of column t, removing support vectors J and refitting the others
    moves a by ``-M[:, J] M[J, J]^{-1} a_J`` and costs ``a_J' M[J, J]^{-1} a_J / 2``.
    """

    def __init__(self, problem: ReducedProblem, fitted: Refit) -> None:
        panel, b = problem.panel, len(fitted.V)
        self.a = panel.coef(fitted.V)
        D = problem.curvatures(problem.smooth(), fitted.F)
        inverse = solve_triangular(panel.factor[:b, :b], np.eye(b), lower=True, check_finite=False)

        def half(t: int) -> np.ndarray:
            which = np.flatnonzero(D[:, t])
            factor = regularised_factor(panel.gram(which, D[which, t], b, alone=False), problem.alpha)
            return np.asarray(solve_triangular(factor, inverse, lower=True, check_finite=False))

        work = float(b * b) * (np.count_nonzero(D) + 2 * b * D.shape[1])
        self.halves = panel.pool.map(half, range(D.shape[1]), work)  # M_t = half' half

    def costs(self) -> np.ndarray:
        """The cost of removing each support vector, summed over the columns."""
        diagonal = np.stack([np.square(half).sum(axis=0) for half in self.halves], axis=1)
        return np.asarray((np.square(self.a) / (2.0 * diagonal)).sum(axis=1))

    def without(self, leaving: np.ndarray) -> np.ndarray:
        """The coefficients after the removal, 0 for those removed."""
        a = self.a.copy()
        for t, half in enumerate(self.halves):
            some = half[:, leaving]
            a[:, t] -= half.T @ (some @ np.linalg.lstsq(some.T @ some, self.a[leaving, t], rcond=None)[0])
        a[leaving] = 0.0
        return a


def swap_round(fit: GreedyFit) -> bool:
    """Try to exchange the cheapest support vectors for the most promising candidates.

    Several at once, half as many after each failure. Returns whether to try again.
    """
    state = fit.state
    state.swap_size = state.swap_size or max(1, fit.options.budget // FIRST_SWAP_SHARE)
    better = swap(fit, state.swap_size)
    state.n_swaps += 1
    if not better:
        state.empty += 1
        if state.swap_size > 1:
            state.swap_size, state.empty = state.swap_size // 2, 0
    return not swaps_are_over(state.empty, state.n_swaps, fit.options.budget)


def swap(fit: GreedyFit, n_swaps: int) -> bool:
    """Exchange the cheapest ``n_swaps``; undo it and return False unless the objective falls."""
    state, before = fit.state, fit.fitted
    model = Removal(fit.reduced(), before)
    leaving = np.argsort(model.costs(), kind="stable")[:n_swaps]
    saved, support = fit.panel.snapshot(int(leaving.min())), state.support
    _remove(fit, leaving, model.without(leaving))
    picks, _ = fit.picks(len(leaving))
    fit.append(picks)
    fit.take(refit(fit.reduced(), fit.grown(), fit.fitted.F, SWAP_TOL))
    if fit.panel.size == saved.size and fit.fitted.primal.sum() < (1.0 - MIN_DECREASE) * before.primal.sum():
        return True
    fit.panel.restore(saved)
    state.support = support
    fit.take(before)
    return False


def _remove(fit: GreedyFit, leaving: np.ndarray, a: np.ndarray) -> None:
    """Remove support vectors from the panel; the others have the coefficients a."""
    panel, state = fit.panel, fit.state
    support = state.support
    kept = np.setdiff1d(np.arange(panel.size), leaving)
    first = panel.cut(int(leaving.min()))
    again = kept[kept >= first]
    state.support = support[:first]
    added = fit.append(support[again])
    V = panel.factor.T @ a[np.concatenate([kept[kept < first], again[added]])]
    fit.take(refit(fit.reduced(), V, panel.dot(V), np.inf))

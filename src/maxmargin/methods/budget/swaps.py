"""Swaps: a full set of support vectors improves when its cheapest members make room for better ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from ..._native import inverse_halves
from .ending import swap_has_failed, swaps_are_over
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
        self.a = problem.panel.coef(fitted.V)
        self.halves = half_inverses(problem, fitted.F, len(fitted.V))  # M_t = half' half

    def costs(self) -> np.ndarray:
        """The cost of removing each support vector, summed over the columns."""
        diagonal = np.einsum("tij,tij->jt", self.halves, self.halves)
        return np.asarray((np.square(self.a) / (2.0 * diagonal)).sum(axis=1))

    def without(self, leaving: np.ndarray) -> np.ndarray:
        """The coefficients after the removal, 0 for those removed."""
        a = self.a.copy()
        for t, half in enumerate(self.halves):
            some = half[:, leaving]
            a[:, t] -= half.T @ (some @ _solution(some.T @ some, self.a[leaving, t]))
        a[leaving] = 0.0
        return a


def half_inverses(problem: ReducedProblem, F: np.ndarray, b: int) -> np.ndarray:
    """``half_t`` with ``half_t' half_t`` the inverse Hessian of column t in the coefficients of b points."""
    panel, n_columns = problem.panel, F.shape[1]
    inverse = solve_triangular(panel.factor[:b, :b], np.eye(b), lower=True, check_finite=False)
    halves = np.empty((n_columns, b, b))
    if problem.is_compiled(b):
        inverse, outputs = np.ascontiguousarray(inverse), np.ascontiguousarray(F.T)
        end = (outputs, inverse, halves, panel.pool.n_threads, panel.pool.cancel)
        inverse_halves(*problem.by_column(), problem.loss.name, problem.alpha, *end)
        return halves
    D = problem.curvatures(problem.smooth(), F)

    def half(t: int) -> None:
        which = np.flatnonzero(D[:, t])
        factor = regularised_factor(panel.gram(which, D[which, t], b, alone=False), problem.alpha)
        halves[t] = solve_triangular(factor, inverse, lower=True, check_finite=False)

    panel.pool.map(half, range(n_columns), float(b * b) * (np.count_nonzero(D) + 2 * b * n_columns))
    return halves


def _solution(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``A^{-1} b``, or the shortest least-squares solution where A is singular."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0])


def swap_round(fit: GreedyFit) -> bool:
    """Try to exchange the cheapest support vectors for the most promising candidates.

    Several at once, half as many after each failure. Returns whether to try again.
    """
    state, budget = fit.state, fit.options.budget
    size = state.swap_size = state.swap_size or max(1, budget // FIRST_SWAP_SHARE)
    saved = swap(fit, size)
    state.n_swaps += 1
    state.empty = state.empty + 1 if swap_has_failed(saved, size, budget) else 0
    if swaps_are_over(state.empty, size, budget) or state.n_swaps >= fit.most_swaps():
        return False
    if state.empty and size > 1:
        state.swap_size, state.empty = size // 2, 0
    return True


def swap(fit: GreedyFit, n_swaps: int) -> float:
    """Exchange the cheapest ``n_swaps``, or undo it; return the share of the objective that it saves."""
    state, before = fit.state, fit.fitted
    model = Removal(fit.reduced(), before)
    leaving = np.argsort(model.costs(), kind="stable")[:n_swaps]
    saved, support = fit.panel.snapshot(int(leaving.min())), state.support
    _remove(fit, leaving, model.without(leaving))
    picks, _ = fit.picks(len(leaving))
    fit.append(picks)
    fit.take(refit(fit.reduced(), fit.grown(), fit.fitted.F, SWAP_TOL))
    decrease = 1.0 - float(fit.fitted.primal.sum() / before.primal.sum())
    if fit.panel.size == saved.size and decrease > MIN_DECREASE:
        return decrease
    fit.panel.restore(saved)
    state.support = support
    fit.take(before)
    return 0.0


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

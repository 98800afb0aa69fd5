"""Which candidates promise the largest decrease of the regularised objective."""

from __future__ import annotations

import numpy as np

from .reduced_newton import ReducedProblem


def pick_by_gain(
    problem: ReducedProblem, F: np.ndarray, sample: slice, candidates: np.ndarray, n_picks: int
) -> tuple[np.ndarray, float]:
    """Up to ``n_picks`` of the candidates, the most promising first, and the first one's promise.

    The promise of a point z is the decrease of the objective, averaged over the rows of ``sample``, when one
    Newton step is taken along the part of k(., z) that the present support vectors do not span. Those picked
    together should not repeat each other: after each pick the others' promises shrink to the share of their
    own part that the picks leave unexplained.
    """
    panel = problem.panel
    own = panel.phi[candidates].astype(np.float64)
    points = panel.kernel.points(candidates)
    diagonal = panel.kernel.diagonal(points)
    left = diagonal - np.square(own).sum(axis=1)
    promise = _promises(problem, F, sample, points, own, left)
    promise[left <= panel.least_pivot * diagonal] = 0.0
    if n_picks == 1:
        best = int(np.argmax(promise))
        return candidates[[best]][: int(promise[best] > 0.0)], float(promise[best])
    E = panel.kernel.between(candidates, candidates) - own @ own.T
    return _diverse(E, candidates, promise, n_picks)


def _promises(
    problem: ReducedProblem,
    F: np.ndarray,
    sample: slice,
    points: np.ndarray,
    own: np.ndarray,
    left: np.ndarray,
) -> np.ndarray:
    """``sum_t g_t^2 / (2 h_t)`` along each point's own direction."""
    panel, loss = problem.panel, problem.smooth()
    K = panel.kernel.block(sample, points)
    if own.shape[1]:
        K -= panel.phi[sample] @ own.T.astype(K.dtype)
    y, cost = problem.targets[sample], problem.cost[sample]
    total = cost.sum(axis=0)
    cost = cost / np.where(total > 0.0, total, 1.0)
    margins = y * F[sample]
    slopes = (cost * y * loss.slope(margins)).astype(K.dtype)
    curvatures = (cost * loss.curvature(margins)).astype(K.dtype)
    g = (K.T @ slopes).astype(np.float64)
    h = (np.square(K).T @ curvatures).astype(np.float64) + problem.alpha * np.maximum(left, 0.0)[:, None]
    if problem.loss.name == "hinge":  # the smoothed hinge is straight where it is steepest
        h += np.square(K).T @ np.abs(slopes)
    return np.where(h > 0.0, g * g / (2.0 * np.where(h > 0.0, h, 1.0)), 0.0).sum(axis=1)


def _diverse(
    E: np.ndarray, candidates: np.ndarray, promise: np.ndarray, n_picks: int
) -> tuple[np.ndarray, float]:
    """Greedy picks by a pivoted Cholesky factorisation of E, the Gram matrix of the candidates' own parts."""
    full = np.maximum(E.diagonal(), 1e-300)
    left = full.copy()
    best, picks = float(promise.max()), []
    factor = np.empty((min(n_picks, len(candidates)), len(candidates)))
    for k in range(len(factor)):
        chance = promise * np.where(left > 1e-3 * full, left / full, 0.0)
        i = int(np.argmax(chance))
        if not chance[i] > 0.0:
            break
        picks.append(i)
        factor[k] = (E[i] - factor[:k, i] @ factor[:k]) / np.sqrt(left[i])
        left -= np.square(factor[k])
        left[i] = 0.0
    return candidates[picks], best

"""Selection by gain: the candidates with the largest predicted decrease of the regularised objective."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...data import check_kernel_sums
from ...numerics import ROWS_PER_KERNEL_CALL
from ...residual_losses import MARGIN
from ...solving import row_blocks
from .reduced_newton import ReducedProblem

SHORTLISTED_PER_PICK = 3  # candidates that are compared on all rows, not on some
MIN_SHORTLIST = 8
ROWS_PER_TASK = 2048  # of a thread
MIN_OWN_PART = 1e-3  # share of a candidate's own part that earlier picks must leave unexplained


def pick_by_gain(
    problem: ReducedProblem, F: np.ndarray, n_rows: int, sample: slice, candidates: np.ndarray, n_picks: int
) -> tuple[np.ndarray, float]:
    """Up to ``n_picks`` of the candidates, the most promising first, and the first one's promise.

    The promise of a point z is the decrease of the objective, averaged over rows, when one Newton step is
    taken along the part of k(., z) that the present support vectors do not span. The rows of ``sample`` give
    a shortlist, which is compared on all the first ``n_rows``: with label noise, a small sample promises
    more than all rows keep. Candidates picked together should not repeat each other: after each pick the
    promises of the others shrink to the share of their own part that the picks leave unexplained.
    """
    panel = problem.panel
    promise = _promises(problem, F, sample, candidates)
    if sample != slice(0, n_rows):
        short = np.argsort(-promise, kind="stable")[: max(MIN_SHORTLIST, SHORTLISTED_PER_PICK * n_picks)]
        candidates = np.sort(candidates[short[promise[short] > 0.0]])
        promise = _promises(problem, F, slice(0, n_rows), candidates)
    if len(candidates) == 0:
        return candidates, 0.0
    if n_picks == 1:
        best = int(np.argmax(promise))
        return candidates[[best]][: int(promise[best] > 0.0)], float(promise[best])
    own = panel.phi[candidates].astype(np.float64)
    E = panel.kernel.between(candidates, candidates) - own @ own.T
    return _diverse(E, candidates, promise, n_picks)


@np.errstate(over="ignore", invalid="ignore")  # raised below, with a message
def _promises(problem: ReducedProblem, F: np.ndarray, rows: slice, candidates: np.ndarray) -> np.ndarray:
    """``sum_t g_t^2 / (2 h_t)`` along each candidate's own direction; 0 where it has none."""
    panel = problem.panel
    points, own = panel.kernel.points(candidates), panel.phi[candidates]
    diagonal = panel.kernel.diagonal(points)
    left = diagonal - np.square(own, dtype=np.float64).sum(axis=1)
    parts = [
        slice(i, min(i + ROWS_PER_KERNEL_CALL, rows.stop))
        for i in range(rows.start, rows.stop, ROWS_PER_KERNEL_CALL)
    ]
    total = problem.cost[rows].sum(axis=0)
    scale = 1.0 / np.where(total > 0.0, total, 1.0)
    g = h = np.zeros((len(candidates), len(total)))
    for part in parts:
        K = panel.kernel.block(part, points)
        work = partial(_sums, problem, F, part, K, own)
        for slopes, curvatures in panel.pool.map(work, row_blocks(len(K), ROWS_PER_TASK)):
            g, h = g + slopes * scale, h + curvatures * scale
    check_kernel_sums(panel.kernel.dtype, g, h, diagonal)
    h = h + problem.alpha * np.maximum(left, 0.0)[:, None]
    promise = np.where(h > 0.0, g * g / (2.0 * np.where(h > 0.0, h, 1.0)), 0.0).sum(axis=1)
    promise[left <= panel.least_pivot * diagonal] = 0.0
    return promise


@np.errstate(over="ignore", invalid="ignore")
def _sums(
    problem: ReducedProblem, F: np.ndarray, part: slice, K: np.ndarray, own: np.ndarray, some: slice
) -> tuple[np.ndarray, np.ndarray]:
    """A block's share of the first and second derivatives along the candidates' own directions."""
    here, loss = slice(part.start + some.start, part.start + some.stop), problem.smooth()
    block = K[some]
    if own.shape[1]:
        block -= problem.panel.phi[here] @ own.T
    y, cost, argument = problem.targets[here], problem.cost[here], problem.argument
    margins = argument.of(y, F[here])
    slopes = (argument.per_output(cost, y) * loss.slope(margins)).astype(K.dtype)
    if argument is MARGIN or not hasattr(loss, "secant"):
        curvatures = (cost * loss.curvature(margins)).astype(K.dtype)
    else:
        curvatures = loss.secant(margins, cost).astype(K.dtype)
    if problem.loss.name == "hinge":  # the smoothed hinge is straight where it is steepest
        curvatures += np.abs(slopes)
    first = (block.T @ slopes).astype(np.float64)
    np.square(block, out=block)
    return first, (block.T @ curvatures).astype(np.float64)


def _diverse(
    E: np.ndarray, candidates: np.ndarray, promise: np.ndarray, n_picks: int
) -> tuple[np.ndarray, float]:
    """Greedy picks by a pivoted Cholesky factorisation of E, the Gram matrix of the candidates' own parts."""
    full = np.maximum(E.diagonal(), 1e-300)
    left = full.copy()
    best, picks = float(promise.max()), []
    factor = np.empty((min(n_picks, len(candidates)), len(candidates)))
    for k in range(len(factor)):
        chance = promise * np.where(left > MIN_OWN_PART * full, left / full, 0.0)
        i = int(np.argmax(chance))
        if not chance[i] > 0.0:
            break
        picks.append(i)
        factor[k] = (E[i] - factor[:k, i] @ factor[:k]) / np.sqrt(left[i])
        left -= np.square(factor[k])
        left[i] = 0.0
    return candidates[picks], best

"""alpha by the loss on rows kept apart, along a grid of warm-started refits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .growth_sample import GrowthSample
from .problem import BudgetProblem
from .reduced_newton import ReducedProblem, Refit, refit

FACTOR = 10.0**0.5
WORTHWHILE = 2e-4  # share of the loss that a smaller alpha, which is harder to solve for, must save
MANY_JUDGES = 1000  # rows by which a difference in loss is taken as it is
LONGEST_WALK = 20  # steps of it: ten orders of magnitude


def kernel_scale(problem: BudgetProblem) -> float:
    """The mean of k(x, x) over some rows."""
    points = problem.kernel.points(np.arange(min(problem.n_samples, 256)))
    scale = float(np.mean(problem.kernel.diagonal(points)))
    return scale if np.isfinite(scale) and scale > 0.0 else 1.0


def first_alpha(problem: BudgetProblem) -> float:
    """Where the search begins, and what is taken when there are too few rows to judge by: C = 1."""
    return kernel_scale(problem) / np.count_nonzero(problem.weight)


def better_alpha(
    reduced: Callable[[float], ReducedProblem], fitted: Refit, alpha: float, sample: GrowthSample, tol: float
) -> tuple[float, Refit]:
    """Walk down the judged loss from the present alpha, by factors of the root of ten, while it falls.

    Where few rows judge, a smaller alpha has to save more than one standard error of what it saves: chance
    alone would lead to ever smaller ones.
    """
    loss = reduced(alpha).loss
    best = (sample.judged_losses(loss, fitted.F), alpha, fitted)
    for factor in (1.0 / FACTOR, FACTOR):
        before = best[1]
        for _ in range(LONGEST_WALK):
            trial_alpha = best[1] * factor
            trial = refit(reduced(trial_alpha), best[2].V, best[2].F, tol)
            judged = sample.judged_losses(loss, trial.F)
            if not best[0].sum() - judged.sum() > (_least_gain(best[0], judged) if factor < 1.0 else 0.0):
                break
            best = (judged, trial_alpha, trial)
        if best[1] != before:
            break
    return best[1], best[2]


def _least_gain(losses: np.ndarray, smaller: np.ndarray) -> float:
    """What a smaller alpha, which is harder to solve for, must save."""
    gain = WORTHWHILE * float(losses.sum())
    if len(losses) >= MANY_JUDGES:
        return gain
    return max(gain, float(np.sqrt(len(losses)) * np.std(losses - smaller)))

"""The rows that support vectors are grown on: a sample, with some rows kept apart to judge by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...losses import Loss
from .problem import BudgetProblem
from .reduced_newton import ReducedProblem, Refit, refit

ROWS_PER_SUPPORT_VECTOR = 16
ROWS_BY_COLUMNS = 65536  # rows times columns that are cheap enough for any budget
LEAST = 4096
FEWEST_TO_TUNE = 20  # rows to judge by; with fewer, alpha is not chosen but set


class GrowthSample:
    """The first rows of the problem, which are in random order, then those to judge by.

    ``rows`` are positions in the problem, at most ``limit`` of them; the first ``n_trained`` are trained on
    and the rest have cost 0. Support vectors to begin with, ``start``, are there in any case.
    """

    def __init__(
        self,
        problem: BudgetProblem,
        budget: int,
        n_held_out: int,
        tune: bool,
        limit: int,
        start: np.ndarray | None,
    ) -> None:
        n = problem.n_samples - n_held_out
        wanted = max(ROWS_PER_SUPPORT_VECTOR * budget, ROWS_BY_COLUMNS // problem.n_columns, LEAST)
        room = limit - (0 if start is None else len(start))
        n_judging = min(n_held_out, max(min(n, wanted) // 2, 4096), max(room // 4, 0))
        n_grown = min(n, wanted, room - n_judging if n_held_out or n <= room else room - room // 5)
        if n_grown < min(n, budget):
            raise ValueError(
                f"cache_mb is too small: it holds the features of {max(limit, 0)} rows, and {budget} support "
                "vectors are chosen among at least as many rows, with some more to judge by. Raise cache_mb, "
                "or lower the budget."
            )
        held_out = np.arange(n, n + n_judging)
        apart = np.zeros(0, dtype=np.int64)
        if not n_held_out:
            if n > n_grown:
                apart = np.arange(n_grown, min(n, n_grown + min(n_grown // 4, room - n_grown)))
            elif tune and n_grown // 10 >= FEWEST_TO_TUNE:
                apart, n_grown = np.arange(n_grown - n_grown // 10, n_grown), n_grown - n_grown // 10
        self.n_trained = n_grown
        start = np.zeros(0, dtype=np.int64) if start is None else start
        self.held_out = slice(n_grown + len(apart), n_grown + len(apart) + len(held_out))
        self.judge = slice(n_grown, self.held_out.stop)
        rows = np.concatenate([np.arange(n_grown), apart, held_out])
        self.rows = np.concatenate([rows, np.setdiff1d(start, rows)])
        order = np.argsort(self.rows, kind="stable")
        self.start = order[np.searchsorted(self.rows, start, sorter=order)]  # where they are in the sample
        self.targets = problem.targets[self.rows].astype(np.float64)
        self.weight = problem.weight[self.rows]
        self.cost = column_costs(self.targets, self.weight, n_grown)

    def covers(self, n_trained: int) -> bool:
        """Whether the sample and the rows kept apart from it are all the rows there are to train on."""
        return bool(self.held_out.start >= n_trained)

    def without(self, rows: np.ndarray) -> np.ndarray:
        """The costs when these rows take no part."""
        weight = self.weight.copy()
        weight[rows] = 0.0
        return column_costs(self.targets, weight, self.n_trained)

    def train_on(self, n_trained: int) -> None:
        """Let rows that were kept apart take part."""
        self.cost = column_costs(self.targets, self.weight, n_trained)

    @property
    def can_tune(self) -> bool:
        """Whether there are rows enough to judge by."""
        return self.judge.stop - self.judge.start >= FEWEST_TO_TUNE

    def draw(self, n_draws: int, support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Candidates, drawn without replacement and by weight from the rows that are no support vectors."""
        free = self.weight > 0.0
        free[self.n_trained :] = False
        free[support] = False
        which = np.flatnonzero(free)
        if len(which) <= n_draws:
            return which
        weight = self.weight[which]
        if (weight == weight[0]).all():
            return np.sort(rng.choice(which, n_draws, replace=False))
        keys = np.log(rng.standard_exponential(len(which))) - np.log(weight)  # the smallest is drawn first
        return np.sort(which[np.argpartition(keys, n_draws - 1)[:n_draws]])

    def judged_losses(self, loss: Loss, F: np.ndarray) -> np.ndarray:
        """What each row kept apart adds to the loss: an average in each column, summed over them."""
        y, f = self.targets[self.judge], F[self.judge]
        c = column_costs(y, self.weight[self.judge], len(y))
        return np.asarray((c * loss.value(y * f)).sum(axis=1))

    def judged_loss(self, loss: Loss, F: np.ndarray) -> float:
        """The loss on the rows kept apart."""
        losses = self.judged_losses(loss, F)
        return float(losses.sum()) if len(losses) else np.nan


def column_costs(targets: np.ndarray, weight: np.ndarray, n_trained: int) -> np.ndarray:
    """``c_it = w_i / n_t`` for the first rows that take part in column t, 0 elsewhere."""
    cost = np.where(targets != 0.0, weight[:, None], 0.0)
    cost[n_trained:] = 0.0
    total = cost.sum(axis=0)
    return np.asarray(cost / np.where(total > 0.0, total, 1.0))


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

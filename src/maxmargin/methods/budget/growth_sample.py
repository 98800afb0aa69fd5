"""The rows that support vectors are chosen on: a sample, with some rows kept apart for validation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...losses import Loss
from .problem import BudgetProblem
from .reduced_newton import ReducedProblem, Refit, refit

ROWS_PER_SUPPORT_VECTOR = 16
CHEAP_ROWS_TIMES_COLUMNS = 65536  # for any budget
MIN_SAMPLE_ROWS = 4096
MIN_VALIDATION_ROWS = 4096  # of those held out, where there are as many
VALIDATION_SHARE = 10  # one row in so many is kept apart where the sample is all rows
MIN_ROWS_TO_TUNE = 20  # kept apart; with fewer, alpha is not chosen but set


class GrowthSample:
    """The first rows of the problem, which are in random order, then those for validation.

    ``rows`` are positions in the problem, at most ``limit`` of them; the first ``n_trained`` are trained on
    and the rest have cost 0. Support vectors to start from, ``start``, are always among them.
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
        wanted = max(
            ROWS_PER_SUPPORT_VECTOR * budget, CHEAP_ROWS_TIMES_COLUMNS // problem.n_columns, MIN_SAMPLE_ROWS
        )
        room = limit - (0 if start is None else len(start))
        n_validation = min(n_held_out, max(min(n, wanted) // 2, MIN_VALIDATION_ROWS), max(room // 4, 0))
        n_grown = min(n, wanted, room - n_validation if n_held_out or n <= room else room - room // 5)
        if n_grown < min(n, budget):
            raise ValueError(
                f"cache_mb is too small: it holds the features of {max(limit, 0)} rows, but {budget} support "
                "vectors need at least as many rows to choose from, and some more for validation. Raise "
                "cache_mb, or lower the budget."
            )
        held_out = np.arange(n, n + n_validation)
        apart = np.zeros(0, dtype=np.int64)
        if not n_held_out:
            if n > n_grown:
                apart = np.arange(n_grown, min(n, n_grown + min(n_grown // 4, room - n_grown)))
            elif tune and (n_apart := n_grown // VALIDATION_SHARE) >= MIN_ROWS_TO_TUNE:
                apart, n_grown = np.arange(n_grown - n_apart, n_grown), n_grown - n_apart
        self.n_trained = n_grown
        start = np.zeros(0, dtype=np.int64) if start is None else start
        self.held_out = slice(n_grown + len(apart), n_grown + len(apart) + len(held_out))
        self.validation = slice(n_grown, self.held_out.stop)
        rows = np.concatenate([np.arange(n_grown), apart, held_out])
        self.rows = np.concatenate([rows, np.setdiff1d(start, rows)])
        order = np.argsort(self.rows, kind="stable")
        self.start = order[np.searchsorted(self.rows, start, sorter=order)]  # where they are in the sample
        self.targets = problem.targets[self.rows].astype(np.float64)
        self.weight = problem.weight[self.rows]
        self.cost = column_costs(self.targets, self.weight, n_grown)

    def covers(self, n_trained: int) -> bool:
        """Whether the sample and the rows kept apart from it are all the rows to train on."""
        return bool(self.held_out.start >= n_trained)

    def without(self, rows: np.ndarray) -> np.ndarray:
        """The costs without these rows."""
        weight = self.weight.copy()
        weight[rows] = 0.0
        return column_costs(self.targets, weight, self.n_trained)

    def train_on(self, n_trained: int) -> None:
        """Include the validation rows in the training rows."""
        self.cost = column_costs(self.targets, self.weight, n_trained)

    @property
    def can_tune(self) -> bool:
        """Whether enough rows are kept apart to choose alpha."""
        return self.validation.stop - self.validation.start >= MIN_ROWS_TO_TUNE

    def draw(self, n_draws: int, support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Candidates, drawn by weight, without replacement, from the rows that are not support vectors."""
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

    def validation_losses(self, loss: Loss, F: np.ndarray) -> np.ndarray:
        """What each validation row adds to the loss: an average in each column, summed over the columns."""
        y, f = self.targets[self.validation], F[self.validation]
        c = column_costs(y, self.weight[self.validation], len(y))
        return np.asarray((c * loss.value(y * f)).sum(axis=1))

    def validation_loss(self, loss: Loss, F: np.ndarray) -> float:
        """The loss on the validation rows; NaN if there are none."""
        losses = self.validation_losses(loss, F)
        return float(losses.sum()) if len(losses) else np.nan


def column_costs(targets: np.ndarray, weight: np.ndarray, n_trained: int) -> np.ndarray:
    """``c_it = w_i / n_t`` for the first rows that take part in column t, 0 elsewhere."""
    cost = np.where(targets != 0.0, weight[:, None], 0.0)
    cost[n_trained:] = 0.0
    total = cost.sum(axis=0)
    return np.asarray(cost / np.where(total > 0.0, total, 1.0))


ALPHA_FACTOR = 10.0**0.5  # between two values of alpha that are compared
MIN_SAVING = 2e-4  # share of the loss that a smaller alpha, which is harder to solve for, must save
ROWS_WITHOUT_NOISE = 1000  # validation rows from which on the standard error is ignored
MAX_ALPHA_STEPS = 20  # of the search: ten orders of magnitude
ROWS_FOR_KERNEL_SCALE = 256


def kernel_scale(problem: BudgetProblem) -> float:
    """The mean of k(x, x) over some rows."""
    points = problem.kernel.points(np.arange(min(problem.n_samples, ROWS_FOR_KERNEL_SCALE)))
    scale = float(np.mean(problem.kernel.diagonal(points)))
    return scale if np.isfinite(scale) and scale > 0.0 else 1.0


def first_alpha(problem: BudgetProblem) -> float:
    """Where the search starts, and the alpha used when too few rows are kept apart: C = 1."""
    return kernel_scale(problem) / np.count_nonzero(problem.weight)


def better_alpha(
    reduced: Callable[[float], ReducedProblem], fitted: Refit, alpha: float, sample: GrowthSample, tol: float
) -> tuple[float, Refit]:
    """Follow the validation loss from the present alpha, by factors of the root of ten, while it falls.

    With few validation rows, a smaller alpha must save more than one standard error of the difference: chance
    alone would lead to ever smaller ones.
    """
    loss = reduced(alpha).loss
    best = (sample.validation_losses(loss, fitted.F), alpha, fitted)
    for factor in (1.0 / ALPHA_FACTOR, ALPHA_FACTOR):
        before = best[1]
        for _ in range(MAX_ALPHA_STEPS):
            trial_alpha = best[1] * factor
            trial = refit(reduced(trial_alpha), best[2].V, best[2].F, tol)
            losses = sample.validation_losses(loss, trial.F)
            if not best[0].sum() - losses.sum() > (_min_saving(best[0], losses) if factor < 1.0 else 0.0):
                break
            best = (losses, trial_alpha, trial)
        if best[1] != before:
            break
    return best[1], best[2]


def _min_saving(losses: np.ndarray, smaller: np.ndarray) -> float:
    """The decrease of the validation loss that a smaller alpha must reach."""
    gain = MIN_SAVING * float(losses.sum())
    if len(losses) >= ROWS_WITHOUT_NOISE:
        return gain
    return max(gain, float(np.sqrt(len(losses)) * np.std(losses - smaller)))

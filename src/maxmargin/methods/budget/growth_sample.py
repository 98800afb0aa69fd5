"""The rows that support vectors are chosen on, a sample; others, kept apart for validation, choose alpha."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...losses import Loss
from ...solving import FLOAT_EPS
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
        self.targets = np.asfortranarray(problem.targets[self.rows], dtype=np.float64)
        self.weight = problem.weight[self.rows]
        self.argument = problem.argument
        self.cost = self._costs(self.weight, n_grown)

    def covers(self, n_trained: int) -> bool:
        """Whether the sample and the rows kept apart from it are all the rows to train on."""
        return bool(self.held_out.start >= n_trained)

    def without(self, rows: np.ndarray) -> np.ndarray:
        """The costs without these rows."""
        weight = self.weight.copy()
        weight[rows] = 0.0
        return self._costs(weight, self.n_trained)

    def train_on(self, n_trained: int) -> None:
        """Include the validation rows in the training rows."""
        self.cost = self._costs(self.weight, n_trained)

    def _costs(self, weight: np.ndarray, n_trained: int) -> np.ndarray:
        return column_costs(self.argument.taking_part(self.targets), weight, n_trained)

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
        c = column_costs(self.argument.taking_part(y), self.weight[self.validation], len(y))
        return np.asarray((c * loss.value(self.argument.of(y, f))).sum(axis=1))

    def validation_loss(self, loss: Loss, F: np.ndarray) -> float:
        """The loss on the validation rows; NaN if there are none."""
        losses = self.validation_losses(loss, F)
        return float(losses.sum()) if len(losses) else np.nan


def column_costs(targets: np.ndarray, weight: np.ndarray, n_trained: int) -> np.ndarray:
    """``c_it = w_i / n_t`` for the first rows that take part in column t (not 0), 0 elsewhere."""
    cost = np.where(targets.T != 0.0, weight, 0.0)
    cost[:, n_trained:] = 0.0
    total = cost.sum(axis=1)
    return np.asarray(cost / np.where(total > 0.0, total, 1.0)[:, None]).T


ALPHA_FACTOR = 10.0**0.5  # between two values of alpha that are compared
MIN_SAVING = 5e-3  # share of the loss that a smaller alpha, which is harder to solve for, must save
MAX_ALPHA_STEPS = 20  # of the search, each way: ten orders of magnitude
ERRORS_TO_CHANGE = 2.0  # standard errors by which another alpha must be better than one chosen before
MAX_CONDITION = 1e-4 / FLOAT_EPS  # of a Hessian, for a gap that rounding does not spoil
ROWS_FOR_KERNEL_SCALE = 256


def kernel_scale(problem: BudgetProblem) -> float:
    """The mean of k(x, x) over some rows."""
    points = problem.kernel.points(np.arange(min(problem.n_samples, ROWS_FOR_KERNEL_SCALE)))
    scale = float(np.mean(problem.kernel.diagonal(points)))
    return scale if np.isfinite(scale) and scale > 0.0 else 1.0


def first_alpha(problem: BudgetProblem) -> float:
    """Where the search starts, and the alpha used when too few rows are kept apart: C = 1."""
    return kernel_scale(problem) / np.count_nonzero(problem.weight)


@dataclass(frozen=True)
class AlphaTrial:
    """A fit for one alpha, and what each validation row adds to its loss."""

    alpha: float
    fitted: Refit
    losses: np.ndarray
    usable: bool  # whether the precision can certify it

    @property
    def loss(self) -> float:
        """The loss on the validation rows."""
        return float(self.losses.sum())

    def standard_error(self, best: AlphaTrial) -> float:
        """Of the difference between the two losses, row by row."""
        return float(np.sqrt(len(self.losses)) * np.std(self.losses - best.losses))

    def is_as_good_as(self, best: AlphaTrial, n_errors: float = 1.0) -> bool:
        """Whether its loss exceeds the best one's by at most one standard error, or some."""
        return self.loss - best.loss <= n_errors * self.standard_error(best)


class AlphaSearch:
    """The one-standard-error rule: of all alphas as good as the best, by the validation loss, the largest.

    Small gains that chance explains would lead to ever smaller values, which are hard to solve for and rough
    on rows unlike those seen. From the present alpha the search goes down, by factors of the root of ten,
    while the loss falls, and up as long as the loss is as good as the best. Beyond ``default``, the alpha of
    fits without validation rows, it must fall: a few rows cannot tell any model from zero coefficients.

    An alpha is usable if its fit reaches ``tol`` and ``share * alpha``, which the last refit uses, is not
    below what double precision can certify: the largest eigenvalue of a Hessian, bounded by its trace, is at
    most ``MAX_CONDITION`` of it.
    """

    def __init__(
        self,
        reduced: Callable[[float], ReducedProblem],
        sample: GrowthSample,
        tol: float,
        *,
        share: float,
        default: float,
    ) -> None:
        self.reduced, self.sample, self.tol = reduced, sample, tol
        self.share, self.default = share, default
        self.trials: list[AlphaTrial] = []

    def choose(self, alpha: float, fitted: Refit, *, keep: bool = False) -> AlphaTrial:
        """The trial chosen, given the present alpha and its fit; ``keep`` prefers the present to a tie."""
        if fitted.relative_gap > self.tol:  # coefficients of an earlier fit
            fitted = refit(self.reduced(alpha), fitted.V, fitted.F, self.tol)
        best = self._try(alpha, fitted)
        for _ in range(MAX_ALPHA_STEPS):
            trial = self._next(best, 1.0 / ALPHA_FACTOR)
            if not (trial.usable and trial.loss < (1.0 - MIN_SAVING) * best.loss):
                break
            best = trial
        last = self.trials[0]
        for _ in range(MAX_ALPHA_STEPS):
            trial = self._next(last, ALPHA_FACTOR)
            if trial.usable and (not best.usable or trial.loss < best.loss):
                best = trial
            elif best.usable and not self._is_good(trial, best):
                break
            last = trial
        if keep and self.trials[0].usable and self.trials[0].is_as_good_as(best, ERRORS_TO_CHANGE):
            return self.trials[0]
        good = [trial for trial in self.trials if self._is_good(trial, best)]
        return max(good or self.trials, key=lambda trial: trial.alpha)

    def _is_good(self, trial: AlphaTrial, best: AlphaTrial) -> bool:
        """Whether the rule may choose the trial."""
        tie = trial.alpha <= self.default and trial.is_as_good_as(best)
        return trial.usable and (trial is best or tie)

    def table(self) -> np.ndarray:
        """A row for each trial, in descending order: alpha for all rows, loss, standard error, gap."""
        best = min(self.trials, key=lambda trial: (not trial.usable, trial.loss))
        trials = sorted(self.trials, key=lambda trial: -trial.alpha)
        return np.array(
            [(t.alpha * self.share, t.loss, t.standard_error(best), t.fitted.relative_gap) for t in trials]
        )

    def _next(self, start: AlphaTrial, factor: float) -> AlphaTrial:
        alpha = start.alpha * factor
        return self._try(alpha, refit(self.reduced(alpha), start.fitted.V, start.fitted.F, self.tol))

    def _try(self, alpha: float, fitted: Refit) -> AlphaTrial:
        problem = self.reduced(alpha)
        losses = self.sample.validation_losses(problem.loss, fitted.F)
        condition = _hessian_trace(problem, fitted) / (self.share * alpha)
        usable = bool(fitted.relative_gap <= self.tol and condition <= MAX_CONDITION)
        trial = AlphaTrial(alpha, fitted, losses, usable)
        self.trials.append(trial)
        return trial


def _hessian_trace(problem: ReducedProblem, fitted: Refit) -> float:
    """The largest trace of ``Phi' D Phi`` over the columns, which bounds the largest eigenvalue."""
    D = problem.curvatures(problem.smooth(fitted.width), fitted.F)
    return float((D * problem.panel.sqnorms()[:, None]).sum(axis=0).max())

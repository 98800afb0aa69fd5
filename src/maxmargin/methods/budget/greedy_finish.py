"""The end of a greedy fit: outputs for calibration, and coefficients refitted on all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...solving import Status
from .all_rows import refit_on_all_rows
from .greedy_path import PATH_TOL, record_last
from .reduced_newton import Refit, refit

if TYPE_CHECKING:
    from .greedy import GreedyFit

ENOUGH_TO_CALIBRATE = 1000  # held-out rows; with fewer, all rows are used, out of fold
FOLDS = 5  # where no rows are held out, outputs for calibration come from so many refits


def finish(fit: GreedyFit) -> Status:
    """Refit on all rows; the rows held out for choosing alpha take part again."""
    state, judge = fit.state, fit.sample.judge
    fit.fitted = fit.present()
    if judge.stop - judge.start >= ENOUGH_TO_CALIBRATE:
        state.judged, state.judged_outputs = fit.sample.rows[judge], fit.fitted.F[judge]
    elif fit.problem.n_samples >= FOLDS:
        state.judged = fit.sample.rows[: fit.sample.n_trained]
        state.judged_outputs = _out_of_fold(fit)
    full = _on_all_rows(fit)
    fit.fitted = full
    state.final_coef = fit.panel.coef(full.V)
    state.final_bounds = np.stack([full.primal, full.gap])
    record_last(fit, full)
    if full.relative_gap > fit.tol:
        return Status.STALLED
    return Status.BUDGET_FULL if fit.panel.size >= fit.how.budget else Status.NO_LOSS_LEFT


def _out_of_fold(fit: GreedyFit) -> np.ndarray:
    """Outputs on each fold of the rows, of coefficients refitted without it."""
    n, out = fit.sample.n_trained, np.zeros_like(fit.fitted.F[: fit.sample.n_trained])
    for fold in range(FOLDS):
        problem = fit.reduced()
        problem.cost = fit.sample.without(np.arange(fold, n, FOLDS))
        there = refit(problem, fit.state.V, fit.fitted.F, PATH_TOL)
        out[fold::FOLDS] = there.F[fold:n:FOLDS]
    return out


def _on_all_rows(fit: GreedyFit) -> Refit:
    state, sample, problem = fit.state, fit.sample, fit.problem
    n_trained = problem.n_samples - fit.how.n_held_out
    if sample.covers(n_trained):
        sample.train_on(n_trained)
        return refit(fit.reduced(), state.V, fit.panel.dot(state.V), fit.tol, exact=True)
    if fit.how.choose_alpha:
        state.alpha *= fit.share_of_weight()
    limits = (fit.how.cache_bytes, fit.tol)
    rows = (sample.n_trained, n_trained)
    return refit_on_all_rows(problem, fit.panel, *rows, (state.V, state.alpha), limits)

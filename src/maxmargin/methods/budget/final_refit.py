"""The last refit, on all rows: their features are stored if memory allows, else computed in every pass.

If the features are in float32, its gap includes what rounding can do. Rounding changes the features of row i
by d_i, and the outputs by e_i = d_i'v. The loss then moves by about u'e, with u its slopes, and the gradient,
whose squared norm over 2 alpha is the gap, by sum_i u_i d_i and by the change of the slopes. A sample of rows
in double measures d and e. Where they would decide the end of the refit, it continues in double.

With the ramp loss the refit is a sequence of convex ones. Each sets rows with a margin below -1 aside, column
by column, and refits the others with the hinge. The constant 2 majorises the loss of the rows set aside and
touches it, so the ramp objective does not rise, and a row set aside can return. The steps end where the set
no longer changes: the point is stationary, and the bounds are those of the last convex step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels import KernelData
from ...losses import Ramp
from ...numerics import ROWS_PER_KERNEL_CALL, FeaturePanel
from ...solving import (
    ERRORS_PER_BOUND,
    SampledErrors,
    Status,
    counted_rounding,
    kernel_errors,
    row_blocks,
)
from .ending import greedy_status
from .growth_sample import ALPHA_FACTOR, MAX_ALPHA_STEPS, column_costs
from .path import PATH_TOL, replace_last
from .problem import BudgetProblem, BudgetResult
from .reduced_newton import ReducedProblem, Refit, refit

if TYPE_CHECKING:
    from .greedy import GreedyFit

MIN_ROWS_PER_BLOCK = 256  # rows per kernel call, however small the cache
MIN_ROWS_TO_CALIBRATE = 1000  # kept apart; with fewer, the rows trained on are used, out of fold
N_SAMPLED_ROWS = 64  # evaluated in double, to measure rounding
MAX_ROUNDING_PER_TOL = 0.1  # of a relative gap, before it is computed in double
MAX_CONVEX_STEPS = 30  # of the ramp loss
CALIBRATION_FOLDS = 5  # refits without a fold, where too few rows are kept apart


def finish(fit: GreedyFit) -> Status:
    """Refit on all rows, including those held out for choosing alpha, and return the status of the fit."""
    state, validation = fit.state, fit.sample.validation
    fit.fitted = fit.present()
    if validation.stop - validation.start >= MIN_ROWS_TO_CALIBRATE:
        state.untrained_rows, state.untrained_outputs = fit.sample.rows[validation], fit.fitted.F[validation]
    elif fit.problem.n_samples >= CALIBRATION_FOLDS and fit.options.calibrate:
        state.untrained_rows = fit.sample.rows[: fit.sample.n_trained]
        state.untrained_outputs = _out_of_fold(fit)
    full = _on_all_rows(fit)
    fit.fitted = full
    state.final_coef = fit.panel.coef(full.V)
    state.final_bounds = np.stack([full.primal, full.gap])
    replace_last(fit, full)
    return greedy_status(fit.panel.size, fit.options.budget, full.relative_gap, fit.tol)


def _out_of_fold(fit: GreedyFit) -> np.ndarray:
    """Outputs on each fold of the rows, of coefficients refitted without it."""
    n, out = fit.sample.n_trained, np.zeros_like(fit.fitted.F[: fit.sample.n_trained])
    for fold in range(CALIBRATION_FOLDS):
        problem = fit.reduced()
        problem.cost = fit.sample.without(np.arange(fold, n, CALIBRATION_FOLDS))
        there = refit(problem, fit.state.V, fit.fitted.F, PATH_TOL)
        out[fold::CALIBRATION_FOLDS] = there.F[fold:n:CALIBRATION_FOLDS]
    return out


def _on_all_rows(fit: GreedyFit) -> Refit:
    state, sample, problem = fit.state, fit.sample, fit.problem
    n_trained = problem.n_samples - fit.options.n_held_out
    if sample.covers(n_trained):
        sample.train_on(n_trained)
        return _certified(fit)
    if fit.options.choose_alpha:
        state.V = _certified(fit).V
        state.alpha *= fit.share_of_weight()
    start = FinalStart(state.V, state.alpha, sample.n_trained)
    return refit_on_all_rows(problem, fit.panel, start, n_trained, fit.options.cache_bytes, fit.tol)


def _certified(fit: GreedyFit) -> Refit:
    """The refit on the sample; an alpha that is not given is raised until its gap is at most ``tol``."""
    state = fit.state
    ramp = fit.problem.ramp
    found = _last_refit(fit.reduced(), state.V, fit.tol, fit.options.cache_bytes, ramp=ramp)
    for _ in range(MAX_ALPHA_STEPS if fit.options.choose_alpha else 0):
        if found.relative_gap <= fit.tol:
            break
        state.alpha *= ALPHA_FACTOR
        found = _last_refit(fit.reduced(), found.V, fit.tol, fit.options.cache_bytes, ramp=ramp)
    return found


class StreamedPanel(FeaturePanel):
    """A panel that stores the features of its first rows only: the others' are computed for each product.

    ``kept`` holds the features of the first ``n_kept`` rows, and possibly of further rows that are not used.
    Gram matrices are computed from the stored rows and scaled to all rows: a Newton step with them is still a
    descent step, and the gradient and the gap are exact.
    """

    exact_gram = False

    def __init__(self, kernel: KernelData, kept: FeaturePanel, n_kept: int, at_once: int) -> None:
        super().__init__(kernel, 0, kept.pool)
        self.kept, self.n_kept, self.at_once = kept, n_kept, at_once
        self.points, self.size, self._factor = kept.points, kept.size, kept.factor

    def _streamed(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of the rows that are not stored, with their kernel values."""
        for some in row_blocks(len(self.kernel) - self.n_kept, self.at_once):
            rows = slice(some.start + self.n_kept, some.stop + self.n_kept)
            yield rows, self.kernel.block(rows, self.points)

    def dot(self, V: np.ndarray) -> np.ndarray:
        """``K(rows, Z) L^{-T} V``."""
        out = np.empty((len(self.kernel), V.shape[1]))
        if self.n_kept:
            out[: self.n_kept] = self.kept.dot(V)[: self.n_kept]
        a = self.coef(V).astype(self.kernel.dtype)
        for rows, K in self._streamed():
            parts = self.pool.map(_product(K, a), row_blocks(len(K), ROWS_PER_KERNEL_CALL // 8))
            out[rows] = np.concatenate(parts)
        return out

    def tdot(self, R: np.ndarray, b: int) -> np.ndarray:
        """``L^{-1} K(Z, rows) R``."""
        total = np.zeros((b, R.shape[1]))
        for rows, K in self._streamed():
            r = R[rows].astype(K.dtype)
            total += self.pool.sum(_transposed_product(K, r), row_blocks(len(K), ROWS_PER_KERNEL_CALL // 8))
        if not self.n_kept:
            return self.solve_factor(total)
        here = np.zeros((len(self.kept.kernel), R.shape[1]))
        here[: self.n_kept] = R[: self.n_kept]
        return self.solve_factor(total) + self.kept.tdot(here, b)

    def gram(self, which: np.ndarray, weight: np.ndarray, b: int, *, alone: bool = True) -> np.ndarray:
        """The Gram matrix of the stored rows among ``rows``, scaled to the weight of all of them.

        If no more rows are given than are stored, it is exact.
        """
        if len(which) <= self.n_kept:
            return self._gram_of_few(which, weight, b)
        known = which < self.n_kept
        total = float(weight[known].sum())
        scale = float(weight.sum()) / total if total > 0.0 else 0.0
        return self.kept.gram(which[known], scale * weight[known], b, alone=alone)

    def _gram_of_few(self, which: np.ndarray, weight: np.ndarray, b: int) -> np.ndarray:
        known = which < self.n_kept
        result = self.kept.gram(which[known], weight[known], b, alone=False)
        which, weight, total = which[~known], weight[~known], np.zeros((b, b))
        for some in row_blocks(len(which), self.at_once):
            K = self.kernel.block(which[some], self.points).astype(np.float64)
            K *= np.sqrt(weight[some])[:, None]
            total += K.T @ K
        return result + self.solve_factor(self.solve_factor(total).T)


def _product(K: np.ndarray, a: np.ndarray) -> Callable[[slice], np.ndarray]:
    return lambda some: K[some] @ a


def _transposed_product(K: np.ndarray, r: np.ndarray) -> Callable[[slice], np.ndarray]:
    return lambda some: (K[some].T @ r[some]).astype(np.float64)


@dataclass(frozen=True)
class FinalStart:
    """What the sample's fit leaves to the last refit: its coefficients, its alpha and its number of rows."""

    V: np.ndarray
    alpha: float
    n_sampled: int


def refit_on_all_rows(
    problem: BudgetProblem,
    sample: FeaturePanel,
    start: FinalStart,
    n_trained: int,
    cache_bytes: int,
    tol: float,
) -> Refit:
    """Coefficients of the sample's support vectors on the first ``n_trained`` rows of the problem."""
    kernel = problem.kernel.take(slice(0, n_trained))
    room = (cache_bytes - sample.n_bytes) // max(1, sample.size * kernel.dtype.itemsize)  # in rows
    panel: FeaturePanel
    if n_trained <= room:
        panel = sample.on(kernel)
    else:
        at_once = int(np.clip(room, MIN_ROWS_PER_BLOCK, ROWS_PER_KERNEL_CALL))
        kept, n_kept = sample, start.n_sampled
        if room - at_once > 2 * start.n_sampled:
            n_kept = room - at_once
            kept = sample.on(kernel.take(slice(0, n_kept)))
        panel = StreamedPanel(kernel, kept, n_kept, at_once)
    targets = problem.targets[:n_trained].astype(np.float64)
    taking_part = problem.argument.taking_part(targets)
    cost = column_costs(taking_part, problem.weight[:n_trained], n_trained)
    reduced = ReducedProblem(panel, targets, cost, problem.loss, start.alpha, problem.argument)
    result = _last_refit(reduced, start.V, tol, cache_bytes, ramp=problem.ramp)
    problem.kernel.n_values += kernel.n_values
    return result


def _last_refit(
    problem: ReducedProblem, V: np.ndarray, tol: float, cache_bytes: int, *, ramp: bool = False
) -> Refit:
    """The exact refit from V, in the precision of the panel, then in double if rounding would decide its end.

    Its gap includes what rounding can do. If the features in double do not fit in memory, there are only
    bounds in double, and no further steps.
    """
    if ramp:
        return by_convex_steps(lambda step, V: _last_refit(step, V, tol, cache_bytes), problem, V)
    panel = problem.panel
    found = _no_worse_than_zeros(problem, refit(problem, V, panel.dot(V), tol, exact=True))
    fitted, decides = rounding_decides(problem, found, tol)
    if not decides:
        return _in_double(problem, fitted)
    kernel: Any = DoubleBlocks(panel.kernel)
    if 8 * len(kernel) * panel.size <= cache_bytes:
        wide = FeaturePanel(kernel, panel.size, panel.pool).fill(panel.points, panel.factor, [panel.size])
    else:
        wide, tol = StreamedPanel(kernel, panel, 0, ROWS_PER_KERNEL_CALL), np.inf
    there = replace(problem, panel=wide)
    last = refit(there, fitted.V, wide.dot(fitted.V), tol, width=fitted.width, exact=True)
    return _in_double(problem, _no_worse_than_zeros(problem, last))


def _no_worse_than_zeros(problem: ReducedProblem, fitted: Refit) -> Refit:
    """Zero coefficients in columns where they are better, which lie within the gap of a smoothed loss."""
    zeros = problem.losses(problem.loss, np.zeros_like(fitted.F))
    better = zeros < fitted.primal
    if not (problem.kinked and better.any()):
        return fitted
    return replace(
        fitted,
        V=np.where(better, 0.0, fitted.V),
        F=np.where(better, 0.0, fitted.F),
        primal=np.where(better, zeros, fitted.primal),
        gap=np.where(better, np.maximum(fitted.gap - (fitted.primal - zeros), 0.0), fitted.gap),
    )


def _in_double(problem: ReducedProblem, fitted: Refit) -> Refit:
    """The refit with what rounding in double can do included in its gap, where that is not negligible."""
    if problem.panel.size == 0:
        return fitted
    rounding = double_rounding(problem, fitted)
    counted = counted_rounding(float(rounding.sum()), float(fitted.primal.sum())) > 0.0
    return replace(fitted, gap=fitted.gap + rounding) if counted else fitted


def double_rounding(problem: ReducedProblem, fitted: Refit) -> np.ndarray:
    """What kernel values that are rounded in double can add to primal minus dual, in each column.

    It matters where they are large and nearly equal, as for a linear kernel of rows far from 0.
    """
    panel, F = problem.panel, fitted.F
    lengths = panel.kernel.lengths(np.arange(len(F)))
    own = np.sqrt(np.square(panel.factor).sum(axis=1))
    u = problem.residuals(problem.smooth(fitted.width), F)
    columns = panel.coef(fitted.V).T
    e = np.column_stack([kernel_errors(a, own, lengths) for a in columns])
    norms = np.array([np.linalg.norm(a * kernel_errors(a, own, own)) for a in columns])
    m, loss = problem.argument.of(problem.targets, F), problem.loss
    ends = np.maximum(loss.value(m - e), loss.value(m + e))
    value = (problem.cost * (ends - loss.value(m))).sum(axis=0) + problem.alpha * norms
    longest = float(lengths.max(initial=0.0) * own.max(initial=0.0)) / float(panel.factor.diagonal().min())
    g = kernel_errors(np.ones(1), np.ones(1), np.array([longest]))[0] * np.sqrt(np.square(u).sum(axis=0))
    norm = np.sqrt(2.0 * problem.alpha * np.maximum(fitted.gap, 0.0))
    return np.asarray(value + g * (2.0 * norm + g) / (2.0 * problem.alpha))


@dataclass(frozen=True)
class DoubleBlocks:
    """Kernel values of the same rows, in double; only the rows of a block are converted at a time."""

    kernel: KernelData

    @property
    def dtype(self) -> Any:
        """The precision of the values."""
        return np.dtype(np.float64)

    def __len__(self) -> int:
        return len(self.kernel)

    def block(self, which: Any, points: Any, out: np.ndarray | None = None) -> np.ndarray:
        """``K[i, j] = k(row which[i], points[j])``."""
        K = self.kernel.gram(self.kernel.points(which), points)
        if out is None:
            return K
        out[...] = K
        return out


def rounding_decides(problem: ReducedProblem, fitted: Refit, tol: float) -> tuple[Refit, bool]:
    """The refit with rounding included in its gap, and whether only double precision can show its gap."""
    if problem.panel.kernel.dtype == np.float64 or problem.panel.size == 0:
        return fitted, False
    rounding = rounding_of(problem, fitted)
    safe = replace(fitted, gap=fitted.gap + rounding)
    small = rounding.sum() <= MAX_ROUNDING_PER_TOL * tol * fitted.primal.sum()
    return safe, not (small and safe.relative_gap <= tol)


def rounding_of(problem: ReducedProblem, fitted: Refit) -> np.ndarray:
    """What rounding of the features can add to primal minus dual, in each column."""
    panel, F = problem.panel, fitted.F
    rows = np.linspace(0, len(F) - 1, min(N_SAMPLED_ROWS, len(F))).astype(np.int64)
    exact = panel.whitened(panel.kernel.gram(panel.kernel.points(rows), panel.points))
    d = exact - panel.whitened(panel.kernel.block(rows, panel.points).astype(np.float64))
    e = exact @ fitted.V - F[rows]
    smooth = problem.smooth(fitted.width)
    u, curvature = problem.residuals(smooth, F), problem.curvatures(smooth, F)
    errors = SampledErrors.of(d, e, np.sign(u[rows]), u)
    lengths = np.sqrt(np.square(exact).sum(axis=1).max(initial=0.0))
    value = errors.value + 0.5 * curvature.sum(axis=0) * errors.noise**2
    slopes = errors.noise * lengths * np.sqrt(np.square(curvature).sum(axis=0))
    g = errors.gradient + ERRORS_PER_BOUND * slopes
    norm = np.sqrt(2.0 * problem.alpha * np.maximum(fitted.gap, 0.0))
    return np.asarray(value + g * (2.0 * norm + g) / (2.0 * problem.alpha))


def by_convex_steps(
    solve: Callable[[ReducedProblem, np.ndarray], Refit], problem: ReducedProblem, V: np.ndarray
) -> Refit:
    """Minimise the ramp objective from V, a solution with the hinge; ``solve`` refits a convex problem."""
    kept = _kept(problem, problem.panel.dot(V) if len(V) else np.zeros(problem.targets.shape))
    fitted = solve(_without(problem, ~kept), V)
    value = ramp_objective(problem, fitted)
    for _ in range(MAX_CONVEX_STEPS):
        again = _kept(problem, fitted.F)
        if np.array_equal(again, kept):
            break
        step = solve(_without(problem, ~again), fitted.V)
        if ramp_objective(problem, step) > value:  # no further than the tolerance of a step
            break
        kept, fitted, value = again, step, ramp_objective(problem, step)
    return fitted


def _kept(problem: ReducedProblem, F: np.ndarray) -> np.ndarray:
    taking_part = np.where(problem.cost > 0.0, problem.targets, 0.0)
    return Ramp().kept(F, taking_part)


def _without(problem: ReducedProblem, aside: np.ndarray) -> ReducedProblem:
    return replace(problem, cost=np.where(aside, 0.0, problem.cost))


def ramp_objective(problem: ReducedProblem, fitted: Refit) -> float:
    """The value that the steps minimise, over all columns."""
    losses = problem.losses(Ramp(), fitted.F)
    return float(losses.sum() + 0.5 * problem.alpha * np.square(fitted.V).sum())


def kept_rows(problem: BudgetProblem, result: BudgetResult, n_trained: int) -> np.ndarray:
    """Which of the first ``n_trained`` rows a fit keeps in each column; True for the others."""
    points = problem.kernel.points(result.support) if result.points is None else result.points
    kept = np.ones(problem.targets.shape, dtype=bool)
    F = np.zeros((n_trained, problem.n_columns))
    for first in range(0, n_trained, ROWS_PER_KERNEL_CALL):
        some = slice(first, min(n_trained, first + ROWS_PER_KERNEL_CALL))
        F[some] = problem.kernel.block(some, points).astype(np.float64) @ result.coef
    kept[:n_trained] = Ramp().kept(F, problem.targets[:n_trained].astype(np.float64))
    return kept

"""A search over blocks of rows: all folds of a grid point are fitted and scored in the same passes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state

from .._native import effective_n_threads
from ..base import forget, learns
from ..checkpoints import FitRecord
from ..data import check_folds, class_weights, is_number
from ..methods.blocks import (
    MAX_HESSIAN_BYTES,
    BlockProblem,
    FoldPlan,
    Folds,
    FoldWeightsTask,
    HeldOutTask,
    Look,
    Passes,
    ScoredFolds,
    Start,
    ThreadPasses,
    check_solvable,
    fold_problem,
    fold_weights,
    held_out,
    look_at,
    solve_blocks,
    source_of,
    start_on_sample,
)
from ..solving import Deadline, Status, ended_in_time, relative_gap, until_cut
from .grid import Grid, chosen_point
from .search import SCORING_TIME_SHARE, FoldScores, ScoreTable, search

__all__ = ["SearchesBlocks"]

MAX_COLUMNS = 256  # of several folds: a pass holds targets and costs of a block's rows in each


@dataclass
class BlockFolds:
    """The folds of a search; a fold is scored by the weight of its rows that are predicted rightly.

    Centres are chosen on the sample, once for each gamma, by the estimator's own alpha; the folds and the
    values of alpha or C share them. ``weights`` are those of the classes in each fold.
    """

    estimator: Any
    passes: Passes
    found: Look
    folds: Folds
    weights: np.ndarray
    grid: Grid
    n_threads: int

    def run(self, g: int, folds: list[int], which: np.ndarray) -> list[FoldScores]:
        """Scores of the values ``which`` at the g-th gamma; nan for values that there was no time for."""
        model = clone(self.estimator).set_params(**self.grid.at_gamma(g))
        model._seed = self.found.task.seed
        rows, plan = np.full((len(folds), len(which), 4), np.nan), model._block_plan
        with Deadline(plan.seconds(model)) as deadline, suppress(TimeoutError):
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                plan.start(model, self.found, FitRecord(), deadline)  # not what is scored
            self._run(model, which, rows, deadline)
        return [FoldScores(*fold.T) for fold in rows]

    def _run(self, model: Any, which: np.ndarray, rows: np.ndarray, deadline: Deadline) -> None:
        """Fit point after point; the rest of the time is for the pass that scores them."""
        V, problem, points, seconds, gaps = None, None, [], [], []
        with deadline.nested(1.0 - SCORING_TIME_SHARE) as until:
            for value in self.grid.values[which]:
                if until.passed():
                    break
                begun = time.perf_counter()
                model.set_params(**{self.grid.name: float(value)})
                problem, start = model._block_plan.problem(model, self.found)
                V = np.tile(start, self.folds.n_folds) if V is None else V
                V, gap = self._solved(model, problem, V, until)
                points.append(V)
                gaps.append(gap)
                seconds.append((time.perf_counter() - begun) / len(rows))
        if problem is None:
            return
        begun, n = time.perf_counter(), len(points)
        every = fold_problem(problem, [problem] * len(rows), self.folds, list(range(len(rows))))
        fitted = ScoredFolds(every, tuple(points), model.decoder_)
        right = None
        self.passes.deadline = deadline
        with until_cut(deadline):
            right = self.passes.run(held_out, HeldOutTask(fitted)).total
        if right is not None:
            rows[:, :n, 0] = (right / self.weights.sum(axis=1)).T
            rows[:, :n, 1], rows[:, :n, 3] = np.array(seconds), np.array(gaps).T
            rows[:, :n, 2] = (time.perf_counter() - begun) / right.size

    def _solved(
        self, model: Any, problem: BlockProblem, V: np.ndarray, deadline: Deadline
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of all folds, and each fold's gap; as many folds at once as there is memory for."""
        n_folds, T = self.folds.n_folds, problem.code.n_columns
        sample, stop = self.found.block(), model._stop(deadline)
        on_sample = fold_weights(sample, FoldWeightsTask(self.found.classes, self.folds)).total
        V, gaps, at_once = V.copy(), np.full(n_folds, np.inf), folds_at_once(T, len(V), n_folds)
        self.passes.deadline = deadline
        for first in range(0, n_folds, at_once):
            numbers = list(range(first, min(first + at_once, n_folds)))
            own = slice(first * T, (numbers[-1] + 1) * T)
            start = Start(V[:, own], False, Status.CONVERGED)
            if all(outside(on_sample, k).all() for k in numbers):  # all classes outside every fold
                there = self._outside(model, problem, on_sample, numbers)
                start = start_on_sample(there, start.V, sample, self.n_threads, stop)
            V[:, own] = start.V
            with until_cut(deadline):
                there = self._outside(model, problem, self.weights, numbers)
                result, point = solve_blocks(self.passes, there, start, sample=sample, stop=stop)
                V[:, own] = result.coef
                if point is not None and point.double and np.array_equal(point.V, result.coef):
                    bounds = np.array([point.primal, point.dual, point.tiny])
                    each = bounds.reshape(3, -1, T).sum(axis=2).T
                    gaps[numbers] = [max(relative_gap(*own), 0.0) for own in each.tolist()]
        return V, gaps

    def _outside(
        self, model: Any, problem: BlockProblem, weights: np.ndarray, numbers: list[int]
    ) -> BlockProblem:
        """The problem of these folds, where the classes of the rows in each fold have these weights."""
        plan: FoldPlan = model._block_plan
        parts = []
        for k in numbers:
            totals = outside(weights, k)
            factors = class_weights(model.class_weight, self.found.classes, totals)
            parts.append(plan.weighed(model, problem, totals, factors))
        return fold_problem(problem, parts, self.folds, numbers)


def outside(weights: np.ndarray, fold: int) -> np.ndarray:
    """The weights of the classes in all folds but one: their sum, since a difference cancels."""
    return np.asarray(np.delete(weights, fold, axis=0).sum(axis=0))


def folds_at_once(n_columns: int, n_features: int, n_folds: int) -> int:
    """How many folds share their passes, so that there is memory for their Hessians, if they have any."""
    of_one = 8 * n_columns * n_features**2
    fit = n_folds if of_one > MAX_HESSIAN_BYTES else MAX_HESSIAN_BYTES // of_one
    return int(min(n_folds, max(1, min(fit, MAX_COLUMNS // n_columns))))


class SearchesBlocks:
    """What ``PathCV`` does with rows that are only ever seen as blocks."""

    estimator: Any
    cv: Any
    scoring: Any
    rule: str
    refit: bool
    random_state: Any

    def fit_blocks(
        self: Any,
        source: Any,
        *,
        sample_rows: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Any:
        """Score every point of the grid on all rows of a source, and fit the chosen one to them, in passes.

        All folds of a point are fitted in the same few passes, and all points of one gamma are scored in one.
        Rows are dealt to ``cv`` folds by a hash of their entries. The support vectors of a budgeted model are
        chosen on a sample of the rows, once for each gamma, with the estimator's own alpha, and shared by the
        folds and the values of alpha, where ``fit`` chooses them anew for every fold and point: the sample
        has rows of all folds, so scores are a little optimistic. The chosen point is fitted to all rows from
        support vectors of its own. The score is the accuracy.

        The folds of a point share their passes as far as 256 columns and 96 MiB for their Hessians allow.
        ``n_jobs`` is the number of threads, all cores by default.

        Parameters
        ----------
        source : sequence or callable
            As for :meth:`SparseKernelClassifier.fit_blocks`; the estimator must have that method.
        sample_rows : int, optional
            As there.
        progress : callable, optional
            Called with the number of passes and of blocks read; the last fit counts from 1 again.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from maxmargin import LinearSVC, PathCV
        >>> X, y = load_digits(return_X_y=True)
        >>> blocks = [(X[i : i + 400], y[i : i + 400]) for i in range(0, len(X), 400)]
        >>> search = PathCV(LinearSVC(loss="squared-hinge"), Cs=[1e-6, 1e-4]).fit_blocks(blocks)
        >>> search.best_params_, search.n_splits_
        ({'C': 0.0001}, 5)
        """
        blocks = source_of(source)

        def passes(deadline: Deadline) -> Passes:
            return ThreadPasses(blocks, effective_n_threads(self.n_jobs), deadline, progress)

        def refitted(model: Any) -> Any:
            return model.fit_blocks(blocks, sample_rows=sample_rows, progress=progress)

        return self._search_in_passes(passes, refitted, sample_rows)

    def _fit_collections(self: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        """The same for an estimator of Dask collections, on the workers."""
        if groups is not None:
            raise ValueError("groups are given, but on a cluster rows are dealt to folds by a hash.")

        def refitted(model: Any) -> Any:
            model.client = self.estimator.client  # which is not cloned
            return model.fit(X, y, sample_weight)

        def passes(deadline: Deadline) -> Passes:
            return self.estimator.passes_over(X, y, sample_weight, deadline)

        return self._search_in_passes(passes, refitted, None)

    def _search_in_passes(
        self: Any,
        passes: Callable[[Deadline], Passes],
        refitted: Callable[[Any], Any],
        sample_rows: int | None,
    ) -> Any:
        forget(self, "best_params_")
        self._check_parameters()
        seed = int(check_random_state(self.random_state).randint(2**31))
        estimator = self._new_estimator(seed)
        self._check_blocks(estimator)
        first = "PathCV to score a point of the grid on every fold"
        with (
            np.errstate(under="ignore"),
            Deadline(self._seconds) as deadline,
            ended_in_time(deadline, first),
        ):
            folds = self._block_folds(estimator, passes(deadline), sample_rows, seed)
            until = self._search_until(deadline)
            table = search(folds.grid, self.cv, folds.run, eliminate=False, deadline=until)
            self._check_time(table, deadline)
            chosen = chosen_point(folds.grid, table.scores, self.rule)
            self._warn_of_gaps(table, estimator.tol)
            forget(self, "best_estimator_")
            if self.refit:
                self._keep_best(refitted(clone(estimator).set_params(**folds.grid.points[chosen])))
        self.scorer_ = check_scoring(estimator, self.scoring)
        self.classes_ = folds.found.classes
        self._keep_results(table, folds.grid, chosen, self.cv, "support-vectors")
        return self

    def _check_blocks(self: Any, estimator: Any) -> None:
        if not hasattr(estimator, "_block_plan") or not hasattr(estimator, "fit_blocks"):
            raise TypeError(
                "a search over blocks needs an estimator with fit_blocks, such as SparseKernelClassifier or "
                f"LinearSVC(loss='squared-hinge'); got {type(estimator).__name__}."
            )
        check_solvable(estimator)
        if learns(estimator.decoder):
            raise ValueError(
                f"decoder={estimator.decoder!r} learns from training rows, which a search over blocks does "
                "not hold in memory; use a fixed decoder, such as 'auto'."
            )
        check_folds(self.cv)
        if self.eliminate:
            raise ValueError("over blocks, all folds of a point share their passes: set eliminate=False.")
        if not is_number(self.cv):
            raise ValueError(
                f"over blocks, rows are dealt to folds by a hash, so cv must be a number; got {self.cv!r}."
            )
        if self.scoring not in (None, "accuracy"):
            raise ValueError(
                f"over blocks, scoring must be None or 'accuracy'; got {self.scoring!r}. Search on a sample "
                "of the rows for another score."
            )

    def _block_folds(self: Any, estimator: Any, passes: Passes, sample_rows: Any, seed: int) -> BlockFolds:
        model = clone(estimator)
        model._check_parameters()
        model._draw_seed()
        found, folds = look_at(model, passes, sample_rows), Folds(int(self.cv), seed)
        if len(found.classes) < 2:
            raise ValueError(
                f"PathCV needs at least two classes; all rows have the class {found.classes[0]!r}."
            )
        weights = passes.run(fold_weights, FoldWeightsTask(found.classes, folds)).total
        if not weights.sum(axis=1).all():
            raise ValueError(f"cv={self.cv} leaves a fold without rows; take fewer folds.")
        for k in range(len(weights)):
            if not (there := outside(weights, k)).all():
                name = found.classes[np.argmin(there)].item()
                raise ValueError(
                    f"all rows of the class {name!r} are in one of {self.cv} folds, whose models have not "
                    "seen it. Leave the class out, or take another random_state."
                )
        labels = np.searchsorted(found.classes, found.y)
        grid = self._grid(estimator, found.X, found.y, labels, found.block().weight, seed)
        return BlockFolds(estimator, passes, found, folds, weights, grid, effective_n_threads(self.n_jobs))

    def _warn_of_gaps(self, table: ScoreTable, tol: float) -> None:
        """Warn of fits that ended above their tolerance."""
        above = np.nan_to_num(table.dual_gaps, nan=0.0) > tol
        if above.any():
            warnings.warn(
                f"{above.sum()} of {above.size} fits of the search ended above tol={tol:g}, the largest with "
                f"a gap of {np.nanmax(table.dual_gaps):.1e}; cv_results_['max_dual_gap'] has the gap of each "
                "point. Raise max_iter or max_seconds, or leave out the least regularised points.",
                ConvergenceWarning,
                stacklevel=4,
            )

"""Scores of the exact kernel SVM along a grid: one kernel matrix at a time, shared by all folds.

A fold's training rows, in canonical order, are a subset of all rows. Its problem is that of a separate fit,
with kernel values that are already computed. Predictions for its test rows are products with other rows of
the same matrix.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .. import _native
from .._native import effective_n_threads
from ..checkpoints import FitRecord
from ..codes import Code, code_from_name
from ..data import MemoryPool, Rows, WeightedRows, canonical_index, check_costs, class_weights
from ..decoders import DECODERS, decision_values, decoder_from_name
from ..kernels import Precomputed, depends_on_data
from ..methods.kernel_svm import (
    KernelSVC,
    StoredColumn,
    StoredPaths,
    can_be_stored,
    solve_stored,
    svm_path,
)
from ..solving import (
    Deadline,
    SolverResult,
    Status,
    Stop,
    solve_columns,
    until_cut,
    without_bound_words,
)
from .grid import Grid
from .held_kernel import HeldData, HeldKernel
from .search import FixedScores, FoldAnswers, FoldScores
from .splits import Split

__all__ = ["KernelFolds", "can_share"]

MAX_CONCURRENT_FOLDS = 4  # fixed, so that a fold's memory does not depend on the number of threads
KERNEL_MEMORY_SHARE = 0.5  # of cache_mb, for the kernel matrix of all rows


def can_share(estimator: KernelSVC, grid: Grid) -> bool:
    """Whether all folds have the same kernel and a decoder that does not learn from training rows.

    A gamma given by name, such as "scale", differs from fold to fold.
    """
    if not isinstance(estimator, KernelSVC):
        return False
    model = clone(estimator).set_params(**grid.at_gamma(0))
    decoder = DECODERS.get(model.decoder) if isinstance(model.decoder, str) else model.decoder
    learns = getattr(decoder, "learns_from", "nothing") != "nothing"
    return model.loss != "ramp" and not learns and not depends_on_data(model._kernel_parameter())


@dataclass
class Fold:
    """The problem of one fold: training rows of the matrix, their labels among ``classes``, their weights."""

    train: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    weight: np.ndarray
    test: np.ndarray


def _columns(fold: Fold, code: Code | None, unit: float) -> list[StoredColumn]:
    """The columns of a fold's code, none for a fold of one class, with costs in ``unit``."""
    if code is None:
        return []
    columns = []
    for t in range(code.n_columns):
        which, targets = code.column(fold.labels, t)
        columns.append(StoredColumn(fold.train[which], targets, unit * fold.weight[which]))
    return columns


class KernelFolds:
    """Folds of a :class:`KernelSVC` over one kernel matrix; ``search`` calls ``run``.

    Folds with small columns are solved to the tolerance of the estimator in one native call, and not to
    rounding, unless the tolerance asks for that.
    """

    def __init__(
        self,
        estimator: KernelSVC,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        splits: list[Split],
        grid: Grid,
        scorer: Any,
        n_jobs: int | None,
    ) -> None:
        self.estimator, self.grid, self.scorer, self.y, self.weight = estimator, grid, scorer, y, weight
        self.n_threads = effective_n_threads(estimator.n_jobs if n_jobs is None else n_jobs)
        estimator._check_parameters()
        estimator._draw_seed()
        estimator._read_machine(FitRecord())
        self.X, _ = estimator._validated(X, y)
        self.splits = splits
        self._order_rows()
        for value in (grid.values.min(), grid.values.max()):
            check_costs(value, self.merged)
        self._resolve(0)
        limit = int(estimator.cache_mb_ * 1e6)
        self.fits = HeldKernel.n_bytes(len(self.index), self.X.dtype) <= KERNEL_MEMORY_SHARE * limit
        self.held: HeldKernel | None = None
        self.limit = limit

    def _order_rows(self) -> None:
        """Merge equal rows that all folds treat alike; ``place`` maps each row to its merged row."""
        n = len(self.y)
        roles = np.zeros((n, 2 * len(self.splits)), dtype=bool)
        for k, (train, test) in enumerate(self.splits):
            roles[train, 2 * k] = roles[test, 2 * k + 1] = True
        _, role = np.unique(roles, axis=0, return_inverse=True)
        _, label = np.unique(self.y, return_inverse=True)
        weight = (roles.any(axis=1)).astype(float) * (1.0 if self.weight is None else self.weight)
        if self.X.ndim == 2 and not isinstance(self.estimator._kernel_parameter(), Precomputed):
            pairs = label * (int(role.max()) + 1) + role.ravel()
            self.index, self.place = canonical_index(self.X, pairs, weight)
        else:  # a prefix is a random sample, as in a separate fit
            self.index = self.estimator._rng(0).permutation(np.flatnonzero(weight > 0.0))
            self.place = np.full(n, -1, dtype=np.intp)
            self.place[self.index] = np.arange(len(self.index))
        given = self.place >= 0
        self.merged = np.bincount(self.place[given], weights=weight[given])

    def _resolve(self, g: int) -> Any:
        """The kernel at the g-th gamma, with all parameters as numbers."""
        self.estimator.set_params(**self.grid.at_gamma(g))
        rows = Rows(self.X, self.index, self.n_threads)
        self.estimator._prepare(WeightedRows(rows, np.zeros(len(self.index), dtype=np.intp), self.merged))
        return self.estimator.kernel_

    # ---- a gamma ----

    def run(self, g: int, folds: list[int], which: np.ndarray) -> list[FoldScores]:
        """Scores of the values ``which`` at the g-th gamma, fold by fold."""
        answers = self.answers(g, folds, which)
        if answers is None:
            nothing = np.full(len(which), np.nan)
            return len(folds) * [FoldScores(nothing, nothing, nothing, nothing)]
        self._warn([status for fold in answers for status in fold.statuses])
        return [self._scored(fold) for fold in answers]

    def answers(self, g: int, folds: list[int], which: np.ndarray) -> list[FoldAnswers] | None:
        """Decision values of the held-out rows, fold by fold, on threads; None if the time is up."""
        seconds = self.estimator.max_seconds * len(folds) * len(which)
        with Deadline(seconds) as deadline, until_cut(deadline):
            return self._answers(g, folds, which, deadline)
        return None

    def _answers(self, g: int, folds: list[int], which: np.ndarray, deadline: Deadline) -> list[FoldAnswers]:
        if self.held is None:
            room = int(KERNEL_MEMORY_SHARE * self.limit)
            self.held = HeldKernel(self.X, self.index, self.n_threads, room)
        held = self.held.at(self._resolve(g), deadline.flag, several=self.grid.n_gammas > 1)
        n_held = self.held.K.nbytes * (1 if self.held.distances is None else 2)
        values, room = self.grid.values[which], max(self.limit - n_held, 0)
        answers = self._answers_at_once(held, folds, values, deadline, room)
        left = [k for k, fold in zip(folds, answers, strict=True) if fold is None]
        others = iter(self._answers_one_by_one(held, left, values, deadline, room)) if left else iter(())
        return [next(others) if fold is None else fold for fold in answers]

    def _answers_one_by_one(
        self, held: HeldData, folds: list[int], values: np.ndarray, deadline: Deadline, room: int
    ) -> list[FoldAnswers]:
        """Each fold by a solve of its own, with its share of the memory."""
        share = room // MAX_CONCURRENT_FOLDS
        pool = MemoryPool(share // held.dtype.itemsize, held.dtype)

        def solve(k: int, stop: Stop, n_inner: int) -> FoldAnswers:
            rows = replace(held, n_threads=n_inner, cancel=stop.cancel)
            with pool.borrow() as memory:
                return self._solve_fold(self.splits[folds[k]], rows, values, stop, memory)

        with _native.one_blas_thread():
            stop = self.estimator._stop(deadline)
            return solve_columns(solve, len(folds), stop, self.n_threads, MAX_CONCURRENT_FOLDS)

    def _answers_at_once(
        self, held: HeldData, folds: list[int], values: np.ndarray, deadline: Deadline, room: int
    ) -> list[FoldAnswers | None]:
        """Small columns of all folds in one native call; None for folds that it has not solved."""
        problems = [self._fold(self.splits[k]) for k in folds]
        codes = [self._code(problem) if len(problem.classes) > 1 else None for problem in problems]
        parts = [_columns(*pair, float(values[-1])) for pair in zip(problems, codes, strict=True)]
        together, stop = [column for part in parts for column in part], self.estimator._stop(deadline)
        storable = held.kernel.positive and can_be_stored(held.X, together, len(values), stop.tol, room)
        if not storable:
            return [None] * len(folds)
        squared = self.estimator.loss == "squared-hinge"
        with _native.one_blas_thread():
            found = solve_stored(held.X, together, values / values[-1], squared, stop, self.n_threads)
            answers: list[FoldAnswers | None] = []
            last = 0
            for k, problem, code, columns in zip(folds, problems, codes, parts, strict=True):
                own, last = slice(last, last + len(columns)), last + len(columns)
                if code is None or not found.solved[own].all():
                    answers.append(None)
                else:
                    answers.append(self._stored_answers(k, problem, code, held, found, own))
        return answers

    def _stored_answers(
        self, k: int, fold: Fold, code: Code, held: HeldData, found: StoredPaths, own: slice
    ) -> FoldAnswers:
        """The answers of the columns ``own``, which are those of one fold."""
        n_values = found.gap.shape[1]
        coef = np.zeros((len(fold.train), code.n_columns, n_values))
        for t in range(code.n_columns):
            coef[code.column(fold.labels, t)[0], t] = found.coef[own.start + t]
        outputs = held.products(fold.test, fold.train, coef, fold.labels) + found.intercept[own]
        decoder = decoder_from_name(self.estimator.decoder, code)
        return FoldAnswers(
            fold.classes,
            self.splits[k][1],
            [decision_values(outputs[:, :, v], code, decoder) for v in range(n_values)],
            found.seconds[own].sum(axis=0),
            found.gap[own].max(axis=0),
            coef.any(axis=1).sum(axis=0),
            [Status.CONVERGED] * n_values,
        )

    def _code(self, fold: Fold) -> Code:
        return code_from_name(self.estimator.code, len(fold.classes), self.estimator._seed)

    def _scored(self, fold: FoldAnswers) -> FoldScores:
        weighted = {} if self.weight is None else {"sample_weight": self.weight[fold.test]}
        scores, seconds = [], []
        for values in fold.decisions:
            begun = time.perf_counter()
            answers = FixedScores(fold.classes, values)
            scores.append(float(self.scorer(answers, fold.test[:, None], self.y[fold.test], **weighted)))
            seconds.append(time.perf_counter() - begun)
        return FoldScores(np.array(scores), fold.seconds, np.array(seconds), fold.dual_gaps)

    def _fold(self, split: Split) -> Fold:
        """Training rows of positive weight, with class weights computed from these rows."""
        train, test = split
        weight = np.ones(len(train)) if self.weight is None else self.weight[train]
        factor = class_weights(self.estimator.class_weight, self.y[train], weight)
        place, first = np.unique(self.place[train[factor > 0.0]], return_index=True)
        y, factor = self.y[train[factor > 0.0]][first], factor[factor > 0.0][first]
        classes, labels = np.unique(y, return_inverse=True)
        return Fold(place, labels, classes, self.merged[place] * factor, self.place[test])

    def _solve_fold(
        self, split: Split, held: HeldData, values: np.ndarray, stop: Stop, memory: np.ndarray
    ) -> FoldAnswers:
        fold = self._fold(split)
        decisions, results, counted = self._scores(fold, held, values, stop, memory)
        points = [[column[k] for column in results] for k in range(len(values))]
        seconds = [sum(column.history[-1].seconds for column in point) for point in points]
        gaps = [max((column.gap for column in point), default=0.0) for point in points]
        statuses = [column.status for point in points for column in point]
        return FoldAnswers(
            fold.classes, split[1], decisions, np.array(seconds), np.array(gaps), counted, statuses
        )

    def _scores(
        self, fold: Fold, held: HeldData, values: np.ndarray, stop: Stop, memory: np.ndarray
    ) -> tuple[list[np.ndarray], list[list[SolverResult]], np.ndarray]:
        """For each value: scores of the test rows, the columns' results, the number of support vectors."""
        model = self.estimator
        if len(fold.classes) < 2:
            return [np.zeros(len(fold.test))] * len(values), [], np.zeros(len(values), dtype=int)
        code = self._code(fold)
        decoder = decoder_from_name(model.decoder, code)
        coef = np.zeros((len(fold.train), code.n_columns, len(values)))
        intercept = np.empty((code.n_columns, len(values)))
        results = []
        for t in range(code.n_columns):
            which, targets = code.column(fold.labels, t)
            rows, unit = fold.train[which], float(values[-1])
            problem = replace(
                model._problem(held.take(rows), targets, fold.weight[which]),
                cost=unit * fold.weight[which],
            )
            found = svm_path(
                problem,
                [value / unit for value in values],
                stop=stop,
                cache_bytes=memory.nbytes,
                shrinking=model.shrinking,
                memory=memory,
            )
            coef[which, t] = np.array([result.coef for result in found]).T
            intercept[t] = [result.intercept for result in found]
            results.append(found)
        outputs = held.products(fold.test, fold.train, coef, fold.labels) + intercept
        decisions = [decision_values(outputs[:, :, k], code, decoder) for k in range(len(values))]
        return decisions, results, coef.any(axis=1).sum(axis=0)

    def _warn(self, statuses: list[Status]) -> None:
        short = [status for status in statuses if status is not Status.CONVERGED]
        if short:
            advice = "raise the estimator's max_iter or max_seconds, raise tol, or scale the features."
            if not self.estimator.kernel_.positive and set(short) == {Status.STALLED}:
                advice = without_bound_words(self.estimator.kernel)
            warnings.warn(
                f"PathCV: {len(short)} of {len(statuses)} fold problems stopped early ({short[0]}); "
                f"{advice} The gaps are in cv_results_['max_dual_gap'].",
                ConvergenceWarning,
                stacklevel=5,
            )

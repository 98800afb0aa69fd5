"""Scores of the exact kernel SVM along a grid: one kernel matrix at a time, shared by all folds.

A fold's training rows, in canonical order, are a subset of all rows. Its problem is that of a separate fit,
with kernel values that are already computed. Predictions for its test rows are products with other rows of
the same matrix.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
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
    STORED_TARGET_PER_TOL,
    KernelSVC,
    StoredColumn,
    StoredPaths,
    fit_in_memory,
    is_storable,
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
    """The problem of one fold: training rows of the matrix, their labels among ``classes``, their weights.

    The columns are those of ``code``, which a fold of one class does not have.
    """

    split: Split
    train: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    weight: np.ndarray
    test: np.ndarray
    code: Code | None

    @property
    def n_columns(self) -> int:
        """None for a fold of one class."""
        return 0 if self.code is None else self.code.n_columns

    def column(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Which of the training rows take part in a column, and their targets."""
        assert self.code is not None
        return self.code.column(self.labels, t)

    def stored_columns(self, unit: float) -> list[StoredColumn]:
        """All columns, with costs in ``unit``."""
        parts = map(self.column, range(self.n_columns))
        return [
            StoredColumn(self.train[which], targets, unit * self.weight[which]) for which, targets in parts
        ]


@dataclass
class FoldColumns:
    """Solutions of a fold's columns for some values: arrays (n_columns, n_values).

    Coefficients are (n_rows, n_columns, n_values), with a row for each training row.
    """

    coef: np.ndarray
    intercept: np.ndarray
    gap: np.ndarray
    seconds: np.ndarray
    status: np.ndarray

    @classmethod
    def zeros(cls, fold: Fold, n_values: int) -> FoldColumns:
        """Nothing solved yet."""
        shape = (fold.n_columns, n_values)
        status = np.full(shape, Status.CONVERGED, dtype=object)
        return cls(
            np.zeros((len(fold.train), *shape)), np.zeros(shape), np.zeros(shape), np.zeros(shape), status
        )

    @classmethod
    def of(cls, fold: Fold, found: StoredPaths) -> FoldColumns:
        """The columns of a fold from the native call."""
        columns = replace(
            cls.zeros(fold, found.gap.shape[1]),
            intercept=found.intercept,
            gap=found.gap,
            seconds=found.seconds,
        )
        for t, coef in enumerate(found.coef):
            columns.coef[fold.column(t)[0], t] = coef
        return columns

    def take(self, t: int, which: np.ndarray, found: list[SolverResult]) -> None:
        """The t-th column, from solves for each value."""
        self.coef[which, t] = np.array([result.coef for result in found]).T
        for v, result in enumerate(found):
            self.intercept[t, v], self.gap[t, v] = result.intercept, result.gap
            self.seconds[t, v], self.status[t, v] = result.history[-1].seconds, result.status

    def with_more(self, more: FoldColumns) -> FoldColumns:
        """The same columns for further values."""
        parts = zip(vars(self).values(), vars(more).values(), strict=True)
        return FoldColumns(*(np.concatenate(pair, axis=-1) for pair in parts))


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
        problems = [self._fold(self.splits[k]) for k in folds]
        stop = self.estimator._stop(deadline)
        with _native.one_blas_thread():
            found = self._solved_at_once(held, problems, values, stop, room)
            answers: dict[int, FoldAnswers] = {}
            for k, stored in enumerate(found):
                if stored is not None and stored.gap.shape[1] == len(values):
                    answers[k] = self._answer(held, problems[k], FoldColumns.of(problems[k], stored))
            left = [k for k in range(len(folds)) if k not in answers]
            answers |= self._answers_one_by_one(held, left, problems, found, values, stop, room)
        return [answers[k] for k in range(len(folds))]

    def _solved_at_once(
        self, held: HeldData, problems: list[Fold], values: np.ndarray, stop: Stop, room: int
    ) -> list[StoredPaths | None]:
        """The columns of each fold for the first values, by one native call; None if they are not for it."""
        nothing: list[StoredPaths | None] = [None] * len(problems)
        if not is_storable(held.X, held.kernel.positive, stop.tol):
            return nothing
        unit = float(values[-1])
        together = [column for problem in problems for column in problem.stored_columns(unit)]
        if not fit_in_memory(together, len(values), room):
            return nothing
        squared = self.estimator.loss == "squared-hinge"
        found = solve_stored(held.X, together, values / unit, squared, stop, self.n_threads)
        ends = np.cumsum([problem.n_columns for problem in problems]).tolist()
        return [found.part(slice(*own)) for own in pairwise([0, *ends])]

    def _answers_one_by_one(
        self,
        held: HeldData,
        left: list[int],
        problems: list[Fold],
        found: list[StoredPaths | None],
        values: np.ndarray,
        stop: Stop,
        room: int,
    ) -> dict[int, FoldAnswers]:
        """Folds that are left, each by a solve of its own with its share of the memory.

        Values that the native call has solved are kept, and the others solved as precisely as these.
        """
        share = room // MAX_CONCURRENT_FOLDS
        pool = MemoryPool(share // held.dtype.itemsize, held.dtype)

        def solve(i: int, stop: Stop, n_inner: int) -> FoldAnswers:
            rows = replace(held, n_threads=n_inner, cancel=stop.cancel)
            problem, stored = problems[left[i]], found[left[i]]
            with pool.borrow() as memory:
                if stored is None:
                    return self._answer(rows, problem, self._solved(rows, problem, values, stop, memory))
                rest, tighter = (
                    values[stored.gap.shape[1] :],
                    replace(stop, tol=STORED_TARGET_PER_TOL * stop.tol),
                )
                more = self._solved(rows, problem, rest, tighter, memory)
                more.status[more.gap <= stop.tol] = Status.CONVERGED
                return self._answer(rows, problem, FoldColumns.of(problem, stored).with_more(more))

        answers = solve_columns(solve, len(left), stop, self.n_threads, MAX_CONCURRENT_FOLDS)
        return dict(zip(left, answers, strict=True))

    def _answer(self, held: HeldData, fold: Fold, columns: FoldColumns) -> FoldAnswers:
        """What the columns say of the test rows, value by value."""
        n_values = columns.gap.shape[1]
        decisions = [np.zeros(len(fold.test))] * n_values
        if fold.code is not None:
            decoder = decoder_from_name(self.estimator.decoder, fold.code)
            outputs = held.products(fold.test, fold.train, columns.coef, fold.labels) + columns.intercept
            decisions = [decision_values(outputs[:, :, v], fold.code, decoder) for v in range(n_values)]
        return FoldAnswers(
            fold.classes,
            fold.split[1],
            decisions,
            columns.seconds.sum(axis=0),
            columns.gap.max(axis=0, initial=0.0),
            columns.coef.any(axis=1).sum(axis=0),
            columns.status.T.ravel().tolist(),
        )

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
        several = len(classes) > 1
        code = code_from_name(self.estimator.code, len(classes), self.estimator._seed) if several else None
        return Fold(split, place, labels, classes, self.merged[place] * factor, self.place[test], code)

    def _solved(
        self, held: HeldData, fold: Fold, values: np.ndarray, stop: Stop, memory: np.ndarray
    ) -> FoldColumns:
        """The columns of a fold, one after the other, each along the values."""
        model, unit = self.estimator, float(values[-1])
        columns = FoldColumns.zeros(fold, len(values))
        for t in range(fold.n_columns):
            which, targets = fold.column(t)
            problem = model._problem(held.take(fold.train[which]), targets, fold.weight[which])
            found = svm_path(
                replace(problem, cost=unit * fold.weight[which]),
                [value / unit for value in values],
                stop=stop,
                cache_bytes=memory.nbytes,
                shrinking=model.shrinking,
                memory=memory,
            )
            columns.take(t, which, found)
        return columns

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

"""Scores of the exact kernel SVM along a grid: one kernel matrix at a time, which all folds look into.

A fold's training rows, in their canonical order, are a selection of those of all folds. Its problem is the
one that a fit of its own would have, with kernel values that are there already, and what it predicts for its
test rows are products with other rows of the same matrix.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning

from .. import _native
from .._native import effective_n_threads
from ..codes import code_from_name
from ..data import (
    Rows,
    WeightedRows,
    canonical_index,
    check_costs,
    class_weights,
    lazy_array,
)
from ..decoders import (
    DECODERS,
    decision_values,
    decoder_from_name,
    predicted_classes,
)
from ..kernels import Precomputed, depends_on_data
from ..methods.kernel_svm import KernelSVC, svm_path
from ..solving import (
    SolverResult,
    Status,
    Stop,
    solve_columns,
    without_bound_words,
)
from .grid import Grid
from .held_kernel import HeldData, HeldKernel
from .search import FoldScores
from .splits import Split

__all__ = ["KernelFolds", "can_share"]

AT_ONCE = 4  # folds, at most: what one may use of the memory must not depend on the number of threads
HELD_SHARE = 0.5  # of the memory, for kernel values of all rows


def can_share(estimator: KernelSVC, grid: Grid) -> bool:
    """Whether folds have one kernel, and a decoder that learns nothing from their training rows.

    A gamma that is a word, as "scale", is another number on every fold.
    """
    model = clone(estimator).set_params(**grid.at_gamma(0))
    decoder = DECODERS.get(model.decoder) if isinstance(model.decoder, str) else model.decoder
    learns = getattr(decoder, "learns_from", "nothing") != "nothing"
    return not learns and not depends_on_data(model._kernel_parameter())


class Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model that has been asked already: what it says of one set of rows, for scorers."""

    def __init__(self, classes: Any = None, scores: Any = None) -> None:
        self.classes = classes
        self.scores = scores

    @property
    def classes_(self) -> np.ndarray:
        """Those of the training rows."""
        return np.asarray(self.classes)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes."""
        return np.asarray(self.scores)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(self.scores))
        return self.classes_[predicted_classes(self.decision_function(X))]

    def __sklearn_is_fitted__(self) -> bool:
        """It is."""
        return True


@dataclass
class Fold:
    """What one fold solves: rows of the matrix to train on, their labels among ``classes``, their weights."""

    train: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    weight: np.ndarray
    test: np.ndarray


class KernelFolds:
    """Folds of a :class:`KernelSVC` over one kernel matrix; ``run`` is what ``search`` asks for."""

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
        self.X, _ = estimator._validated(X, y)
        self.splits = splits
        self._order_rows()
        for value in (grid.values.min(), grid.values.max()):
            check_costs(value, self.merged)
        self._resolve(0)
        limit = int(estimator.cache_mb_ * 1e6)
        self.fits = HeldKernel.n_bytes(len(self.index), self.X.dtype) <= HELD_SHARE * limit
        self.held: HeldKernel | None = None
        self.limit = limit

    def _order_rows(self) -> None:
        """Equal rows that all folds treat alike become one; ``place`` is where each row is among these."""
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
        else:  # a prefix is a random sample, as it is there
            self.index = self.estimator._rng(0).permutation(np.flatnonzero(weight > 0.0))
            self.place = np.full(n, -1, dtype=np.intp)
            self.place[self.index] = np.arange(len(self.index))
        given = self.place >= 0
        self.merged = np.bincount(self.place[given], weights=weight[given])

    def _resolve(self, g: int) -> Any:
        """The kernel at the g-th gamma, with numbers for words."""
        self.estimator.set_params(**self.grid.at_gamma(g))
        rows = Rows(self.X, self.index, self.n_threads)
        self.estimator._prepare(WeightedRows(rows, np.zeros(len(self.index), dtype=np.intp), self.merged))
        return self.estimator.kernel_

    # ---- a gamma ----

    def run(self, g: int, folds: list[int], which: np.ndarray) -> list[FoldScores]:
        """Scores of the values ``which`` at the g-th gamma, fold by fold, on threads."""
        if self.held is None:
            room = int(HELD_SHARE * self.limit)
            self.held = HeldKernel(self.X, self.index, self.n_threads, room)
        held = self.held.at(self._resolve(g), several=self.grid.n_gammas > 1)
        n_held = self.held.K.nbytes * (1 if self.held.distances is None else 2)
        share = max(self.limit - n_held, 0) // AT_ONCE
        stop = self.estimator._stop()
        stop = replace(stop, max_seconds=stop.max_seconds * len(folds) * len(which))
        pool: list[np.ndarray] = []

        def solve(k: int, stop: Stop, n_inner: int) -> tuple[FoldScores, list[Status]]:
            memory = pool.pop() if pool else lazy_array(share // held.dtype.itemsize, held.dtype)
            rows = replace(held, n_threads=n_inner, cancel=stop.cancel)
            found = self._solve_fold(self.splits[folds[k]], rows, self.grid.values[which], stop, memory)
            pool.append(memory)
            return found

        with _native.one_blas_thread():
            solved = solve_columns(solve, len(folds), stop, self.n_threads, AT_ONCE)
        self._warn([status for _, statuses in solved for status in statuses])
        return [scores for scores, _ in solved]

    def _fold(self, split: Split) -> Fold:
        """Training rows of positive weight, with the class weights that these rows ask for."""
        train, test = split
        weight = np.ones(len(train)) if self.weight is None else self.weight[train]
        factor = class_weights(self.estimator.class_weight, self.y[train], weight)
        place, first = np.unique(self.place[train[factor > 0.0]], return_index=True)
        y, factor = self.y[train[factor > 0.0]][first], factor[factor > 0.0][first]
        classes, labels = np.unique(y, return_inverse=True)
        return Fold(place, labels, classes, self.merged[place] * factor, self.place[test])

    def _solve_fold(
        self, split: Split, held: HeldData, values: np.ndarray, stop: Stop, memory: np.ndarray
    ) -> tuple[FoldScores, list[Status]]:
        fold = self._fold(split)
        scores, results = self._scores(fold, held, values, stop, memory)
        seconds = np.zeros(len(values))
        test, table = split[1], []
        weighted = {} if self.weight is None else {"sample_weight": self.weight[test]}
        for k in range(len(values)):
            begun = time.perf_counter()
            answers = Answers(fold.classes, scores[k])
            score = float(self.scorer(answers, test[:, None], self.y[test], **weighted))
            columns = [column[k] for column in results]
            seconds[k] = sum(column.history[-1].seconds for column in columns)
            gap = max((column.gap for column in columns), default=0.0)
            table.append((score, seconds[k], time.perf_counter() - begun, gap))
        statuses = [result.status for column in results for result in column]
        return FoldScores(*np.array(table).T), statuses

    def _scores(
        self, fold: Fold, held: HeldData, values: np.ndarray, stop: Stop, memory: np.ndarray
    ) -> tuple[list[np.ndarray], list[list[SolverResult]]]:
        """Scores of the test rows for each value, and what the columns of the code came to."""
        model = self.estimator
        if len(fold.classes) < 2:
            return [np.zeros(len(fold.test))] * len(values), []
        code = code_from_name(model.code, len(fold.classes), model._seed)
        decoder = decoder_from_name(model.decoder, code)
        outputs = np.empty((len(values), len(fold.test), code.n_columns))
        results, deadline = [], time.perf_counter() + stop.max_seconds
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
                stop=replace(stop, max_seconds=max(deadline - time.perf_counter(), 0.0)),
                cache_bytes=memory.nbytes,
                shrinking=model.shrinking,
                memory=memory,
            )
            coef = np.array([result.coef for result in found]).T
            used = coef.any(axis=1)
            outputs[:, :, t] = held.products(fold.test, rows[used], coef[used]).T
            outputs[:, :, t] += np.array([result.intercept for result in found])[:, None]
            results.append(found)
        return [decision_values(F, code, decoder) for F in outputs], results

    def _warn(self, statuses: list[Status]) -> None:
        short = [status for status in statuses if status is not Status.CONVERGED]
        if short:
            advice = "raise the estimator's max_iter or max_seconds, raise tol, or scale the features."
            if not self.estimator.kernel_.positive and set(short) == {Status.STALLED}:
                advice = without_bound_words(self.estimator.kernel)
            warnings.warn(
                f"PathCV: {len(short)} of {len(statuses)} problems of folds stopped early ({short[0]}); "
                f"{advice} The gaps are in cv_results_['max_dual_gap'].",
                ConvergenceWarning,
                stacklevel=5,
            )

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
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .. import _native
from .._native import effective_n_threads
from ..checkpoints import FitRecord
from ..codes import code_from_name
from ..data import MemoryPool, Rows, WeightedRows, canonical_index, check_costs, class_weights, lazy_array
from ..decoders import DECODERS, decision_values, decoder_from_name
from ..kernels import RBF, Kernel, KernelData, Precomputed, _OfDistance, _SquaredDistance, depends_on_data
from ..methods.kernel_svm import KernelSVC, svm_path
from ..solving import (
    Deadline,
    SolverResult,
    Status,
    Stop,
    row_blocks,
    solve_columns,
    until_cut,
    without_bound_words,
)
from .grid import Grid
from .search import FixedScores, FoldAnswers, FoldScores
from .splits import Split

__all__ = ["HeldData", "HeldKernel", "HeldMatrix", "KernelFolds", "can_share"]

MAX_CONCURRENT_FOLDS = 4  # fixed, so that a fold's memory does not depend on the number of threads
KERNEL_MEMORY_SHARE = 0.5  # of cache_mb, for the kernel matrix of all rows
ROWS_PER_BLOCK = 64
MAX_SQUARINGS = 4  # of a kernel matrix in place: each doubles the relative rounding error


def can_share(estimator: KernelSVC, grid: Grid) -> bool:
    """Whether all folds have the same kernel and a decoder that does not learn from training rows.

    A gamma given by name, such as "scale", differs from fold to fold.
    """
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


class KernelFolds:
    """Folds of a :class:`KernelSVC` over one kernel matrix; ``search`` calls ``run``."""

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
        share = max(self.limit - n_held, 0) // MAX_CONCURRENT_FOLDS
        pool = MemoryPool(share // held.dtype.itemsize, held.dtype)

        def solve(k: int, stop: Stop, n_inner: int) -> FoldAnswers:
            rows = replace(held, n_threads=n_inner, cancel=stop.cancel)
            with pool.borrow() as memory:
                return self._solve_fold(self.splits[folds[k]], rows, self.grid.values[which], stop, memory)

        with _native.one_blas_thread():
            stop = self.estimator._stop(deadline)
            return solve_columns(solve, len(folds), stop, self.n_threads, MAX_CONCURRENT_FOLDS)

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
        code = code_from_name(model.code, len(fold.classes), model._seed)
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


@dataclass(frozen=True)
class HeldMatrix(Precomputed):
    """A symmetric kernel matrix computed here."""

    positive: bool = False
    name: ClassVar[str] = "held"


@dataclass
class HeldData(KernelData):
    """Kernel values that are already computed; only sums of them are evaluated."""

    def fill(self, which: np.ndarray, others: np.ndarray, out: tuple[np.ndarray, np.ndarray, int]) -> None:
        """``rows[slots, first : first + len(others)] = between(which, others)``; out: rows, slots, first."""
        _native.gather_rows(self.X, self.index[which], self.index[others], *out, self.n_threads, self.cancel)

    def matmul(self, which: Any, others: Any, A: np.ndarray) -> np.ndarray:
        """``between(which, others) @ A``, from whole rows of the symmetric matrix."""
        sums = np.zeros((A.shape[1], len(self.X)))
        for column, change in zip(sums, np.ascontiguousarray(-A.T, dtype=np.float64), strict=True):
            _native.subtract_rows(self.X, self.index[others], change, column, self.n_threads, self.cancel)
        return sums[:, self.index[which]].T

    def products(self, rows: np.ndarray, others: np.ndarray, A: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``K[rows][:, others]`` times A (len(others), n_columns, n_values), for rows of the whole matrix.

        Each block of kernel values is read once, for all columns. Rows of one label take part in the same
        columns, so a label needs only these.
        """
        used = np.flatnonzero(A.any(axis=(1, 2)))
        used = used[np.argsort(labels[used], kind="stable")]
        starts = np.searchsorted(labels[used], np.arange(labels.max() + 2))
        parts = []
        for first, last in pairwise(starts.tolist()):
            some = A[used[first:last]]
            columns = np.flatnonzero(some.any(axis=(0, 2)))
            flat = some[:, columns].reshape(last - first, len(columns) * A.shape[2])
            parts.append((slice(first, last), columns, flat.astype(self.X.dtype)))
        out = np.zeros((len(rows), *A.shape[1:]))
        for here in row_blocks(len(rows), ROWS_PER_BLOCK):
            block = np.empty((here.stop - here.start, len(used)), dtype=self.X.dtype)
            places = np.arange(len(block))
            _native.gather_rows(self.X, rows[here], others[used], block, places, 0, 1, self.cancel)
            for own, columns, flat in parts:
                shape = len(block), len(columns), A.shape[2]
                out[here, columns] += (block[:, own] @ flat).reshape(shape)
        return out

    def lengths(self, which: np.ndarray) -> np.ndarray:
        """``sqrt(k(x, x))`` of the selected rows."""
        return np.sqrt(np.maximum(self.X.diagonal()[self.index[which]].astype(np.float64), 0.0))


class HeldKernel:
    """The matrix of a kernel's values among the rows ``X[index]``, for a grid of its parameters in turn."""

    def __init__(self, X: Any, index: np.ndarray, n_threads: int, limit: int) -> None:
        self.X, self.index, self.n_threads = X, index, n_threads
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        n = len(index)
        self.K = lazy_array(n * n, dtype).reshape(n, n)
        self.with_distances = 2 * self.K.nbytes <= limit
        self.distances: np.ndarray | None = None
        self.kernel: Kernel | None = None
        self.n_values = self.n_squarings = 0

    @staticmethod
    def n_bytes(n: int, dtype: Any) -> int:
        """The bytes of one matrix."""
        return n * n * (4 if dtype == np.float32 else 8)

    def at(self, kernel: Kernel, cancel: np.ndarray = _native.NEVER, several: bool = False) -> HeldData:
        """The matrix of a kernel with numeric parameters; ``several`` means that more gammas will follow."""
        if kernel != self.kernel:
            squarings = self._squarings(kernel)
            self.kernel = None  # until its matrix is complete: the time may run out
            if isinstance(kernel, RBF) and self.with_distances and (several or self.distances is not None):
                self._map_distances(float(kernel.gamma), cancel)
            elif squarings:
                for _ in range(squarings):
                    np.multiply(self.K, self.K, out=self.K)
                self.n_squarings += squarings
            else:
                self._compute(kernel, cancel)
            self.kernel = kernel
        single = self.K.dtype == np.float32  # rounded from the values of the rows
        source = KernelData(kernel, self.X, self.index, self.n_threads) if single else None
        every = np.arange(len(self.K))
        return HeldData(HeldMatrix(kernel.positive), self.K, every, self.n_threads, source=source)

    def _squarings(self, kernel: Kernel) -> int:
        """The number of squarings from the current gamma to the kernel's; 0 if squaring cannot reach it."""
        before = self.kernel
        if not isinstance(kernel, _OfDistance) or not isinstance(before, type(kernel)):
            return 0
        steps = np.log2(float(kernel.gamma) / float(before.gamma))
        n = round(steps)
        exact = abs(steps - n) <= 4.0 * np.finfo(float).eps * max(1.0, abs(steps))
        return n if exact and 0 < n <= MAX_SQUARINGS - self.n_squarings else 0

    def _compute(self, kernel: Kernel, cancel: np.ndarray) -> None:
        everyone = np.arange(len(self.K))
        data = KernelData(kernel, self.X, self.index, self.n_threads, cancel=cancel)
        data.fill(everyone, everyone, (self.K, everyone, 0))
        self.n_values, self.n_squarings = self.n_values + data.n_values, 0

    def _map_distances(self, gamma: float, cancel: np.ndarray) -> None:
        """``K = exp(-gamma D)``."""
        if self.distances is None:
            distances = lazy_array(self.K.size, self.K.dtype).reshape(self.K.shape)
            _native.kernel_block(
                self.X,
                self.X,
                _SquaredDistance(),
                x_rows=self.index,
                z_rows=self.index,
                out=distances,
                n_threads=self.n_threads,
                cancel=cancel,
            )
            self.distances = distances
            self.n_values += self.K.size
        D, scale = self.distances, self.K.dtype.type(-gamma)

        def work(first: int) -> None:
            some = slice(first, first + ROWS_PER_BLOCK)
            np.multiply(D[some], scale, out=self.K[some])
            _native.exp(self.K[some], self.K[some])

        with _native.ThreadPool(self.n_threads) as executor:
            list(executor.map(work, range(0, len(D), ROWS_PER_BLOCK)))

"""Streams under a budget: batches are refitted on a sample of all rows so far, or by steps as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...base import KernelClassifier, learn_batch, with_callbacks
from ...data import Rows, WeightedRows
from ...kernels import join_points
from ...solving import Callback, SolverResult
from .data import Start, as_in, with_support
from .growth_sample import LEAST, ROWS_PER_SUPPORT_VECTOR
from .problem import BudgetResult
from .published import Published


class BudgetStream(KernelClassifier):
    """The part of ``SparseKernelClassifier`` behind ``partial_fit``."""

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of a stream.

        The published method (``refit=None``) takes the rows in the order given. Otherwise the model is fitted
        again to a sample of the stream so far, this batch included.

        After ``fit`` it continues from the fitted model. A gamma given by name is taken from the first batch.
        ``support_`` is None afterwards, because support vectors of earlier batches are not rows of this X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            The classes of all batches. Needed in the first call, optional later.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        learn_batch(self, X, y, classes, sample_weight)
        return self

    def _learn_batch(self, data: WeightedRows, first: bool, callback: Callback | None) -> BudgetResult:
        """Own method: a warm refit, with swaps, on a sample of the stream. Published: go on stepping."""
        if not first and self.n_support_ > self.budget:
            raise ValueError(
                f"there are {self.n_support_} support vectors, more than budget={self.budget}: a budget "
                "cannot shrink within a stream. Use truncate, or call fit to begin anew."
            )
        start = None if first else Start(self.support_vectors_, self.dual_coef_.T, None, self.t_)
        self._fitted_on, self._foreign = data, True
        if self.refit is None:
            stream = Published(self, data, 0, start, self._stop())
            return stream.go_on(None if first else self.alpha_, callback)
        data = self._sample_of_stream(data, first)
        positions = None
        if start is not None:
            data, positions, _ = with_support(data, start.points, None)
        self._fitted_on = data
        return self._greedy(data, 0, positions, start, self._stop(), callback)

    def _sample_of_stream(self, data: WeightedRows, first: bool) -> WeightedRows:
        """The stream so far, this batch included, as a sample of bounded size."""
        before = None if first else getattr(self, "_reservoir", None)
        if before is None and not first and getattr(self, "_training", None) is not None:
            before = Reservoir.of(self._training[0], self._rng(2, 0))
        n_batches = 1 if first else getattr(self, "_n_batches", 0) + 1
        batch = Reservoir.of(data, self._rng(2, n_batches))
        size = max(ROWS_PER_SUPPORT_VECTOR * self.budget, LEAST)
        sample = batch.cut(size) if before is None else before.joined(batch, size)
        self._stream_so_far = sample, n_batches  # kept once the batch is done, not if it is interrupted
        return sample.rows(data.rows.n_threads)

    def _store_batch(self, result: SolverResult, data: WeightedRows, first: bool) -> None:
        self.__dict__.pop("_training", None)
        if self.refit is not None:
            self._reservoir, self._n_batches = self.__dict__.pop("_stream_so_far")
        self._store([result], data)


@dataclass(frozen=True)
class Reservoir:
    """Rows of a stream, each kept with probability proportional to its weight.

    Row i draws the key ``-log(u_i) / w_i`` and those with the smallest keys stay (Efraimidis and Spirakis
    2006). While every row is kept it counts with its own weight, afterwards each stands for an equal share of
    the weight seen.
    """

    X: Any
    labels: np.ndarray
    weight: np.ndarray
    keys: np.ndarray
    seen: float  # weight of all rows that went by
    complete: bool  # whether they are all here

    @classmethod
    def of(cls, data: WeightedRows, rng: np.random.Generator) -> Reservoir:
        """All rows of a batch."""
        keys = rng.standard_exponential(len(data.labels)) / data.weight
        X = data.rows.X[data.rows.index]
        return cls(X, data.labels, data.weight, keys, float(data.weight.sum()), True)

    def joined(self, later: Reservoir, size: int) -> Reservoir:
        """This stream followed by another, cut to ``size`` rows."""
        X = join_points(self.X, as_in(self.X, later.X))
        labels, weight, keys = (
            np.concatenate([getattr(self, name), getattr(later, name)])
            for name in ("labels", "weight", "keys")
        )
        complete = self.complete and later.complete
        return Reservoir(X, labels, weight, keys, self.seen + later.seen, complete).cut(size)

    def cut(self, size: int) -> Reservoir:
        """The rows with the smallest keys, in the order of the keys, which is random."""
        order = np.argsort(self.keys, kind="stable")[:size]
        complete = self.complete and len(self.keys) <= size
        return Reservoir(
            self.X[order], self.labels[order], self.weight[order], self.keys[order], self.seen, complete
        )

    def rows(self, n_threads: int) -> WeightedRows:
        """The sample as data of a fit, standing for the whole stream."""
        n = len(self.labels)
        weight = self.weight if self.complete else np.full(n, self.seen / n)
        return WeightedRows(Rows(self.X, np.arange(n), n_threads), self.labels, weight)

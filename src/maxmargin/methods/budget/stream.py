"""Streams under a budget: batches are learnt from a sample of all that went by, or by steps as published."""

from __future__ import annotations

from ...base import StreamingKernelClassifier
from ...data import WeightedRows
from ...solving import Callback, SolverResult
from .data import Start, with_support
from .growth_sample import LEAST, ROWS_PER_SUPPORT_VECTOR
from .problem import BudgetResult
from .published import Published
from .reservoir import Reservoir


class BudgetStream(StreamingKernelClassifier):
    """The part of ``SparseKernelClassifier`` behind ``partial_fit``."""

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
        self._stream_so_far = sample, n_batches  # kept once the batch is learnt, not if it is broken off
        return sample.rows(data.rows.n_threads)

    def _store_batch(self, result: SolverResult, data: WeightedRows, first: bool) -> None:
        self.__dict__.pop("_training", None)
        if self.refit is not None:
            self._reservoir, self._n_batches = self.__dict__.pop("_stream_so_far")
        self._store([result], data)

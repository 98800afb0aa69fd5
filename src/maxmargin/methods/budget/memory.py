"""Training data that a fitted model remembers: a reference to its rows, or a sample of its stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Rows, WeightedRows
from ...kernels import join_points
from .data import SplitRows, as_in


@dataclass(frozen=True)
class TrainingMemory:
    """The rows of the last ``fit``, or a sample of a stream of ``n_batches`` batches.

    The published method keeps no sample: ``n_rows`` counts the rows that it has seen.

    ``rows`` is a reference to the training data, which ``truncate`` refits on. Pickles, copies and model
    files never contain it. ``reservoir``, which they do contain, is what the next ``partial_fit`` refits on.
    """

    rows: SplitRows | None = None
    reservoir: Reservoir | None = None
    n_batches: int = 0
    n_rows: int = 0

    @property
    def held_out_weight(self) -> float:
        """Total weight of the rows that the last fit held out."""
        return 0.0 if self.rows is None else float(self.rows.data.weight[self.rows.n_trained :].sum())

    def without_rows(self) -> TrainingMemory:
        """The part that a pickle or a copy keeps."""
        return replace(self, rows=None)

    def with_batch(
        self, data: WeightedRows, size: int, rng: Callable[[int], np.random.Generator]
    ) -> TrainingMemory:
        """A sample, of at most ``size`` rows, of all up to this batch; ``rng(k)`` is for batch k."""
        before, n_batches = self.reservoir, self.n_batches + 1
        if before is None and self.rows is not None:
            before = Reservoir.of(self.rows.data, rng(0))
        batch = Reservoir.of(data, rng(n_batches))
        sample = batch.cut(size) if before is None else before.joined(batch, size)
        return TrainingMemory(reservoir=sample, n_batches=n_batches)


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
    seen: float  # weight of all rows of the stream
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

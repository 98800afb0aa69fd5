"""A uniform sample of a stream, of bounded size: what a refit can still see of the rows that went by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data import Rows, WeightedRows
from ...kernels import join_points
from .data import as_in


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

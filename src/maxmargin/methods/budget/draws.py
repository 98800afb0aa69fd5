"""Draws from the rows that are still candidates, with probability proportional to their weights.

Rows are proposed from all of them, at a cost that does not grow with their number, and those that are no
candidates are refused, which is what drawing among the rest means. Where refusals would be the rule, the
rest is written out and drawn from directly.
"""

from __future__ import annotations

import numpy as np

ROUNDS = 4  # of proposals, before the rest is written out
FEW = 4  # times the size of a draw: so few candidates are written out at once


class Pool:
    """The candidates among rows of given weights, all positive; ``taken`` are none any more."""

    def __init__(self, weight: np.ndarray, taken: np.ndarray) -> None:
        self.weight = weight
        self.free = np.ones(len(weight), dtype=bool)
        self.free[taken] = False
        self.n_left = int(self.free.sum())
        equal = len(weight) == 0 or bool((weight == weight[0]).all())
        self.cumulative = None if equal else np.cumsum(weight)

    def remove(self, row: int) -> None:
        """This candidate is none any more."""
        self.free[row] = False
        self.n_left -= 1

    def distinct(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """So many different candidates, or all of them, one after the other out of those not drawn yet."""
        size, found = min(size, self.n_left), {}
        if FEW * size < self.n_left:
            for _ in range(ROUNDS):
                proposed = self._propose(rng, size + size // 2, self.cumulative)
                found.update(dict.fromkeys(proposed[self.free[proposed]].tolist()))
                if len(found) >= size:
                    return np.array(list(found)[:size], dtype=np.int64)
        drawn = np.array(list(found), dtype=np.int64)
        left = self.free.copy()
        left[drawn] = False
        rest = np.flatnonzero(left)
        # The first of several exponential clocks to ring is each with probability proportional to its rate.
        order = np.argsort(rng.standard_exponential(len(rest)) / self.weight[rest])
        return np.concatenate([drawn, rest[order[: size - len(drawn)]]])

    def repeated(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """So many independent draws of a candidate, or of any row where there are no candidates left."""
        if self.n_left == 0:
            return self._propose(rng, size, self.cumulative)
        found = np.zeros(0, dtype=np.int64)
        for _ in range(ROUNDS):
            proposed = self._propose(rng, size + size // 8, self.cumulative)
            found = np.concatenate([found, proposed[self.free[proposed]]])
            if len(found) >= size:
                return found[:size]
        rest = np.flatnonzero(self.free)
        chosen = self._propose(rng, size - len(found), np.cumsum(self.weight[rest]))
        return np.concatenate([found, rest[chosen]])

    def _propose(self, rng: np.random.Generator, size: int, cumulative: np.ndarray | None) -> np.ndarray:
        """Positions drawn in proportion to the steps of a cumulative sum; all rows alike where it is None."""
        if cumulative is None:
            return rng.integers(len(self.weight), size=size)
        found = cumulative.searchsorted(rng.random(size) * cumulative[-1], side="right")
        return np.minimum(found, len(cumulative) - 1)  # the product may have been rounded up to the total

"""Rows sorted by class, each class in the order given."""

from __future__ import annotations

from functools import cached_property

import numpy as np

__all__ = ["RowsByClass"]


class RowsByClass:
    """``order`` lists the rows; those of class c are at ``starts[c] : starts[c + 1]`` in it."""

    def __init__(self, labels: np.ndarray, n_classes: int) -> None:
        self.order = np.argsort(labels, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=n_classes))])

    def __len__(self) -> int:
        return len(self.order)

    def size(self, c: int) -> int:
        """The number of rows of a class."""
        return int(self.starts[c + 1] - self.starts[c])

    def of_pair(self, first: int, second: int) -> np.ndarray:
        """Positions in ``order`` of the rows of two classes, one class after the other."""
        return np.concatenate([np.arange(self.starts[c], self.starts[c + 1]) for c in (first, second)])

    @cached_property
    def largest_pair(self) -> int:
        """The number of rows of the two largest classes."""
        return int(np.sort(np.diff(self.starts))[-2:].sum())

    def pair_sizes(self) -> np.ndarray:
        """The number of rows of each pair (0, 1), (0, 2), ..., (1, 2), ..."""
        sizes = np.diff(self.starts)
        first, second = np.triu_indices(len(sizes), k=1)
        return np.asarray(sizes[first] + sizes[second])

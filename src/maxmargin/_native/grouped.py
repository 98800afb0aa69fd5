"""Matrices whose rows come in groups, each with columns of its own: coefficients under a sparse code."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["GroupedMatrix", "columns_of_groups"]


@dataclass(frozen=True, eq=False)
class GroupedMatrix:
    """A matrix A whose rows ``starts[g]:starts[g + 1]`` are ``blocks[g]`` in ``columns[g]`` and 0 elsewhere.

    ``K @ A`` multiplies the blocks alone. In one-vs-one with k classes that is 2 / k of the whole product.
    """

    starts: np.ndarray
    columns: list[np.ndarray]
    blocks: list[np.ndarray]
    n_columns: int

    __array_ufunc__ = None  # K @ A is ours to compute, whatever K is

    @classmethod
    def cut(cls, dense: np.ndarray, starts: np.ndarray, used: np.ndarray) -> GroupedMatrix:
        """The rows of a matrix in groups, of which group g has entries in the columns ``used[g]`` alone."""
        columns = [np.flatnonzero(of_group) for of_group in used]
        blocks = [dense[first:end, chosen] for (first, end), chosen in zip(pairwise(starts), columns)]
        return cls(starts, columns, blocks, dense.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        return int(self.starts[-1]), self.n_columns

    def __rmatmul__(self, K: Any) -> np.ndarray:
        """``K @ A``."""
        out = np.zeros((K.shape[0], self.n_columns))
        for (first, end), columns, block in zip(pairwise(self.starts), self.columns, self.blocks):
            out[:, columns] += K[:, first:end] @ block
        return out


def columns_of_groups(dense: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """For each group of rows of a matrix, whether a column has an entry there that is not 0."""
    return np.array([(dense[first:end] != 0.0).any(axis=0) for first, end in pairwise(starts)])

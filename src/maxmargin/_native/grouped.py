"""Matrices whose rows form groups with different non-zero columns: the coefficients of a sparse code."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["GroupedMatrix", "columns_of_groups"]


@dataclass(frozen=True, eq=False)
class GroupedMatrix:
    """A matrix A whose rows ``starts[g]:starts[g + 1]`` are ``blocks[g]`` in ``columns[g]`` and 0 elsewhere.

    ``K @ A`` multiplies only the blocks. In one-vs-one with k classes this is 2 / k of the full product.
    """

    starts: np.ndarray
    columns: list[np.ndarray]
    blocks: list[np.ndarray]
    n_columns: int
    flat: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # column_starts, columns and values

    __array_ufunc__ = None  # so that K @ A calls __rmatmul__ for any K

    @classmethod
    def cut(cls, dense: np.ndarray, starts: np.ndarray, used: np.ndarray) -> GroupedMatrix:
        """Group the rows of a matrix whose group g is non-zero only in the columns ``used[g]``."""
        columns = [np.flatnonzero(of_group) for of_group in used]
        blocks = [dense[first:end, chosen] for (first, end), chosen in zip(pairwise(starts), columns)]
        return cls(starts, columns, blocks, dense.shape[1])

    @classmethod
    def of_pairs(cls, coef: np.ndarray, starts: np.ndarray, columns: np.ndarray) -> GroupedMatrix:
        """Coefficients of one-vs-one, (n_rows, n_classes - 1), and the columns of each class, as many."""
        n_classes, width = columns.shape
        flat = width * np.arange(n_classes + 1), columns.ravel(), coef.ravel()
        blocks = [coef[first:end] for first, end in pairwise(starts.tolist())]
        return cls(starts, list(columns), blocks, n_classes * width // 2, flat)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the full matrix."""
        return int(self.starts[-1]), self.n_columns

    def __rmatmul__(self, K: Any) -> np.ndarray:
        """``K @ A``."""
        out = np.zeros((K.shape[0], self.n_columns))
        for (first, end), columns, block in zip(pairwise(self.starts), self.columns, self.blocks):
            out[:, columns] += K[:, first:end] @ block
        return out


def columns_of_groups(dense: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """For each group of rows, which columns have a non-zero entry."""
    return np.array([(dense[first:end] != 0.0).any(axis=0) for first, end in pairwise(starts)])

"""One-vs-one as a code without a stored matrix, which for many classes would be larger than the model."""

from __future__ import annotations

from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .family import Code, check_n_classes, check_size

__all__ = ["PairCode", "one_vs_one"]

IntArray = NDArray[np.intp]


class PairCode(Code):
    """All pairs (0, 1), (0, 2), ..., (1, 2), ...: of the pair (i, j) with i < j, j is +1 and i is -1.

    Equal to the ``Code`` with the same matrix and the name "one-vs-one". ``matrix`` is made when it is asked
    for, and is not pickled.

    Parameters
    ----------
    n_classes : int

    Examples
    --------
    >>> from maxmargin.codes import PairCode
    >>> PairCode(100).n_columns
    4950
    """

    name = "one-vs-one"
    _n_classes: int

    def __init__(self, n_classes: int) -> None:
        check_n_classes(n_classes)
        check_size("one-vs-one", n_classes, n_classes * (n_classes - 1) // 2)
        object.__setattr__(self, "_n_classes", int(n_classes))

    def __reduce__(self) -> Any:
        """Pickled as the number of classes."""
        return PairCode, (self._n_classes,)

    def __eq__(self, other: object) -> bool:
        """Whether name and matrix are equal."""
        if isinstance(other, PairCode):
            return self._n_classes == other._n_classes
        return super().__eq__(other)

    __hash__ = Code.__hash__

    def __repr__(self) -> str:
        """The number of classes says all."""
        return f"PairCode(n_classes={self._n_classes})"

    @cached_property
    def matrix(self) -> NDArray[np.int8]:
        """The code matrix, (n_classes, n_columns)."""
        return self._columns_matrix(np.arange(self.n_columns))

    def _columns_matrix(self, columns: IntArray) -> NDArray[np.int8]:
        first, second = self.pairs[:, columns]
        matrix = np.zeros((self._n_classes, len(columns)), dtype=np.int8)
        places = np.arange(len(columns))
        matrix[first, places], matrix[second, places] = -1, 1
        matrix.setflags(write=False)
        return matrix

    @property
    def n_classes(self) -> int:
        """The number of rows."""
        return int(self._n_classes)

    @property
    def n_columns(self) -> int:
        """The number of binary problems."""
        return self.n_classes * (self.n_classes - 1) // 2

    @property
    def n_columns_of_classes(self) -> NDArray[np.float64]:
        """The number of columns that each class takes part in."""
        return np.full(self.n_classes, self.n_classes - 1.0)

    @cached_property
    def pairs(self) -> IntArray:
        """The first and the second class of each column, (2, n_columns)."""
        return np.array(np.triu_indices(self.n_classes, k=1))

    def pair(self, t: int) -> tuple[int, int]:
        """The classes of column t."""
        k = 2 * self.n_classes - 1
        i = (k - isqrt(k * k - 8 * t)) // 2
        i -= i * (k - i) // 2 > t  # the square root was rounded down
        return i, t - i * (k - i) // 2 + i + 1

    @cached_property
    def columns_of_classes(self) -> IntArray:
        """The columns of each class, by the other class in ascending order, (n_classes, n_classes - 1)."""
        k = self.n_classes
        number = np.zeros((k, k), dtype=np.int64)
        first, second = self.pairs
        number[first, second] = number[second, first] = np.arange(self.n_columns)
        return number[~np.eye(k, dtype=bool)].reshape(k, k - 1)

    def column(self, labels: IntArray, t: int) -> tuple[IntArray, NDArray[np.float64]]:
        """The binary problem of column t: its rows, and their targets -1.0 or +1.0."""
        first, second = self.pair(t)
        rows = np.flatnonzero((labels == first) | (labels == second))
        return rows, np.where(labels[rows] == second, 1.0, -1.0)

    def part(self, columns: IntArray) -> Code:
        """A subset of the columns, to solve but not to decode, since its rows may be equal."""
        return self._part(self._columns_matrix(np.arange(self.n_columns)[columns]))


def one_vs_one(n_classes: int) -> Code:
    """One column per pair, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Of the pair (i, j) with i < j, j is +1 and i is -1: positive means the second class, as with two
    classes in scikit-learn and as in its ``OneVsOneClassifier`` (LIBSVM's columns have the other sign).

    Parameters
    ----------
    n_classes : int

    Examples
    --------
    >>> from maxmargin.codes import one_vs_one
    >>> one_vs_one(3).matrix
    array([[-1, -1,  0],
           [ 1,  0, -1],
           [ 0,  1,  1]], dtype=int8)
    """
    return PairCode(n_classes)

"""Codes: every reduction of many classes to binary problems is one matrix with entries -1, 0, +1."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CODES", "Code", "code_from_name", "one_vs_one", "one_vs_rest"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
CodeMatrix = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Code:
    """A ternary code: column t trains one classifier, on the classes with a non-zero entry.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns), entries -1, 0, +1
        Every column needs both signs and may neither repeat another nor be its complement; rows differ
        pairwise. Kept as a read-only int8 array.
    name : str
        What the code is called in messages, and what ``decoder="auto"`` looks at.

    Warns
    -----
    UserWarning
        When some class has ``row_margins() <= 0``: even perfect columns can then decode wrongly.
    """

    matrix: CodeMatrix
    name: str = "user"

    def __post_init__(self) -> None:
        """Check the matrix, and keep a copy that cannot change."""
        matrix = _checked(self.matrix)
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)
        weak = np.flatnonzero(self.row_margins() <= 0)
        if weak.size:
            warnings.warn(
                f"Code {self.name!r} cannot tell classes {weak.tolist()} apart from all others: even perfect "
                "columns can decode wrongly. Add columns, or remove zeros, until row_margins() > 0.",
                stacklevel=3,
            )

    def __eq__(self, other: object) -> bool:
        """Whether name and matrix are the same."""
        if not isinstance(other, Code):
            return NotImplemented
        return self.name == other.name and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        """Equal codes hash alike."""
        return hash((self.name, self.matrix.shape, self.matrix.tobytes()))

    def __deepcopy__(self, memo: dict[int, Any]) -> Code:
        """The code itself: it cannot change."""
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled arrays are writeable; this one goes back to read-only."""
        state["matrix"].setflags(write=False)
        self.__dict__.update(state)

    @property
    def n_classes(self) -> int:
        """The number of rows."""
        return self.matrix.shape[0]

    @property
    def n_columns(self) -> int:
        """The number of binary problems."""
        return self.matrix.shape[1]

    @property
    def minimum_distance(self) -> float:
        """Rho: the least distance between two rows, ``d(a, b) = sum_t (1 - a_t b_t) / 2``."""
        M = self.matrix.astype(np.float64)
        distance = (self.n_columns - M @ M.T) / 2
        return float(distance[~np.eye(self.n_classes, dtype=bool)].min())

    def row_margins(self) -> FloatArray:
        """``r_y`` of each class: Hamming decoding corrects fewer than ``r_y / 2`` wrong outputs.

        ``r_y = min over y' != y of #{t: c_yt c_y't = -1} + (Z_y' - Z_y) / 2`` with ``Z_y`` the zeros of
        row y; the outputs counted are those at the non-zero entries of row y.
        """
        M = self.matrix.astype(np.float64)
        opposed = (np.abs(M) @ np.abs(M).T - M @ M.T) / 2
        n_zeros = (M == 0).sum(axis=1)
        r = opposed + (n_zeros[None, :] - n_zeros[:, None]) / 2
        np.fill_diagonal(r, np.inf)
        return r.min(axis=1)

    def targets(self, labels: IntArray) -> CodeMatrix:
        """The row of each sample's class, ``(n_samples, n_columns)``; labels are ``0 .. n_classes-1``."""
        return self.matrix[labels]

    def column(self, labels: IntArray, t: int) -> tuple[IntArray, FloatArray]:
        """The binary problem of column t: the rows that take part, and their targets -1.0 or +1.0."""
        entries = self.matrix[:, t].take(labels)
        rows = np.flatnonzero(entries)
        return rows, entries[rows].astype(np.float64)


def _checked(matrix: Any) -> CodeMatrix:
    given = np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise ValueError(
            f"A code matrix has shape (n_classes >= 2, n_columns >= 1); got an array of shape {given.shape}."
        )
    if given.dtype.kind not in "iuf" or not np.isin(given, (-1, 0, 1)).all():
        wrong = np.setdiff1d(given, (-1, 0, 1)).tolist()[:3] if given.dtype.kind in "iuf" else given.dtype
        raise ValueError(f"The entries of a code matrix are -1, 0 or +1; got {wrong}.")
    M = given.astype(np.int8)
    one_signed = np.flatnonzero((M.min(axis=0) >= 0) | (M.max(axis=0) <= 0))
    if one_signed.size:
        raise ValueError(f"Every column of a code needs both signs; columns {one_signed.tolist()} do not.")
    # A column and its complement pose one problem: compare columns whose first non-zero entry is +1.
    first = M[np.argmax(M != 0, axis=0), np.arange(M.shape[1])]
    if (pair := _first_repeated(np.ascontiguousarray((M * first).T))) is not None:
        raise ValueError(f"Columns {pair[0]} and {pair[1]} of a code are equal or complementary; drop one.")
    if (pair := _first_repeated(np.ascontiguousarray(M))) is not None:
        raise ValueError(
            f"Rows {pair[0]} and {pair[1]} of a code are equal, so their classes cannot be told apart."
        )
    return M


def _first_repeated(rows: CodeMatrix) -> tuple[int, int] | None:
    """The first pair of equal rows."""
    seen: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        if (earlier := seen.setdefault(row.tobytes(), i)) != i:
            return earlier, i
    return None


def one_vs_rest(n_classes: int) -> Code:
    """Column t is class t (+1) against all others (-1); two classes take one column, class 1 being +1."""
    _check_n_classes(n_classes)
    if n_classes == 2:
        return Code(np.array([[-1], [1]], dtype=np.int8), "one-vs-rest")
    return Code(2 * np.eye(n_classes, dtype=np.int8) - 1, "one-vs-rest")


def one_vs_one(n_classes: int) -> Code:
    """One column per pair, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Of the pair (i, j) with i < j, j is +1 and i is -1: positive means the second class, as with two
    classes in scikit-learn and as in its ``OneVsOneClassifier`` (LIBSVM's columns have the other sign).
    """
    _check_n_classes(n_classes)
    i, j = np.triu_indices(n_classes, k=1)
    matrix = np.zeros((n_classes, len(i)), dtype=np.int8)
    columns = np.arange(len(i))
    matrix[i, columns], matrix[j, columns] = -1, 1
    return Code(matrix, "one-vs-one")


def _check_n_classes(n_classes: int) -> None:
    if n_classes < 2:
        raise ValueError(f"A code needs at least 2 classes; got {n_classes}.")


CODES: dict[str, Callable[[int], Code]] = {"one-vs-one": one_vs_one, "one-vs-rest": one_vs_rest}


def code_from_name(code: str | Code, n_classes: int) -> Code:
    """The code of that family for ``n_classes``; a ``Code`` is returned as it is, if its size fits."""
    if isinstance(code, Code):
        if code.n_classes != n_classes:
            raise ValueError(
                f"code has rows for {code.n_classes} classes, but there are {n_classes}: give a row for each."
            )
        return code
    if isinstance(code, str) and code in CODES:
        return CODES[code](n_classes)
    raise ValueError(f"code must be a Code or one of {sorted(CODES)}; got {code!r}.")

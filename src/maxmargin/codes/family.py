"""Codes: every reduction of many classes to binary problems is one matrix with entries -1, 0, +1."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ..data import check_number, check_sample_weight
from .columns import all_columns, checked_n_columns
from .design import designed_matrix, pair_weights
from .distances import TrainingErrorBound, minimum_distance, row_margins, training_error_bound
from .random_draws import random_matrix

__all__ = ["Code", "check_n_classes", "check_size", "one_vs_rest"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
CodeMatrix = NDArray[np.int8]

MAX_EXHAUSTIVE_CLASSES = 12  # 2,047 columns
MAX_ENTRIES = 1 << 30  # of a matrix that is made from its name; as int8, 1 GiB
MAX_COMPARED_CLASSES = 10_000  # minutes


@dataclass(frozen=True, eq=False)
class Code:
    """A ternary code: column t trains one classifier, on the classes with a non-zero entry.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns), entries -1, 0, +1
        Every column needs both signs and may neither repeat another nor be its complement; rows differ
        pairwise. Kept as a read-only int8 array.
    name : str
        The name in messages, from which ``decoder="auto"`` chooses.

    Warns
    -----
    UserWarning
        If some class has ``row_margins() <= 0``: even perfect columns may then be decoded wrongly.

    Examples
    --------
    >>> from maxmargin.codes import Code
    >>> Code([[1, 1, 0], [-1, 0, 1], [0, -1, -1]]).row_margins()
    array([1., 1., 1.])
    """

    matrix: CodeMatrix
    name: str = "user"

    def __post_init__(self) -> None:
        """Check the matrix and keep a read-only copy."""
        matrix = _checked(self.matrix)
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)
        if self.matrix.all():
            return  # rows differ, and without zeros every difference counts
        weak = np.flatnonzero(self.row_margins() <= 0)
        if weak.size:
            warnings.warn(
                f"Code {self.name!r} cannot tell classes {weak.tolist()} apart from all others: even perfect "
                "columns may be decoded wrongly. Add columns, or remove zeros, until row_margins() > 0.",
                stacklevel=3,
            )

    def __eq__(self, other: object) -> bool:
        """Whether name and matrix are equal."""
        if not isinstance(other, Code):
            return NotImplemented
        return self.name == other.name and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        """Equal codes hash alike."""
        return hash((self.name, self.n_classes, self.n_columns))

    def __deepcopy__(self, memo: dict[int, Any]) -> Code:
        """The code itself: it cannot change."""
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the unpickled matrix read-only again."""
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
    def n_columns_of_classes(self) -> FloatArray:
        """The number of columns that each class takes part in."""
        return np.asarray(np.abs(self.matrix).sum(axis=1, dtype=np.float64))

    @property
    def minimum_distance(self) -> float:
        """Rho: the smallest distance between two rows, ``d(a, b) = sum_t (1 - a_t b_t) / 2``."""
        return float(minimum_distance(self.matrix))

    def row_margins(self) -> FloatArray:
        """``r_y`` of each class: Hamming decoding corrects fewer than ``r_y / 2`` wrong outputs.

        ``r_y = min over y' != y of #{t: c_yt c_y't = -1} + (Z_y' - Z_y) / 2`` with ``Z_y`` the zeros of
        row y; the outputs counted are those at the non-zero entries of row y.
        """
        return row_margins(self.matrix)

    def training_error_bound(
        self, F: ArrayLike, labels: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> TrainingErrorBound:
        """Bounds on the error rate of Hamming decoding of these outputs.

        Parameters
        ----------
        F : array-like of shape (n_samples, n_columns)
            The outputs of the columns, or their signs. An output of 0 counts as wrong.
        labels : array-like of shape (n_samples,)
            The true classes, as numbers ``0 .. n_classes-1``.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        TrainingErrorBound
            ``printed``, ``refined`` and ``column_errors``.
        """
        F, labels = np.asarray(F, dtype=np.float64), np.asarray(labels)
        if F.ndim != 2 or F.shape[1] != self.n_columns or labels.shape != F.shape[:1] or not len(F):
            raise ValueError(
                f"F must have a row for each label and {self.n_columns} columns, as the code has; got F of "
                f"shape {F.shape} and labels of shape {labels.shape}."
            )
        if not np.isin(labels, np.arange(self.n_classes)).all():
            raise ValueError(f"labels must be integers from 0 to {self.n_classes - 1}, the rows of the code.")
        weight = check_sample_weight(sample_weight, len(F))
        return training_error_bound(self.matrix, F, labels.astype(np.intp), weight)

    def targets(self, labels: IntArray) -> CodeMatrix:
        """The row of each sample's class, ``(n_samples, n_columns)``; labels are ``0 .. n_classes-1``."""
        return self.matrix[labels]

    def column(self, labels: IntArray, t: int) -> tuple[IntArray, FloatArray]:
        """The binary problem of column t: its rows, and their targets -1.0 or +1.0."""
        entries = self.matrix[:, t].take(labels)
        rows = np.flatnonzero(entries)
        return rows, entries[rows].astype(np.float64)

    def part(self, columns: IntArray) -> Code:
        """A subset of the columns, to solve but not to decode, since its rows may be equal."""
        return self._part(np.ascontiguousarray(self.matrix[:, columns]))

    def _part(self, matrix: CodeMatrix) -> Code:
        part = object.__new__(Code)
        object.__setattr__(part, "matrix", matrix)
        object.__setattr__(part, "name", f"part of {self.name}")
        part.matrix.setflags(write=False)
        return part

    @classmethod
    def exhaustive(cls, n_classes: int) -> Code:
        """All ``2^(n_classes-1) - 1`` columns without zeros, for up to 12 classes."""
        check_n_classes(n_classes)
        if n_classes > MAX_EXHAUSTIVE_CLASSES:
            raise ValueError(
                f"An exhaustive code has 2^(n_classes-1) - 1 columns, so it is limited to "
                f"{MAX_EXHAUSTIVE_CLASSES} classes; got {n_classes}. Use Code.designed or Code.dense_random."
            )
        return cls(all_columns(n_classes).T, "exhaustive")

    @classmethod
    def dense_random(cls, n_classes: int, n_columns: int | None = None, random_state: Any = 0) -> Code:
        """Columns of -1 and +1: the draw with the largest minimum distance out of many.

        Parameters
        ----------
        n_classes : int
        n_columns : int, optional
            By default ``10 log2 n_classes``, rounded up, or all ``2^(n_classes-1) - 1`` that exist.
        random_state : int, RandomState or None, default=0
            The same seed gives the same code.

        Returns
        -------
        Code
        """
        return cls._random("dense", n_classes, n_columns, random_state)

    @classmethod
    def sparse_random(cls, n_classes: int, n_columns: int | None = None, random_state: Any = 0) -> Code:
        """Entries 0 with probability 1/2, -1 and +1 with 1/4 each: the best of many draws.

        The best has the largest minimum distance among those with ``row_margins() > 0``. For more than 16
        classes the numbers of zeros per row differ by at most one.

        Parameters
        ----------
        n_classes : int
        n_columns : int, optional
            By default ``15 log2 n_classes``, rounded up, or all ``(3^n_classes - 2^(n_classes+1) + 1) / 2``
            that exist.
        random_state : int, RandomState or None, default=0
            The same seed gives the same code.

        Returns
        -------
        Code
        """
        return cls._random("sparse", n_classes, n_columns, random_state)

    @classmethod
    def _random(cls, kind: str, n_classes: int, n_columns: int | None, random_state: Any) -> Code:
        check_n_classes(n_classes)
        check_size(f"{kind} random", n_classes)
        zeros, columns_per_bit = kind == "sparse", {"dense": 10, "sparse": 15}[kind]
        n_columns = checked_n_columns(n_classes, n_columns, columns_per_bit, zeros, f"{kind} random")
        return cls(random_matrix(n_classes, n_columns, zeros, _generator(random_state)), f"{kind}-random")

    @classmethod
    def designed(
        cls,
        n_classes: int,
        n_columns: int | None = None,
        confusions: ArrayLike | None = None,
        random_state: Any = 0,
    ) -> Code:
        """Columns of -1 and +1, chosen by local search for a large minimum distance.

        Parameters
        ----------
        n_classes : int
        n_columns : int, optional
            From ``log2 n_classes`` to ``2^(n_classes-1) - 1``; by default as many as a dense random code has.
        confusions : array-like of shape (n_classes, n_classes), optional
            Counts or rates >= 0 of predicting one class for another. The search then maximises the smallest
            ``d(y, y') / (1 + s_yy')``, with ``s`` the confusions in both directions divided by the largest:
            the most confused pair gets up to twice the distance of a pair that is never confused.
        random_state : int, RandomState or None, default=0
            The same seed gives the same code.

        Returns
        -------
        Code
        """
        check_n_classes(n_classes)
        check_size("designed", n_classes)
        n_columns = checked_n_columns(n_classes, n_columns, 10, False, "designed")
        weights = pair_weights(n_classes, confusions)
        return cls(designed_matrix(n_classes, n_columns, weights, _generator(random_state)), "designed")


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
    # A column and its complement pose the same problem: compare columns whose first non-zero entry is +1.
    first = M[np.argmax(M != 0, axis=0), np.arange(M.shape[1])]
    if (pair := _first_repeated(np.ascontiguousarray((M * first).T))) is not None:
        raise ValueError(f"Columns {pair[0]} and {pair[1]} of a code are equal or complementary; drop one.")
    if (pair := _first_repeated(np.ascontiguousarray(M))) is not None:
        raise ValueError(
            f"Rows {pair[0]} and {pair[1]} of a code are equal, so their classes cannot be separated."
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
    """Column t is class t (+1) against all others (-1); two classes have one column, with +1 for class 1.

    Parameters
    ----------
    n_classes : int

    Examples
    --------
    >>> from maxmargin.codes import one_vs_rest
    >>> one_vs_rest(3).matrix
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    check_n_classes(n_classes)
    if n_classes == 2:
        return Code(np.array([[-1], [1]], dtype=np.int8), "one-vs-rest")
    check_size("one-vs-rest", n_classes, n_classes)
    return Code(2 * np.eye(n_classes, dtype=np.int8) - 1, "one-vs-rest")


def check_n_classes(n_classes: int) -> None:
    """Raise unless there are at least two classes."""
    check_number("n_classes", n_classes, integer=True)
    if n_classes < 2:
        raise ValueError(f"A code needs at least 2 classes; got {n_classes}.")


def check_size(name: str, n_classes: int, n_columns: int = 0) -> None:
    """Refuse what would fill the memory, or take hours, before it does."""
    entries = n_classes * n_columns
    if entries <= MAX_ENTRIES and (n_columns or n_classes <= MAX_COMPARED_CLASSES):
        return
    reason = (
        f"has {n_columns:,} columns, so {entries:,} entries, more than {MAX_ENTRIES:,}"
        if n_columns
        else f"is chosen by comparing all pairs of classes, for up to {MAX_COMPARED_CLASSES:,} of them"
    )
    raise ValueError(
        f"A {name} code of {n_classes:,} classes {reason}. Use fewer classes, or a Code of your own with a "
        "row for each class, such as Code(rng.choice([-1, 1], (n_classes, 200)))."
    )


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(2**31))

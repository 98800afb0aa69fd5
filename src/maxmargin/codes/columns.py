"""Which columns exist, and random choices among them.

A column and its complement pose the same problem. Here the first non-zero entry of a column is -1, so two
classes have the one column (-1, +1).
"""

from __future__ import annotations

from itertools import product
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "all_columns", "checked_n_columns", "column_pool", "n_existing", "usable"]

Columns = NDArray[np.int8]  # (n_columns, n_classes): one column of a code in each row
MAX_ENUMERATED_COLUMNS = 4096


def n_existing(n_classes: int, zeros: bool) -> int:
    """The number of columns with both signs, complements counted once."""
    if zeros:
        return (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    return 2 ** (n_classes - 1) - 1


def checked_n_columns(n_classes: int, n_columns: int | None, factor: int, zeros: bool, family: str) -> int:
    """The number of columns requested; by default ``factor log2 n_classes``, or all that exist."""
    most = n_existing(n_classes, zeros)
    if n_columns is None:
        return min(ceil(factor * log2(n_classes)), most)
    if isinstance(n_columns, bool) or not isinstance(n_columns, int | np.integer):
        raise ValueError(f"n_columns must be an integer or None; got {n_columns!r}.")
    # A row with Z zeros matches 2^Z sign patterns; those of all classes are disjoint among 2^n_columns.
    least = (int(n_classes) - 1).bit_length()
    if n_columns < least:
        raise ValueError(
            f"A {family} code for {n_classes} classes needs at least {least} columns: with fewer, even "
            f"perfect columns cannot separate the classes; got n_columns={n_columns}."
        )
    if n_columns > most:
        raise ValueError(
            f"A {family} code for {n_classes} classes has at most {most} columns, since no more exist "
            f"without repeats and complements; got n_columns={n_columns}."
        )
    return int(n_columns)


def all_columns(n_classes: int, zeros: bool = False) -> Columns:
    """Every column that exists, in lexicographic order."""
    entries = (-1, 0, 1) if zeros else (-1, 1)
    columns = np.array(list(product(entries, repeat=n_classes)), dtype=np.int8)
    return columns[usable(columns) & (_first_entry(columns) == -1)]


def usable(columns: Columns) -> NDArray[np.bool_]:
    """Which columns have both signs."""
    return (columns.min(axis=-1) == -1) & (columns.max(axis=-1) == 1)


def column_pool(
    n_classes: int, n_columns: int, zeros: bool, rng: np.random.Generator
) -> tuple[Columns, NDArray[np.float64]]:
    """Distinct columns to choose ``n_columns`` from, and the probability of each, up to a factor.

    All that exist if they are few; otherwise a sample of at least ``4 n_columns``, drawn entry by entry: +1
    and -1 with equal probability, and 0 with probability 1/2 if zeros are allowed.
    """
    most = n_existing(n_classes, zeros)
    if most <= max(MAX_ENUMERATED_COLUMNS, 8 * n_columns):
        columns = all_columns(n_classes, zeros)
        n_zeros = (columns == 0).sum(axis=1)
        return columns, 2.0 ** (n_zeros - n_zeros.max())
    wanted = max(1024, 4 * n_columns)
    columns = np.empty((0, n_classes), dtype=np.int8)
    while len(columns) < wanted:
        columns = np.concatenate([columns, _drawn((wanted, n_classes), zeros, rng)])
        columns = columns[usable(columns)]
        columns = columns * -_first_entry(columns)[:, None]
        columns = columns[np.sort(np.unique(columns, axis=0, return_index=True)[1])]
    return columns[:wanted], np.ones(wanted)


def _drawn(shape: tuple[int, int], zeros: bool, rng: np.random.Generator) -> Columns:
    entries = 1 - 2 * rng.integers(0, 2, shape, dtype=np.int8)
    return entries * rng.integers(0, 2, shape, dtype=np.int8) if zeros else entries


def _first_entry(columns: Columns) -> Columns:
    """The first non-zero entry of each column; 0 where there is none."""
    return columns[np.arange(len(columns)), np.argmax(columns != 0, axis=1)]

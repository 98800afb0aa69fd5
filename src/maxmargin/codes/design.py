"""Designed codes: columns are exchanged as long as that moves the nearest rows apart.

For columns with entries -1, +1 and weights ``w_yy' >= 1`` of the pairs of classes,

    max over codes of  min over y < y' of  d(y, y') / w_yy'

by local search on the smooth surrogate ``Phi = sum over pairs of 4^-(d / w)``, in which the nearest rows
count most. Exchanging a column multiplies each term by a factor, so one matrix product evaluates
every exchange of a column of the code for a candidate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._native import one_blas_thread
from .columns import Columns, all_columns, column_pool, n_existing, usable

__all__ = ["designed_matrix", "pair_weights"]

FloatArray = NDArray[np.float64]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

MAX_ALL_CANDIDATES = 2047  # up to 12 classes, all columns are candidates
N_STARTS = 10
MAX_MULTIPLICATIONS = 10_000_000_000  # for one code: a few seconds


class _Optimum(NamedTuple):
    """The weighted distance of the nearest rows, Phi, the columns, and the multiplications spent."""

    distance: float
    potential: float
    columns: Columns
    work: int


def pair_weights(n_classes: int, confusions: Any) -> FloatArray:
    """``w_yy' = 1 + s_yy' / max s`` with ``s`` the confusions in both directions added; 1 without any."""
    w = np.ones((n_classes, n_classes))
    if confusions is None:
        return w
    C = np.asarray(confusions, dtype=np.float64)
    if C.shape != (n_classes, n_classes) or not np.isfinite(C).all() or (C < 0).any():
        raise ValueError(
            f"confusions must be a ({n_classes}, {n_classes}) array of finite numbers >= 0, such as "
            f"sklearn.metrics.confusion_matrix returns; got shape {C.shape}"
            + (" with other values." if C.shape == (n_classes, n_classes) else ".")
        )
    most = C[~np.eye(n_classes, dtype=bool)].max()
    share = C / most if most > 0 else C
    both = share + share.T
    np.fill_diagonal(both, 0)
    return w + both / both.max() if most > 0 else w


def designed_matrix(
    n_classes: int, n_columns: int, weights: FloatArray, rng: np.random.Generator
) -> NDArray[np.int8]:
    """The best of several local optima, (n_classes, n_columns)."""
    pairs = np.triu_indices(n_classes, k=1)
    w = weights[pairs]
    work, best = 0, None
    with one_blas_thread():
        for _ in range(N_STARTS):
            found = _climb(_start(n_classes, n_columns, rng), pairs, w, rng, MAX_MULTIPLICATIONS - work)
            work += found.work
            if best is None or (found.distance, -found.potential) > (best.distance, -best.potential):
                best = found
            if work >= MAX_MULTIPLICATIONS or n_columns == n_existing(n_classes, zeros=False):
                break
    assert best is not None
    columns = best.columns if best.distance > 0 else _counting(n_classes, n_columns, rng)
    return columns[np.lexsort(columns.T[::-1])].T


def _start(n_classes: int, n_columns: int, rng: np.random.Generator) -> Columns:
    pool, _ = column_pool(n_classes, n_columns, False, rng)
    return pool[rng.choice(len(pool), n_columns, replace=False)]


def _counting(n_classes: int, n_columns: int, rng: np.random.Generator) -> Columns:
    """Columns that spell the index of each class in binary, so that all rows differ, and arbitrary others."""
    places = np.arange((n_classes - 1).bit_length())
    digits = (2 * (np.arange(n_classes) >> places[:, None] & 1) - 1).astype(np.int8)
    pool, _ = column_pool(n_classes, n_columns, False, rng)
    return np.concatenate([digits, _new(pool, digits)[: n_columns - len(digits)]])


def _climb(columns: Columns, pairs: Pairs, w: FloatArray, rng: np.random.Generator, work: int) -> _Optimum:
    """Exchange columns until none of the candidates lowers Phi."""
    columns = columns.copy()
    n_classes = columns.shape[1]
    everything = all_columns(n_classes) if n_existing(n_classes, zeros=False) <= MAX_ALL_CANDIDATES else None
    cost_of_one = len(columns) * len(w)
    n_candidates = int(np.clip(100_000_000 // cost_of_one, 16, 8 * len(columns)))
    spent, failures = 0, 0
    while spent < work and failures < (1 if everything is not None else 5):
        candidates = everything if everything is not None else _neighbours(columns, n_candidates, rng)
        candidates = _new(candidates, columns)
        spent += cost_of_one * max(len(candidates), 1) + 10 * len(w) * (len(columns) + len(candidates))
        failures = 0 if _exchange(columns, candidates, pairs, w) else failures + 1
    distance = _apart(columns, pairs).sum(axis=0) / w
    return _Optimum(float(distance.min()), float((4.0**-distance).sum()), columns, spent)


def _exchange(columns: Columns, candidates: Columns, pairs: Pairs, w: FloatArray) -> bool:
    """Make the exchange that lowers Phi most; returns whether there is one."""
    if not len(candidates):
        return False
    old, new = _apart(columns, pairs), _apart(candidates, pairs)
    distance = old.sum(axis=0) / w
    # Distant pairs are left out: without weights all sums are then exact, in any order.
    relative = np.minimum(distance - distance.min(), 20.0)
    term = np.where(relative < 20.0, 4.0**-relative, 0.0)
    factor = 4.0 ** (1 / w)
    potential = (np.where(old, factor, 1.0) * term) @ np.where(new, 1 / factor, 1.0).T
    leaves, joins = np.unravel_index(np.argmin(potential), potential.shape)
    if potential[leaves, joins] >= term.sum() * (1 - 1e-12):
        return False
    columns[leaves] = candidates[joins]
    return True


def _apart(columns: Columns, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs of classes each column separates, (n_columns, n_pairs)."""
    return columns[:, pairs[0]] != columns[:, pairs[1]]


def _neighbours(columns: Columns, n: int, rng: np.random.Generator) -> Columns:
    """Columns of the code with two classes moved to the other side."""
    near = columns[rng.integers(0, len(columns), n)]
    rows = np.arange(n)
    for _ in range(2):
        which = rng.integers(0, columns.shape[1], n)
        near[rows, which] *= -1
    return near


def _new(candidates: Columns, columns: Columns) -> Columns:
    """Candidates with both signs that are neither in the code nor complements of its columns."""
    products = np.abs(candidates.astype(np.float32) @ columns.T.astype(np.float32))
    return candidates[usable(candidates) & (products.max(axis=1) < candidates.shape[1])]

"""Rows, weights and randomness: the weighted multiset of (row, label) pairs that a fit is a function of.

Rows of weight 0 are dropped, identical (row, label) pairs are merged by adding their weights, and rows are
ordered by a fingerprint. So a weight of 2 equals a repeated row, the order of the input does not matter, and
a prefix of the canonical order is a random sample. X itself is never copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from scipy import sparse

from .. import _native
from .exact_sums import sum_of_products
from .validation import check_rows, checked_input

FEATURES_IN_DOUBLE = 8192  # of dense float32 rows, copied at a time


@dataclass(frozen=True)
class Rows:
    """Some rows of X in some order, with the products that linear solvers need.

    Sums are in double and split into blocks fixed by the problem, so ``n_threads`` changes no bit. Setting
    the byte ``cancel``, from any thread, ends a running product with an error. ``moved_by``, if any, has been
    subtracted from the rows as given. ``norms`` are the squared norms, if they are known.
    """

    X: np.ndarray | sparse.csr_array
    index: np.ndarray
    n_threads: int = 1
    cancel: np.ndarray = field(default_factory=lambda: _native.NEVER)
    moved_by: np.ndarray | None = None
    norms: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return len(self.index)

    def take(self, which: np.ndarray | slice) -> Rows:
        """A selection of these rows."""
        norms = None if self.norms is None else self.norms[which]
        return replace(self, index=self.index[which], norms=norms)

    def dot(self, w: np.ndarray) -> np.ndarray:
        """``X[index] @ w``, for one vector or for the columns of a matrix."""
        return _native.rows_dot(self.X, self.index, w, self.n_threads, self.cancel)

    def sum(self, u: np.ndarray) -> np.ndarray:
        """``u @ X[index]``."""
        return _native.rows_sum(self.X, self.index, u, self.n_threads, self.cancel)

    def sqnorms(self) -> np.ndarray:
        """The squared norm of each row, computed once for these rows and for selections made later."""
        if self.norms is None:
            object.__setattr__(self, "norms", self._computed_norms())
        return cast(np.ndarray, self.norms)

    def _computed_norms(self) -> np.ndarray:
        """Most rows are read fastest in the order of the memory, all of them."""
        n = self.X.shape[0]
        if 2 * len(self) < n:
            return _native.rows_sqnorm(self.X, self.index, self.n_threads, self.cancel)
        return _native.rows_sqnorm(self.X, np.arange(n), self.n_threads, self.cancel)[self.index]

    def mean(self, weight: np.ndarray) -> np.ndarray:
        """The weighted mean of the rows."""
        return self.sum(weight / weight.sum())

    def gram(self, weight: np.ndarray, centre: np.ndarray | None = None) -> np.ndarray:
        """``(X[index] - centre)' diag(weight) (X[index] - centre)``; any centre must be ``mean(weight)``."""
        if not self.n_features:
            return np.zeros((0, 0))
        centre = np.zeros(self.n_features) if centre is None else centre
        return _native.rows_gram(self.X, self.index, weight, centre, self.n_threads, self.cancel)

    def compacted(self) -> Rows:
        """The same rows, copied in this order, for algorithms that make many passes over them."""
        if np.array_equal(self.index, np.arange(self.X.shape[0])):
            return self
        return replace(self, X=self.X[self.index], index=np.arange(len(self)))

    def moved(self, centre: np.ndarray) -> Rows:
        """Dense rows in double, copied in this order, with a centre subtracted."""
        X = self.X[self.index].astype(np.float64, copy=False)
        X -= centre
        by = centre if self.moved_by is None else self.moved_by + centre
        return replace(self, X=X, index=np.arange(len(self)), moved_by=by, norms=None)

    def given_intercept(self, w: np.ndarray, b: float) -> float:
        """The intercept on the rows as given that does what ``b`` does on these; rounded once."""
        return b if self.moved_by is None else sum_of_products(-self.moved_by, w, b)

    def own_intercept(self, w: np.ndarray, b: float) -> float:
        """The inverse of ``given_intercept``."""
        return b if self.moved_by is None else sum_of_products(self.moved_by, w, b)

    def products(self) -> np.ndarray:
        """``X[index] @ X[index]'`` in double, whatever the dtype of X."""
        out = np.zeros((len(self), len(self)))
        step = (
            FEATURES_IN_DOUBLE
            if self.X.dtype == np.float32 and not _native.is_sparse(self.X)
            else self.n_features
        )
        for first in range(0, self.n_features, max(step, 1)):  # only these features are copied in double
            X, index = self.X, self.index
            if X.dtype == np.float32:
                X, index = self.X[self.index, first : first + step].astype(np.float64), np.arange(len(self))
            self._add_products(X, index, out)
        return out

    def _add_products(self, X: Any, index: np.ndarray, out: np.ndarray) -> None:
        for start in range(0, len(self), 256):  # ``cancel`` is checked between blocks
            if self.cancel[0]:
                raise _native.Cancelled("cancelled")
            out[start : start + 256] += _native.kernel_block(
                X,
                X,
                _native.InnerProduct(),
                x_rows=index[start : start + 256],
                z_rows=index,
                n_threads=self.n_threads,
                cancel=self.cancel,
            )


@dataclass(frozen=True)
class WeightedRows:
    """The canonical weighted data of a fit: ``rows[i]`` has label ``labels[i]`` and weight ``weight[i]``."""

    rows: Rows
    labels: np.ndarray
    weight: np.ndarray

    def until(self, cancel: np.ndarray) -> WeightedRows:
        """The same data, with products that end once ``cancel`` is set."""
        return replace(self, rows=replace(self.rows, cancel=cancel))

    def take(self, which: np.ndarray, n_threads: int, cancel: np.ndarray) -> WeightedRows:
        """A selection of the rows, with its own number of threads and its own ``cancel`` byte."""
        rows = replace(self.rows.take(which), n_threads=n_threads, cancel=cancel)
        return WeightedRows(rows, self.labels[which], self.weight[which])


def canonical(
    X: np.ndarray | sparse.csr_array,
    labels: np.ndarray,
    weight: np.ndarray,
    *,
    merge_duplicates: bool = True,
    n_threads: int = 1,
) -> WeightedRows:
    """The canonical form of weighted data.

    Parameters
    ----------
    X : array or CSR array of shape (n_samples, n_features)
        CSR rows must have sorted indices without duplicates.
    labels : int array of shape (n_samples,)
    weight : array of shape (n_samples,)
        Non-negative.
    merge_duplicates : bool
        False keeps repeated pairs apart, to reproduce a method exactly as published.
    n_threads : int

    Returns
    -------
    WeightedRows
    """
    kept = np.flatnonzero(weight > 0.0)
    fingerprint = _native.hash_rows(X, n_threads)[kept]
    order = _sorted_pairs(fingerprint, labels[kept], weight[kept])
    index, fingerprint = kept[order], fingerprint[order]
    starts = np.arange(len(index))
    if merge_duplicates:
        starts = starts[_opens_group(X, index, labels[index], fingerprint)]
    merged = np.add.reduceat(weight[index], starts) if len(index) else weight[index]
    return WeightedRows(Rows(X, index[starts], n_threads), labels[index[starts]], merged)


def _sorted_pairs(fingerprint: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """``np.lexsort((weight, labels, fingerprint))``, fast when few fingerprints are equal."""
    order = np.argsort(fingerprint)
    ordered = fingerprint[order]
    alike = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(alike):
        places = np.union1d(alike, alike + 1)
        rows = np.sort(order[places])
        order[places] = rows[np.lexsort((weight[rows], labels[rows], fingerprint[rows]))]
    return order


def _opens_group(
    X: np.ndarray | sparse.csr_array, index: np.ndarray, labels: np.ndarray, fingerprint: np.ndarray
) -> np.ndarray:
    """True where a pair differs from the previous one. Rows with equal fingerprints are compared in full."""
    opens = np.ones(len(index), dtype=bool)
    alike = 1 + np.flatnonzero((fingerprint[1:] == fingerprint[:-1]) & (labels[1:] == labels[:-1]))
    opens[alike] = ~_native.rows_equal(X, index[alike], index[alike - 1])
    return opens


def canonical_index(X: Any, labels: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row of each group of equal (row, label) pairs, and the group of every row; -1 for weight 0.

    For a numeric matrix X the groups are in canonical order. For anything else (None, objects, strings) every
    row is its own group, in the order given.
    """
    kept = np.flatnonzero(weight > 0.0)
    group = np.full(len(labels), -1, dtype=np.intp)
    X = checked_input(X)
    try:
        rows = check_rows(X, ensure_all_finite=False)
        merged = canonical(rows, labels, weight)
        apart = canonical(rows, labels, weight, merge_duplicates=False)
    except (TypeError, ValueError):
        group[kept] = np.arange(len(kept))
        return kept, group
    opens = np.zeros(len(labels), dtype=bool)
    opens[merged.rows.index] = True
    group[apart.rows.index] = np.cumsum(opens[apart.rows.index]) - 1
    return merged.rows.index, group

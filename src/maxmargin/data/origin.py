"""Rows far from the origin, moved to it: a free intercept makes the problem the same, with more digits.

A feature is far if its mean is many times its spread, as that of a time stamp is. In sums over such a feature
the offset takes the digits that the spread needs. Only far features are moved, so a sparse one has no zeros
that would fill up, and other data stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .._native import as_rows, is_sparse
from .rows import Rows

FAR_SPREADS = 1e3  # a feature with a mean of more standard deviations than this is far
CONSTANT_SPREAD = 1e-14  # a smaller spread, relative to the mean, is rounding
FEW_ROWS = 16  # enough to see that sparse rows have no feature in common
SPREAD_SAMPLE_ROWS = 256  # rows from which the spread is estimated


def near_origin(rows: Rows, weight: np.ndarray) -> Rows:
    """The rows minus the weighted mean of their far features, in double; the same rows if none is far.

    ``moved_by`` of the result is what was subtracted, and its ``given_intercept`` undoes the move.
    """
    if is_sparse(rows.X) and not _has_full_feature(rows):
        return rows
    sample = rows.X[rows.index[:SPREAD_SAMPLE_ROWS]]
    far = far_features(sample) if sample.shape[0] else np.zeros(0, dtype=np.intp)
    if not len(far):
        return rows
    by = np.zeros(rows.n_features)
    by[far] = rows.mean(weight)[far]
    return _moved_sparse(rows, by) if is_sparse(rows.X) else rows.moved(by)


def _has_full_feature(rows: Rows) -> bool:
    """Whether the first few sparse rows all store some feature, as they do one that is far."""
    X: Any = rows.X
    common: np.ndarray | None = None
    for i in rows.index[:FEW_ROWS]:
        stored = X.indices[X.indptr[i] : X.indptr[i + 1]]
        common = stored if common is None else np.intersect1d(common, stored, assume_unique=True)
        if not len(common):
            return False
    return True


def far_features(sample: Any) -> np.ndarray:
    """The features whose mean is many times their spread; a sparse one then has no zeros.

    A feature that is constant in the sample is far if its value is as large beside the spread of the others.
    """
    features = np.arange(sample.shape[1])
    if is_sparse(sample):
        features = np.flatnonzero(np.bincount(sample.indices, minlength=len(features)) == sample.shape[0])
        sample = sample[:, features].toarray()
    mean, spread = sample.mean(axis=0, dtype=np.float64), sample.std(axis=0, dtype=np.float64)
    constant = spread <= CONSTANT_SPREAD * np.abs(mean)
    largest = float(spread[~constant].max(initial=0.0))
    return features[np.abs(mean) > FAR_SPREADS * np.where(constant, largest, spread)]


def _moved_sparse(rows: Rows, by: np.ndarray) -> Rows:
    """Sparse rows, copied into this order, minus a vector of few entries."""
    X, far = rows.X[rows.index], np.flatnonzero(by)
    n = len(rows)
    starts = len(far) * np.arange(n + 1)
    offset = sparse.csr_array((np.tile(by[far], n), np.tile(far, n), starts), shape=X.shape)
    return replace(rows, X=as_rows(sparse.csr_array(X - offset)), index=np.arange(n), moved_by=by, norms=None)

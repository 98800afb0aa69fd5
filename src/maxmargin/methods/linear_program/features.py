"""Columns of a linear program: raw features, or kernel functions k(., x_j) centred at the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ... import _native
from ..._native import is_sparse
from ...data import Rows, check_kernel_sums, sum_of_products
from ...kernels import KernelData
from ...solving import kernel_errors

ENTRIES_PER_BLOCK = 1 << 21  # held at a time


class Features(Protocol):
    """The matrix Phi of a program, one row a sample, one column a feature; it is never held whole."""

    @property
    def n_features(self) -> int:
        """Columns."""

    def __len__(self) -> int:
        """Samples."""

    @property
    def by_sample(self) -> bool:
        """Whether there is one feature for each sample, so that fewer samples have fewer of them."""

    @property
    def is_moved(self) -> bool:
        """Whether something was subtracted from the features as given."""

    @property
    def scale(self) -> np.ndarray:
        """A power of two near the largest entry of each column, so that dividing by it loses nothing."""

    def first(self, n: int) -> Features:
        """The first ``n`` samples; feature j keeps its number."""

    def dot(self, W: np.ndarray) -> np.ndarray:
        """``Phi @ W``, (n_samples, n_outputs)."""

    def sum(self, A: np.ndarray) -> np.ndarray:
        """``Phi' A``, (n_features, n_outputs)."""

    def block(self, samples: np.ndarray, features: np.ndarray) -> np.ndarray:
        """``Phi[samples][:, features]`` in double."""

    def given_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The intercepts b for the features as given, if these were moved."""

    def own_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The inverse of ``given_intercepts``, up to what several outputs have in common."""

    def output_error(self, W: np.ndarray) -> float:
        """How far an output is off because the features are; 0 if they are exact."""

    def price_error(self, A: np.ndarray) -> float:
        """The same for an entry of ``sum(A)``."""


def _power_of_two(largest: np.ndarray) -> np.ndarray:
    return np.where(largest > 0.0, np.exp2(np.round(np.log2(np.where(largest > 0.0, largest, 1.0)))), 1.0)


@dataclass(frozen=True)
class RawFeatures:
    """The columns of X, which are exact."""

    rows: Rows
    by_sample: bool = field(default=False, init=False)

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return self.rows.n_features

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_moved(self) -> bool:
        """Whether the rows are."""
        return self.rows.moved_by is not None

    @cached_property
    def scale(self) -> np.ndarray:
        """From the largest absolute value of each column."""
        X, index = self.rows.X, self.rows.index
        largest = np.zeros(self.n_features)
        step = max(1, ENTRIES_PER_BLOCK // max(1, self.n_features))
        for start in range(0, len(index), step):
            part = abs(X[index[start : start + step]]).max(axis=0)
            part = part.toarray() if is_sparse(part) else np.asarray(part)
            np.maximum(largest, part.ravel(), out=largest)
        return _power_of_two(largest)

    def first(self, n: int) -> RawFeatures:
        """The first ``n`` rows."""
        return RawFeatures(self.rows.take(slice(n)))

    def dot(self, W: np.ndarray) -> np.ndarray:
        """``X W``."""
        return self.rows.dot(W)

    def sum(self, A: np.ndarray) -> np.ndarray:
        """``X' A``, one pass for each output."""
        return np.stack([self.rows.sum(a) for a in A.T], axis=1)

    def block(self, samples: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Some entries of X."""
        X, chosen = self.rows.X, self.rows.index[samples]
        if is_sparse(X):
            return X[chosen][:, features].toarray().astype(np.float64)
        return np.asarray(X)[np.ix_(chosen, features)].astype(np.float64)

    def given_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Those of ``Rows``, output by output."""
        return np.array([self.rows.given_intercept(w, float(t)) for w, t in zip(W.T, b, strict=True)])

    def own_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Those of ``Rows``; of several outputs, how far each is above the first one's, rounded once."""
        if len(b) == 1 or self.rows.moved_by is None:
            return np.array([self.rows.own_intercept(w, float(t)) for w, t in zip(W.T, b, strict=True)])
        by = np.concatenate([self.rows.moved_by, -self.rows.moved_by])
        first, start = W[:, 0], -float(b[0])
        pairs = zip(W.T, b, strict=True)
        return np.array([sum_of_products(by, np.concatenate([w, first]), float(t), start) for w, t in pairs])

    def output_error(self, W: np.ndarray) -> float:
        """None."""
        return 0.0

    def price_error(self, A: np.ndarray) -> float:
        """None."""
        return 0.0


@dataclass(frozen=True)
class EigenColumns(RawFeatures):
    """Eigen features ``k(x, landmarks) @ projection``, sums whose terms can be large and cancel.

    ``lengths`` and ``landmark_lengths`` are ``sqrt(k(x, x))`` of the rows and of the landmarks.
    """

    projection: np.ndarray
    lengths: np.ndarray
    landmark_lengths: np.ndarray

    def first(self, n: int) -> EigenColumns:
        """The first ``n`` rows."""
        return replace(self, rows=self.rows.take(slice(n)), lengths=self.lengths[:n])

    def output_error(self, W: np.ndarray) -> float:
        """From the sizes of the terms, at the longest row."""
        longest = self.lengths.max(initial=0.0, keepdims=True)
        outputs = (self.projection @ W).T
        return max(float(kernel_errors(a, self.landmark_lengths, longest)[0]) for a in outputs)

    def price_error(self, A: np.ndarray) -> float:
        """From the sizes of the terms, for the feature with the largest ones."""
        sizes = np.linalg.norm(self.landmark_lengths[:, None] * self.projection, axis=0)
        each = kernel_errors(np.ones(1), sizes.max(initial=0.0, keepdims=True), self.lengths)
        return float((each @ np.abs(A)).max(initial=0.0))


@dataclass(frozen=True)
class KernelColumns:
    """``Phi[i, j] = k(x_i, x_j)``: one feature for each sample.

    Kernel values are summed in double, and a fit also computes them in double, so that a gap of 1e-6 means
    something; blocks of fixed size keep the sums' order whatever the number of threads.
    """

    kernel: KernelData
    by_sample: bool = field(default=True, init=False)
    is_moved: bool = field(default=False, init=False)

    @property
    def n_features(self) -> int:
        """As many as samples."""
        return len(self.kernel)

    def __len__(self) -> int:
        return len(self.kernel)

    @cached_property
    def scale(self) -> np.ndarray:
        """From sqrt(k(x, x)), which bounds a column of a positive kernel up to one common factor."""
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = self._lengths * self._lengths.max()
        check_kernel_sums(self.kernel.dtype, bounds)
        return _power_of_two(bounds)

    @cached_property
    def _lengths(self) -> np.ndarray:
        return self.kernel.lengths(np.arange(len(self)))

    def first(self, n: int) -> KernelColumns:
        """The first ``n`` samples, and the features that they are."""
        return KernelColumns(self.kernel.take(slice(n)))

    def dot(self, W: np.ndarray) -> np.ndarray:
        """``K W``, at the cost of the kernel columns that W uses."""
        return self._product(np.flatnonzero(W.any(axis=1)), W)

    def sum(self, A: np.ndarray) -> np.ndarray:
        """``K' A = K A``, since kernels are symmetric."""
        return self._product(np.flatnonzero(A.any(axis=1)), A)

    def _product(self, used: np.ndarray, A: np.ndarray) -> np.ndarray:
        out = np.zeros((len(self), A.shape[1]))
        step = max(1, ENTRIES_PER_BLOCK // max(1, len(used)))
        with _native.one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(self) if len(used) else 0, step):
                if self.kernel.cancel[0]:
                    raise _native.Cancelled("cancelled")
                some = np.arange(start, min(start + step, len(self)))
                out[some] = self.kernel.between(some, used).astype(np.float64) @ A[used]
        check_kernel_sums(self.kernel.dtype, out)
        return out

    def block(self, samples: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Some kernel values."""
        K = self.kernel.between(samples, features).astype(np.float64)
        check_kernel_sums(self.kernel.dtype, K)
        return K

    def given_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Kernel functions are never moved."""
        return b

    def own_intercepts(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Kernel functions are never moved."""
        return b

    def output_error(self, W: np.ndarray) -> float:
        """None: the certificate is that of the kernel values as computed in double."""
        return 0.0

    def price_error(self, A: np.ndarray) -> float:
        """From the sizes of the terms, for the longest row."""
        lengths = self._lengths
        longest = lengths.max(initial=0.0, keepdims=True)
        return max(float(kernel_errors(a, lengths, longest)[0]) for a in A.T)

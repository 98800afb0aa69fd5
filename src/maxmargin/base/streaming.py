"""Learning from batches, one after the other: what every estimator with ``partial_fit`` shares."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from .._native import effective_n_threads, is_sparse
from ..data import (
    Rows,
    WeightedRows,
    check_scale,
    check_weights,
)
from ..kernels import Precomputed
from ..solving import Callback, SolverResult
from .callbacks import with_callbacks
from .kernel_classifier import KernelClassifier


class StreamingKernelClassifier(KernelClassifier):
    """A kernel machine with ``partial_fit``.

    A subclass learns from a batch in ``_learn_batch`` and keeps the outcome in ``_store_batch``. Batches come
    as they are: nothing is merged or reordered, so that a stream may be cut into batches anywhere. Between
    batches only arrays stay: ``support_vectors_`` (points that no later batch contains, so ``support_`` is
    None), their coefficients, and whatever else ``_store_batch`` keeps.
    """

    def _learn_batch(self, data: WeightedRows, first: bool, callback: Callback | None) -> SolverResult:
        """Learn from the batch, starting from nothing if it is the first, else from the present model."""
        raise NotImplementedError

    def _store_batch(self, result: SolverResult, data: WeightedRows, first: bool) -> None:
        """Keep what prediction and the next batch need."""
        raise NotImplementedError

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of a stream.

        Online methods and the published budgeted method meet its rows in the order given; a method that
        refits does so on a sample of the stream so far, this batch included.

        After ``fit`` it goes on from the fitted model. A gamma that is a word is taken from the first batch.
        ``support_`` is None afterwards, because support vectors of earlier batches are not rows of this X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            All classes that any batch will have. Needed in the first call, may be left out later.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_fixed_decoder()
        if isinstance(self._kernel_parameter(), Precomputed):
            raise ValueError(
                f"{type(self).__name__}.partial_fit cannot work with kernel='precomputed': it needs kernel "
                "values between rows of different batches. Give a kernel that computes them."
            )
        first = not self.__sklearn_is_fitted__()
        if first:
            self._begin_stream(classes)
        self._check_same_classes(classes)
        self._take_fixed_decoder()
        data = self._batch(X, y, sample_weight, first)
        if first:
            self._prepare(data)
        with self._running_callbacks(X, y) as callback:
            result = self._learn_batch(data, first, callback)
        self._store_batch(result, data, first)
        self._certify([result])
        return self

    def _batch(self, X: Any, y: Any, sample_weight: Any, first: bool) -> WeightedRows:
        """The batch in the order given, without rows of weight 0; in the dtype of the support vectors."""
        if first:
            X, y = self._validated(X, y)
        else:
            X, y = self._validated(X), column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            X = _alike(X, self.support_vectors_)
        labels, weight = self._batch_labels_and_weights(y, sample_weight)
        check_weights(weight)
        kept = np.flatnonzero(weight > 0.0)
        data = WeightedRows(Rows(X, kept, effective_n_threads(self.n_jobs)), labels[kept], weight[kept])
        if X.ndim == 2:
            check_scale(X, data.rows.sqnorms(), 1.0)
        return data


def _alike(X: Any, points: Any) -> Any:
    """X in the dtype and form of the points that it will meet."""
    if X.ndim == 1 or X.ndim != points.ndim:
        return X
    if is_sparse(X) and not is_sparse(points):
        X = X.toarray()
    elif is_sparse(points) and not is_sparse(X):
        X = type(points)(X)
    return X.astype(points.dtype, copy=False)

"""Streaming: the ``partial_fit`` that kernel classifiers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from .._native import effective_n_threads, is_sparse
from ..data import Rows, WeightedRows, check_label_types, check_scale, check_weights
from ..kernels import Precomputed
from ..solving import Deadline, ended_in_time, summary_of
from .callbacks import fit_callback
from .certified import first_step_of

__all__ = ["learn_batch"]


def learn_batch(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """``partial_fit`` of a kernel classifier.

    The model provides two methods. ``_learn_batch(data, first, stop, callback)`` learns from the batch and
    returns a result; it starts from scratch with the first batch, later from the current model.
    ``_store_batch(result, data, first)`` stores what prediction and the next batch need.

    Rows are neither merged nor reordered, so a stream can be split into batches anywhere. Between batches the
    model keeps only arrays: ``support_vectors_`` (``support_`` is None, because later batches do not contain
    these rows), their coefficients, and whatever else ``_store_batch`` stores.
    """
    model._check_parameters()
    limit = Deadline(model.max_seconds)
    with np.errstate(under="ignore"), limit as deadline, ended_in_time(deadline, first_step_of(model)):
        _learn(model, X, y, classes, sample_weight, deadline)


def _learn(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any, deadline: Deadline) -> None:
    if isinstance(model._kernel_parameter(), Precomputed):
        raise ValueError(
            f"{type(model).__name__}.partial_fit cannot work with kernel='precomputed': it needs kernel "
            "values between rows of different batches. Use a kernel that computes them."
        )
    first = model._open_stream(classes)
    data = _batch(model, X, y, sample_weight, first).until(deadline.flag)
    if first:
        model._prepare(data)
    with fit_callback(model, X, y) as callback:
        result = model._learn_batch(data, first, model._stop(deadline), callback)
    model._store_batch(result, data, first)
    model._certify(summary_of([result]))


def _batch(model: Any, X: Any, y: Any, sample_weight: Any, first: bool) -> WeightedRows:
    """The batch in the order given, without rows of weight 0, in the dtype of the support vectors."""
    if first:
        X, y = model._validated(X, y)
    else:
        check_label_types(y)
        X, y = model._validated(X), column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        X = _alike(X, model.support_vectors_)
    labels, weight = model._batch_labels_and_weights(y, sample_weight)
    check_weights(weight)
    kept = np.flatnonzero(weight > 0.0)
    data = WeightedRows(Rows(X, kept, effective_n_threads(model.n_jobs)), labels[kept], weight[kept])
    if X.ndim == 2:
        check_scale(X, data.rows.sqnorms(), 1.0)
    return data


def _alike(X: Any, points: Any) -> Any:
    """X in the dtype and storage format (dense or sparse) of the points."""
    if X.ndim == 1 or X.ndim != points.ndim:
        return X
    if is_sparse(X) and not is_sparse(points):
        X = X.toarray()
    elif is_sparse(points) and not is_sparse(X):
        X = type(points)(X)
    return X.astype(points.dtype, copy=False)

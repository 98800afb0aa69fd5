"""Which columns of X a fitted model depends on: its squared gradients, as shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._native import as_rows, is_sparse
from ..kernels import average_outer_product, check_gradient

__all__ = ["importances_at", "own_importances", "squared_gradients"]

MAX_ROWS = 2000  # evenly spaced ones are used of more: the average over them is accurate to a few per cent


def squared_gradients(model: Any, X: Any, *, full: bool = False) -> np.ndarray:
    """``sum_t (df_t / dx_k)^2`` averaged over rows of X, for each column k; with ``full`` the whole matrix.

    The f_t are the outputs of the columns of the model's code, or those of a machine without classes.
    """
    coef = _coefficients(model)
    if not _is_expansion(model):
        return coef @ coef.T if full else np.square(coef).sum(axis=1)
    check_gradient(model.kernel_)
    return average_outer_product(model.kernel_, X, model.support_vectors_, coef, full=full)


def importances_at(model: Any, X: Any, rotation: np.ndarray | None = None) -> np.ndarray:
    """Shares of the columns: the average squared gradient over rows of X times the variance there.

    With ``rotation``, a regular matrix, the rows are ``x @ rotation``, and the shares are those of x.
    """
    if _is_expansion(model):
        check_gradient(model.kernel_)  # before X is read: it may be anything
    rows = some_rows(as_rows(X))
    with np.errstate(under="ignore"):
        if rotation is not None:
            outer = squared_gradients(model, rows, full=True)
            squares = np.einsum("ij,jk,ik->i", rotation, outer, rotation)
            return as_shares(squares * np.square(column_deviations(rows @ np.linalg.inv(rotation))))
        deviations = column_deviations(rows)
        if _is_expansion(model):
            return as_shares(squared_gradients(model, rows) * np.square(deviations))
        return as_shares(np.square(_coefficients(model) * deviations[:, None]).sum(axis=1))


def own_importances(model: Any) -> np.ndarray:
    """Share of each column of X in the average squared gradient of the outputs, times the column's variance.

    The average is over the support vectors. The shares sum to 1, or are all 0 if the outputs are constant.
    For a linear model they are the squared coefficients: scale the columns first, or use
    :func:`maxmargin.importance` with rows. They are computed on first access. Kernels without a gradient in
    the columns (precomputed, functions) have none.
    """
    check_is_fitted(model)
    found = vars(model).get("_importances")
    if found is None or found[0] is not model.history_:  # which every fit replaces
        try:
            shares = _at_support_vectors(model)
        except ValueError as error:
            raise AttributeError(str(error)) from None
        found = model._importances = (model.history_, shares)
    return np.array(found[1])


def _at_support_vectors(model: Any) -> np.ndarray:
    if _is_expansion(model):
        return importances_at(model, model.support_vectors_)
    with np.errstate(under="ignore"):
        return as_shares(squared_gradients(model, None))


def _is_expansion(model: Any) -> bool:
    return hasattr(model, "support_vectors_") and getattr(model, "space_", "kernel") != "linear"


def _coefficients(model: Any) -> np.ndarray:
    """Of the support vectors or the columns of X, (n, n_outputs)."""
    coef: np.ndarray = np.atleast_2d(model.dual_coef_ if _is_expansion(model) else model.coef_).T
    if (
        hasattr(model, "code_") and coef.shape[1] > model.code_.n_columns
    ):  # a joint program of two classes: the difference counts
        return coef[:, 1:] - coef[:, :1]
    return coef


def some_rows(X: Any) -> Any:
    """At most ``MAX_ROWS`` rows, evenly spaced."""
    n = X.shape[0]
    return X if n <= MAX_ROWS else X[np.linspace(0, n - 1, MAX_ROWS).astype(np.int64)]


def column_deviations(X: Any) -> np.ndarray:
    """The standard deviation of each column."""
    X = X.astype(np.float64)
    size = np.asarray(abs(X).max(axis=0).toarray() if is_sparse(X) else np.abs(X).max(axis=0)).ravel()
    size[size == 0.0] = 1.0  # squares of the others would underflow, or overflow
    if not is_sparse(X):
        return size * np.std(X / size, axis=0)
    X = X.multiply(1.0 / size).tocsr()
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return size * np.sqrt(np.maximum(squares - mean**2, 0.0))  # zeros are the origin, so little is lost


def as_shares(values: np.ndarray) -> np.ndarray:
    """The values divided by their sum; all 0 if that is 0, which is so for a constant function."""
    total = float(values.sum())
    return values / total if total > 0.0 else np.zeros_like(values)

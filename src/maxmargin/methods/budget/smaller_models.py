"""The models of smaller budgets inside a fitted one: what they predict, and each as an estimator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._native import effective_n_threads
from ...decoders import decision_values, predicted_classes
from .truncation import _cut_path

if TYPE_CHECKING:
    from .estimator import SparseKernelClassifier

MAX_OUTPUTS = 1 << 22  # of all models together, held at a time


def path_predictions(model: SparseKernelClassifier, X: Any, budgets: Sequence[int]) -> np.ndarray:
    """What the models of some budgets of the path predict for the rows of X, as numbers of classes.

    One product with the kernel values serves all of them: the coefficients of a smaller model are padded with
    zeros.

    Parameters
    ----------
    model : SparseKernelClassifier
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
    budgets : sequence of int
        Of ``budget_path_``.

    Returns
    -------
    ndarray of shape (n_budgets, n_rows)
    """
    rows, n_columns = model._validated(X), model.code_.n_columns
    coef = np.zeros((model.n_support_, len(budgets) * n_columns))
    for k, budget in enumerate(budgets):
        coef[:budget, k * n_columns : (k + 1) * n_columns] = model._path_coef[budget]
    n_threads = effective_n_threads(model.n_jobs)
    step = max(1, MAX_OUTPUTS // coef.shape[1])
    out = np.empty((len(budgets), rows.shape[0]), dtype=np.int32)
    for first in range(0, rows.shape[0], step):
        some = slice(first, first + step)
        outputs = model.kernel_.matmul(rows[some], model.support_vectors_, coef, n_jobs=n_threads)
        outputs = np.asarray(outputs, dtype=np.float64)
        for k in range(len(budgets)):
            own = np.ascontiguousarray(outputs[:, k * n_columns : (k + 1) * n_columns])
            out[k, some] = predicted_classes(decision_values(own, model.code_, model.decoder_))
    return out


def at_budget(model: SparseKernelClassifier, budget: int) -> SparseKernelClassifier:
    """The model of a budget of the path, with the coefficients that the path has for it; nothing is refitted.

    Parameters
    ----------
    model : SparseKernelClassifier
    budget : int
        Of ``budget_path_``.

    Returns
    -------
    SparseKernelClassifier
    """
    small = copy.copy(model)
    small.budget, small._training = budget, model._training.without_rows()
    support = None if model.support_ is None else model.support_[:budget]
    small._keep(model.support_vectors_[:budget], model._path_coef[budget], support)
    _cut_path(small, budget)
    return small

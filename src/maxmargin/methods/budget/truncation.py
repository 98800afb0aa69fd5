"""Models derived from a fitted one: only its first support vectors, or another alpha."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._native import effective_n_threads
from ...decoders import decision_values, predicted_classes
from ...solving import Deadline, Status, ended_in_time, summary_of
from .data import SplitRows, hold_out, with_support
from .fit import held_out_share
from .greedy import GreedyOptions, greedy
from .problem import UntrainedOutputs, budget_problem

if TYPE_CHECKING:
    from .estimator import SparseKernelClassifier

MAX_OUTPUTS = 1 << 22  # of all models together, held at a time


def truncated(
    model: SparseKernelClassifier, budget: int, X: Any, y: Any, weight: Any
) -> SparseKernelClassifier:
    """A copy of the model with its first support vectors only."""
    small = copy.copy(model)
    small.budget = budget
    small._training = model._training  # a copy forgets the rows, as a pickle does
    if model.refit is None:
        _restore(small, budget)
        return small
    rows = _training_rows(model, X, y, weight)
    points = model.support_vectors_[:budget]
    support = None if model.support_ is None else model.support_[:budget]
    found = with_support(rows.data, points, support)
    options = GreedyOptions(
        budget,
        cache_bytes=int(model.cache_mb * 2**20),
        n_held_out=rows.n_held_out,
        start=found.positions,
        swaps=False,
        path=False,
    )
    problem = budget_problem(model, found.data, model.alpha_)
    with Deadline(model.max_seconds) as deadline, ended_in_time(deadline, "the refit of truncate"):
        result, _ = greedy(problem, options, stop=model._stop(deadline), seed=model._seed)
    kept = np.isin(found.positions, result.support)  # all but those that rounding puts in the others' span
    small._keep(points[kept], result.coef, None if support is None else support[kept])
    _cut_path(small, budget)
    small._calibrate(result.calibration, found.data)
    small._certify(summary_of([result]))
    return small


def with_alpha(model: SparseKernelClassifier, alpha: float) -> SparseKernelClassifier:
    """A copy of the model with the same support vectors, refitted for another alpha."""
    other = copy.copy(model)
    other._training = model._training
    other.alpha = other.alpha_ = alpha
    return truncated(other, model.n_support_, None, None, None)


def _restore(small: SparseKernelClassifier, budget: int) -> None:
    """The published method does not refit: the coefficients are those stored when the budget was reached."""
    if budget not in small._path_coef:
        known = small.budget_path_["budget"].tolist()
        raise ValueError(
            f"with refit=None coefficients are stored for the budgets {known} only; got budget={budget}. "
            "Choose one of them."
        )
    support = None if small.support_ is None else small.support_[:budget]
    small._keep(small.support_vectors_[:budget], small._path_coef[budget], support)
    _cut_path(small, budget)
    small.history_ = [tuple(check for check in small.history_[0] if check.n_support <= budget)]
    small.objective_, small.n_iter_ = small.history_[0][-1].primal, small.history_[0][-1].n_iter
    small.status_ = str(Status.BUDGET_FULL)
    if small.calibrator_ is not None:  # it was made for the outputs of the larger model
        _calibrate_again(small)


def _calibrate_again(small: SparseKernelClassifier) -> None:
    """Calibrate on the held-out rows if the model remembers them; otherwise drop the probabilities."""
    rows = small._training.rows
    if rows is None:
        small.calibrator_ = None
        return
    K = small._kernel_data(rows.data).block(rows.held_out, small.support_vectors_)
    outputs = K.astype(np.float64) @ small.dual_coef_.T
    small._calibrate(UntrainedOutputs(rows.held_out, outputs), rows.data)


def _cut_path(small: SparseKernelClassifier, budget: int) -> None:
    kept = small.budget_path_["budget"] <= budget
    small.budget_path_ = {name: values[kept] for name, values in small.budget_path_.items()}
    small._path_coef = {b: coef for b, coef in small._path_coef.items() if b <= budget}


def _training_rows(model: SparseKernelClassifier, X: Any, y: Any, weight: Any) -> SplitRows:
    """The rows given, split as the fit split them, or else those that the model remembers."""
    if X is not None:
        copied = copy.copy(model)
        data = copied._weighted_rows(X, y, weight, effective_n_threads(model.n_jobs))
        if not np.array_equal(copied.classes_, model.classes_):
            raise ValueError(
                f"y has the classes {copied.classes_.tolist()!r}, but the model was fitted on "
                f"{model.classes_.tolist()!r}; give the training data."
            )
        return hold_out(data, held_out_share(model))
    if model._training.rows is None:
        known = model.budget_path_["budget"].tolist()
        raise ValueError(
            "truncate refits, and this model does not remember its training data (it was unpickled, or "
            f"fitted by partial_fit); give X and y. Budgets of its path: {known}."
        )
    return model._training.rows


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

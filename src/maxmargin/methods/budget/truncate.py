"""Other models out of a budgeted one, refitted: its first support vectors, or all with another alpha."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._native import effective_n_threads
from ...data import WeightedRows
from ...solving import Status
from .data import held_out_last, with_support
from .greedy import Greedy, greedy

if TYPE_CHECKING:
    from .estimator import SparseKernelClassifier


def truncated(
    model: SparseKernelClassifier, budget: int, X: Any, y: Any, weight: Any
) -> SparseKernelClassifier:
    """A copy of the model with its first support vectors only."""
    small = copy.copy(model)
    small.budget = budget
    if hasattr(model, "_training"):
        small._training = model._training  # a copy forgets it, as a pickle does
    if model.refit is None:
        _as_it_stood(small, budget)
        return small
    data, n_held_out = _training_data(model, X, y, weight)
    points = model.support_vectors_[:budget]
    support = None if model.support_ is None else model.support_[:budget]
    data, positions, _ = with_support(data, points, support)
    how = Greedy(
        budget,
        cache_bytes=int(model.cache_mb * 2**20),
        n_held_out=n_held_out,
        start=positions,
        swaps=False,
        path=False,
    )
    problem = model._problem(data, model.alpha_)
    result, _ = greedy(problem, how, stop=model._stop(), seed=model._seed)
    kept = np.isin(positions, result.support)  # all, but for those that rounding puts in the others' span
    small._keep(points[kept], result.coef, None if support is None else support[kept])
    _keep_prefix(small, budget)
    small._calibrate(result.calibration, data)
    small._certify([result])
    return small


def with_alpha(model: SparseKernelClassifier, alpha: float) -> SparseKernelClassifier:
    """A copy of the model with the same support vectors, refitted for another alpha."""
    other = copy.copy(model)
    other._training = model._training
    other.alpha = other.alpha_ = alpha
    return truncated(other, model.n_support_, None, None, None)


def _as_it_stood(small: SparseKernelClassifier, budget: int) -> None:
    if budget not in small._path_coef:
        known = small.budget_path_["budget"].tolist()
        raise ValueError(
            f"with refit=None coefficients are kept at the budgets {known} only; got budget={budget}. Choose "
            "one of them."
        )
    support = None if small.support_ is None else small.support_[:budget]
    small._keep(small.support_vectors_[:budget], small._path_coef[budget], support)
    _keep_prefix(small, budget)
    small.history_ = [tuple(check for check in small.history_[0] if check.n_support <= budget)]
    small.objective_, small.n_iter_ = small.history_[0][-1].primal, small.history_[0][-1].n_iter
    small.status_ = str(Status.BUDGET_FULL)
    if small.calibrator_ is not None:  # it was made for the outputs of the larger model
        _calibrate_again(small)


def _calibrate_again(small: SparseKernelClassifier) -> None:
    """On the rows that were held out, where they are remembered; no probabilities otherwise."""
    data, n_held_out = getattr(small, "_training", None) or (None, 0)
    if data is None:
        small.calibrator_ = None
        return
    rows = np.arange(len(data.labels) - n_held_out, len(data.labels))
    K = small._kernel_data(data).block(rows, small.support_vectors_)
    small._calibrate((rows, K.astype(np.float64) @ small.dual_coef_.T), data)


def _keep_prefix(small: SparseKernelClassifier, budget: int) -> None:
    kept = small.budget_path_["budget"] <= budget
    small.budget_path_ = {name: values[kept] for name, values in small.budget_path_.items()}
    small._path_coef = {b: coef for b, coef in small._path_coef.items() if b <= budget}


def _training_data(model: Any, X: Any, y: Any, weight: Any) -> tuple[WeightedRows, int]:
    if X is not None:
        copied = copy.copy(model)
        data = copied._weighted_rows(X, y, weight, effective_n_threads(model.n_jobs))
        if not np.array_equal(copied.classes_, model.classes_):
            raise ValueError(
                f"y has the classes {copied.classes_.tolist()!r}, but the model was fitted on "
                f"{model.classes_.tolist()!r}; give the training data."
            )
        return held_out_last(data, model._held_out_share())
    if getattr(model, "_training", None) is None:
        known = model.budget_path_["budget"].tolist()
        raise ValueError(
            "truncate refits, and this model does not remember its training data (it was unpickled, or "
            f"fitted by partial_fit); give X and y. Budgets of its path: {known}."
        )
    data, n_held_out = model._training
    return data, n_held_out

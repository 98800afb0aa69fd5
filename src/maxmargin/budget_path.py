"""Smaller models out of a budgeted one: the first support vectors, refitted."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from .budget_data import with_support
from .rows import WeightedRows
from .solvers.greedy import Greedy, greedy
from .threads import effective_n_threads

if TYPE_CHECKING:
    from .budget import SparseKernelClassifier


def truncated(
    model: SparseKernelClassifier, budget: int, X: Any, y: Any, weight: Any
) -> SparseKernelClassifier:
    """A copy of the model with its first support vectors only."""
    small = copy.copy(model)
    small.budget = budget
    if model.refit is None:
        _as_it_stood(small, budget)
        return small
    data, n_held_out = _training_data(model, X, y, weight)
    points = model.support_vectors_[:budget]
    support = None if model.support_ is None else model.support_[:budget]
    data, positions, _ = with_support(data, points, support)
    how = Greedy(
        budget, cache_bytes=int(model.cache_mb * 2**20), n_held_out=n_held_out, start=positions, swaps=False
    )
    problem = model._problem(data, model.alpha_)
    result, _ = greedy(problem, how, stop=model._stop(), seed=model._seed)
    small._keep(points, result.coef, support)
    _keep_prefix(small, budget)
    small._certify([result])
    return small


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


def _keep_prefix(small: SparseKernelClassifier, budget: int) -> None:
    kept = small.budget_path_["budget"] <= budget
    small.budget_path_ = {name: values[kept] for name, values in small.budget_path_.items()}
    small._path_coef = {b: coef for b, coef in small._path_coef.items() if b <= budget}


def _training_data(model: Any, X: Any, y: Any, weight: Any) -> tuple[WeightedRows, int]:
    if X is not None:
        copied = copy.copy(model)
        return copied._weighted_rows(X, y, weight, effective_n_threads(model.n_jobs)), 0
    if getattr(model, "_training", None) is None:
        known = model.budget_path_["budget"].tolist()
        raise ValueError(
            "truncate refits, and this model does not remember its training data (it was unpickled, or "
            f"fitted by partial_fit); give X and y. Budgets of its path: {known}."
        )
    data, n_held_out = model._training
    return data, n_held_out

"""From rows to a fitted model, by the library's own method or the published one: a whole fit, or a batch.

Nothing here changes the estimator: its parameters, code and kernel are read, and everything found is returned
in a ``BudgetFit``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import WeightedRows
from ...kernels import KernelData, Precomputed
from ...losses import loss_from_name
from ...solving import Callback, State, Status, Stop
from .data import SplitRows, WarmStart, check_same_kind, hold_out, with_support
from .final_refit import kept_rows
from .greedy import GreedyOptions, greedy
from .growth_sample import MIN_SAMPLE_ROWS, ROWS_PER_SUPPORT_VECTOR
from .memory import TrainingMemory
from .problem import BudgetProblem, BudgetResult, accuracy, budget_problem
from .published_fit import PublishedFit
from .selectors import several

if TYPE_CHECKING:
    from .estimator import SparseKernelClassifier

COMPLETE = (Status.CONVERGED, Status.BUDGET_FULL, Status.NO_LOSS_LEFT)  # nothing is left to resume
PUBLISHED_HELD_OUT_SHARE = 0.1  # of the rows, on which the published method chooses alpha, as in the source


@dataclass(frozen=True, kw_only=True)
class BudgetFit(BudgetResult):
    """A solver's result and what its positions refer to: all that an estimator stores.

    ``data`` are the rows of the problem, ``support_vectors`` the chosen ones, ``support_in_x`` their rows in
    the X given to ``fit``, or None where some are not rows of it; ``memory`` is for ``truncate`` and
    ``partial_fit``.
    """

    data: WeightedRows
    support_vectors: Any
    support_in_x: np.ndarray | None
    memory: TrainingMemory

    @classmethod
    def of(
        cls,
        result: BudgetResult,
        data: WeightedRows,
        kernel: KernelData,
        memory: TrainingMemory,
        *,
        in_x: bool,
    ) -> BudgetFit:
        """The result of a solver that was given these rows; ``in_x`` if they are rows of the X of a fit."""
        chosen = result.points is None  # all support vectors are rows of the problem
        return cls(
            **{f.name: getattr(result, f.name) for f in fields(result)},
            data=data,
            support_vectors=kernel.points(result.support) if chosen else result.points,
            support_in_x=data.rows.index[result.support] if chosen and in_x else None,
            memory=memory,
        )


def fit_rows(
    model: SparseKernelClassifier, data: WeightedRows, stop: Stop, callback: Callback | None
) -> BudgetFit:
    """Fit a whole data set, starting from the model's support vectors where ``warm_start`` is set."""
    rows, start = hold_out(data, held_out_share(model)), _warm_start(model, data)
    memory = TrainingMemory(rows)
    if model.refit is None:
        memory = replace(memory, n_rows=len(data.labels))
        result = PublishedFit(model, rows, start, stop).fit(callback)
        return BudgetFit.of(result, rows.data, model._kernel_data(rows.data), memory, in_x=True)
    return _fit_greedily(model, rows, start, memory, stop, callback, in_x=True)


def fit_batch(
    model: SparseKernelClassifier, data: WeightedRows, first: bool, stop: Stop, callback: Callback | None
) -> BudgetFit:
    """Learn from one more batch of a stream: more steps as published, or a warm refit on a sample of it."""
    if not first and model.n_support_ > model.budget:
        raise ValueError(
            f"the model has {model.n_support_} support vectors, more than budget={model.budget}: a budget "
            "cannot shrink within a stream. Use truncate, or call fit to start from scratch."
        )
    start = None if first else WarmStart(model.support_vectors_, model.dual_coef_.T, None, model.t_)
    memory = TrainingMemory() if first else model._training
    if model.refit is None:
        memory = replace(memory.without_rows(), n_rows=memory.n_rows + len(data.labels))
        steps = PublishedFit(model, SplitRows(data), start, stop)
        result = steps.fit_batch(None if first else model.alpha_, memory.n_rows, callback)
        return BudgetFit.of(result, data, model._kernel_data(data), memory, in_x=False)
    size = max(ROWS_PER_SUPPORT_VECTOR * model.budget, MIN_SAMPLE_ROWS)
    memory = memory.with_batch(data, size, lambda k: model._rng(2, k))
    assert memory.reservoir is not None
    sample = SplitRows(memory.reservoir.rows(data.rows.n_threads))
    return _fit_greedily(model, sample, start, memory, stop, callback, in_x=False)


def _fit_greedily(
    model: SparseKernelClassifier,
    rows: SplitRows,
    start: WarmStart | None,
    memory: TrainingMemory,
    stop: Stop,
    callback: Callback | None,
    *,
    in_x: bool,
) -> BudgetFit:
    positions = None
    if start is not None:
        found = with_support(rows.data, start.points, start.support)
        rows, positions, in_x = replace(rows, data=found.data), found.positions, in_x and found.in_x
    alpha = model.alpha
    if alpha == "auto":  # where its search starts
        alpha = 1.0 if start is None else model.alpha_
    problem = budget_problem(model, rows.data, float(alpha))
    options = _options(model, rows, positions, None if start is None else start.coef)
    solve = partial(greedy, stop=stop, seed=model._seed, callback=callback)
    result, _ = solve(problem, options)
    if problem.ramp and options.choose_alpha:
        result = _chosen_again(solve, problem, options, result)
    return BudgetFit.of(result, rows.data, model._kernel_data(rows.data), memory, in_x=in_x)


def _chosen_again(
    solve: Callable[..., tuple[BudgetResult, State]],
    problem: BudgetProblem,
    options: GreedyOptions,
    first: BudgetResult,
) -> BudgetResult:
    """The ramp loss with support vectors and alpha chosen once more, on the rows that the first fit kept.

    Wrong labels call for a large alpha. Without most of them a smaller one is better, and the last refit, of
    all rows with the ramp loss, starts from those coefficients.
    """
    kept = kept_rows(problem, first, problem.n_samples - options.n_held_out)
    if options.move or kept.all() or first.status not in COMPLETE:
        return first
    part = replace(problem, targets=np.where(kept, problem.targets, 0), ramp=False)
    again, _ = solve(part, options)
    if again.status not in COMPLETE or not len(again.support):
        return first if again.status not in COMPLETE else again
    share = float(
        (problem.weight @ (part.targets != 0)).sum() / (problem.weight @ (problem.targets != 0)).sum()
    )
    fixed = replace(
        options,
        budget=len(again.support),
        choose_alpha=False,
        start=again.support,
        coef=again.coef,
        swaps=False,
        path=False,
    )
    last, _ = solve(replace(problem, alpha=again.alpha * share), fixed)
    if last.status not in COMPLETE:
        return last if len(last.support) == len(again.support) else first
    return replace(last, path=again.path | last.path, alpha_search=again.alpha_search)


def _options(
    model: SparseKernelClassifier, rows: SplitRows, start: np.ndarray | None, coef: np.ndarray | None
) -> GreedyOptions:
    by_gain = model.selection == "gain"
    return GreedyOptions(
        model.budget,
        n_candidates=model.n_candidates,
        choose_alpha=model.alpha == "auto",
        cache_bytes=int(model.cache_mb * 2**20),
        pick=None if by_gain else several(model.selection, loss_from_name(model.loss)),
        n_held_out=rows.n_held_out,
        score=accuracy(model, rows.data) if rows.n_held_out else None,
        start=start,
        coef=coef,
        move=model.move_centers,
        swaps=model._swaps,
    )


def held_out_share(model: SparseKernelClassifier) -> float:
    """The share of the rows that a fit does not train on."""
    if model.validation_fraction is not None:
        return float(model.validation_fraction)
    return PUBLISHED_HELD_OUT_SHARE if model.refit is None and model.alpha == "auto" else 0.0


def _warm_start(model: SparseKernelClassifier, data: WeightedRows) -> WarmStart | None:
    """The earlier model, where the parameters ask to start from it."""
    if not model.warm_start or not hasattr(model, "support_vectors_"):
        return None
    check_same_kind(model.support_vectors_, data.rows.X, isinstance(model.kernel_, Precomputed))
    if not np.array_equal(model._classes_of_coef, model.classes_):
        raise ValueError(
            f"warm_start continues a model of the classes {model._classes_of_coef.tolist()!r}, but y has "
            f"{model.classes_.tolist()!r}; set warm_start=False to start from scratch."
        )
    if model.n_support_ > model.budget or len(model.dual_coef_) != model.code_.n_columns:
        raise ValueError(
            f"warm_start continues a model with {model.n_support_} support vectors and "
            f"{len(model.dual_coef_)} columns, but budget={model.budget} and the code has "
            f"{model.code_.n_columns} columns; raise the budget, or set warm_start=False."
        )
    t = getattr(model, "t_", np.ones(len(model.dual_coef_), dtype=np.int64))
    return WarmStart(model.support_vectors_, model.dual_coef_.T, model.support_, t)

"""Columns of a code, each by a clone of the estimator, fitted to the rows of the column's classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from .codes import Code
from .column_fits import ColumnTask, TrainingData, column_output, is_pairwise, rows_of, run_tasks, seeded

__all__ = ["ClonedColumns"]


@dataclass(frozen=True)
class ClonedColumns:
    """A clone of any binary classifier for each column t, with targets 0 (code entry -1) and 1 (+1).

    ``estimators`` are the clones, ``rows`` the rows they were fitted to where X is a pairwise matrix. With
    ``partial_fit`` a clone is None until a row of its classes has come; its output is 0 until then.
    """

    estimator: Any
    code: Code
    seed: int
    n_jobs: int | None
    who: str
    estimators: tuple[Any, ...] = ()
    rows: tuple[np.ndarray | None, ...] | None = None

    def fit(self, data: TrainingData, fold: np.ndarray | None) -> tuple[Self, np.ndarray | None]:
        """The fitted columns; where rows have folds, also their outputs by fits without their fold.

        All columns and folds are one list of tasks, so that no worker waits for a fold to end.
        """
        tasks = [self._task(data, t, data.kept) for t in range(self.code.n_columns)]
        without = [] if fold is None else list(self._without_folds(data, fold))
        results = self._run([*tasks, *without], data)
        rows = tuple(task.rows for task in tasks) if is_pairwise(self.estimator) else None
        fitted = replace(self, estimators=tuple(results[: len(tasks)]), rows=rows)
        if fold is None:
            return fitted, None
        outputs = np.zeros((len(data.labels), self.code.n_columns))
        for task, values in zip(without, results[len(tasks) :]):
            outputs[task.held, task.column] = values
        return fitted, outputs

    def held_outputs(self, data: TrainingData, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Outputs (n_held, n_columns) of fits to the rows ``train``."""
        tasks = [self._task(data, t, train, held) for t in range(self.code.n_columns)]
        return np.column_stack(self._run(tasks, data))

    def partial_fit(self, data: TrainingData) -> Self:
        """Columns that have learned from this batch; those without a row in it stay as they are."""
        models = list(self.estimators or [None] * self.code.n_columns)
        tasks = []
        for t, model in enumerate(models):
            task = self._task(data, t, data.kept)
            if len(task.targets):
                model = seeded(self.estimator, task.seed) if model is None else model
                tasks.append(replace(task, estimator=model, goes_on=True))
        for task, model in zip(tasks, self._run(tasks, data)):
            models[task.column] = model
        return replace(self, estimators=tuple(models))

    def outputs(self, X: Any) -> np.ndarray:
        """Outputs of all columns, (n_samples, n_columns)."""
        columns = self.rows or [None] * len(self.estimators)
        outputs = np.zeros((_num_samples(X), len(self.estimators)))
        for t, (model, rows) in enumerate(zip(self.estimators, columns)):
            if model is not None:
                outputs[:, t] = column_output(model, rows_of(X, None, rows))
        return outputs

    def _run(self, tasks: list[ColumnTask], data: TrainingData) -> list[Any]:
        return run_tasks(tasks, data.X, data.params, self.n_jobs, self.who)

    def _without_folds(self, data: TrainingData, fold: np.ndarray) -> Iterator[ColumnTask]:
        kept = data.kept
        for k in np.unique(fold[kept]):
            train, held = kept[fold[kept] != k], kept[fold[kept] == k]
            for t in range(self.code.n_columns):
                yield self._task(data, t, train, held)

    def _task(
        self, data: TrainingData, t: int, rows: np.ndarray, held: np.ndarray | None = None
    ) -> ColumnTask:
        which, targets = self.code.column(data.labels[rows], t)
        chosen = None if len(which) == len(data.labels) else rows[which]
        return ColumnTask(t, self.estimator, (self.seed, t), chosen, (targets > 0).astype(np.intp), held)

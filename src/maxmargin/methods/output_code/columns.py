"""Columns of a code: a clone of the estimator for each, or one model for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_method_params, _num_samples

from ...base import CodedClassifier, fit_deadline
from ...checkpoints import CheckpointError
from ...data import canonical_index, stratified_folds
from ...decoders import Decoder
from .column_tasks import (
    Columns,
    ColumnTask,
    TrainingData,
    column_output,
    rows_of,
    run_tasks,
    seeded,
    takes_kernel_matrix,
)

__all__ = ["ClonedColumns", "SharedColumns", "takes_codes"]


@dataclass(frozen=True)
class ClonedColumns(Columns):
    """A clone of any binary classifier for each column t, with targets 0 (code entry -1) and 1 (+1).

    ``estimators`` are the clones; ``rows`` are their training rows where X is a pairwise matrix. With
    ``partial_fit`` a clone is None, and its output 0, until a row of its classes arrives.
    """

    rows: tuple[np.ndarray | None, ...] | None = None

    def fit(
        self, data: TrainingData, learner: Decoder | None, folds: int | np.ndarray
    ) -> tuple[Self, Decoder | None]:
        """The fitted columns, and what the decoder has learned from their outputs.

        All columns and folds form one list of tasks, so that no worker waits for a fold to end.
        """
        if data.record.part is not None:
            raise CheckpointError(
                f"{self.who} cannot checkpoint {self.estimator!r}, which it fits column by column: use an "
                "estimator of maxmargin with a code and without class_weight, or set_checkpoint(None)."
            )
        out_of_fold = learner is not None and learner.learns_from == "out-of-fold"
        tasks = [self._task(data, t, data.kept) for t in range(self.code.n_columns)]
        without = list(self._without_folds(data, self._fold_of_rows(data, folds))) if out_of_fold else []
        results = self._run([*tasks, *without], data)
        rows = tuple(task.rows for task in tasks) if takes_kernel_matrix(self.estimator) else None
        fitted = replace(self, estimators=tuple(results[: len(tasks)]), rows=rows)
        if learner is None:
            return fitted, None
        F = np.zeros((len(data.labels), self.code.n_columns)) if out_of_fold else fitted.outputs(data.X)
        for task, values in zip(without, results[len(tasks) :]):
            F[task.held, task.column] = values
        kept = data.kept
        return fitted, learner.fit(F[kept], data.labels[kept], self.code, data.weight[kept])

    def _fold_of_rows(self, data: TrainingData, folds: int | np.ndarray) -> np.ndarray:
        """The fold of each row; for a number of folds, equal rows with one label share a fold."""
        if isinstance(folds, np.ndarray):
            return folds
        X = None if takes_kernel_matrix(self.estimator) else data.X
        first, group = canonical_index(X, data.labels, data.weight)
        return stratified_folds(data.labels[first], folds)[group]

    def partial_fit(self, data: TrainingData) -> Self:
        """The columns updated by this batch; columns without a row in it do not change."""
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


def takes_codes(estimator: Any) -> bool:
    """Whether one fit of the estimator with the code predicts as a clone for each column would.

    Class weights of the estimator itself differ: they weigh classes, but in clones the sides of a column.
    """
    own = estimator.get_params(deep=False)
    coded = isinstance(estimator, CodedClassifier) and "code" in own and own.get("multi_class") != "joint"
    return coded and own.get("class_weight") is None


@dataclass(frozen=True)
class SharedColumns(Columns):
    """All columns in one model, the only entry of ``estimators``."""

    def fit(
        self, data: TrainingData, learner: Decoder | None, folds: int | np.ndarray
    ) -> tuple[Self, Decoder | None]:
        """The fitted columns, and what the decoder has learned from their outputs; the model has both."""
        model = self._model("hamming" if learner is None else learner)
        y = data.classes[data.labels]
        with fit_deadline(model) as deadline:
            model._fit(data.X, y, **data.params, record=data.record, deadline=deadline, folds=folds)
        return replace(self, estimators=(model,)), None if learner is None else model.decoder_

    def partial_fit(self, data: TrainingData) -> Self:
        """The model updated by this batch, without rows of weight 0."""
        model = self.estimators[0] if self.estimators else self._model("hamming")
        model.set_params(decoder="hamming")  # learned decoders are not updated by a stream
        kept = data.kept
        X, labels, own = data.X, data.labels, data.params
        if len(kept) < len(labels):
            own = _check_method_params(X, params=own, indices=kept)
            X, labels = rows_of(X, kept, None), labels[kept]
        model.partial_fit(X, data.classes[labels], classes=data.classes, **own)
        return replace(self, estimators=(model,))

    def outputs(self, X: Any) -> np.ndarray:
        """Outputs of all columns, (n_samples, n_columns)."""
        return self.estimators[0].column_outputs(X)

    def _model(self, decoder: str | Decoder) -> CodedClassifier:
        model = seeded(self.estimator, (self.seed, 0)).set_params(code=self.code, decoder=decoder)
        return model if self.n_jobs is None else model.set_params(n_jobs=self.n_jobs)

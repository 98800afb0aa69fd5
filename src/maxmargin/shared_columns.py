"""Columns of a code by one fit of an estimator of ours, which shares kernel values between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from .base import CodedClassifier
from .cloned_columns import ClonedColumns
from .codes import Code
from .column_fits import TrainingData, is_pairwise, rows_of, seeded

__all__ = ["SharedColumns", "takes_codes"]


def takes_codes(estimator: Any) -> bool:
    """Whether one fit of the estimator, given the code, answers as a clone for each column would.

    An estimator with class weights of its own would weigh classes, where clones weigh sides of a column.
    """
    own = estimator.get_params(deep=False)
    coded = isinstance(estimator, CodedClassifier) and "code" in own and own.get("multi_class") != "joint"
    return coded and own.get("class_weight") is None


@dataclass(frozen=True)
class SharedColumns:
    """All columns by one model; ``estimators`` holds it alone."""

    estimator: Any
    code: Code
    seed: int
    n_jobs: int | None
    who: str
    estimators: tuple[Any, ...] = ()

    def fit(self, data: TrainingData, fold: np.ndarray | None) -> tuple[Self, np.ndarray | None]:
        """The fitted columns; where rows have folds, also their outputs by fits without their fold."""
        model = self._model().fit(data.X, data.classes[data.labels], **data.params)
        fitted = replace(self, estimators=(model,))
        return fitted, None if fold is None else self._out_of_fold(data, fold)

    def partial_fit(self, data: TrainingData) -> Self:
        """The model that has learned from this batch."""
        model = self.estimators[0] if self.estimators else self._model()
        model.partial_fit(data.X, data.classes[data.labels], classes=data.classes, **data.params)
        return replace(self, estimators=(model,))

    def outputs(self, X: Any) -> np.ndarray:
        """Outputs of all columns, (n_samples, n_columns)."""
        return self.estimators[0].column_outputs(X)

    def _model(self) -> CodedClassifier:
        model = seeded(self.estimator, (self.seed, 0)).set_params(code=self.code, decoder="hamming")
        return model if self.n_jobs is None else model.set_params(n_jobs=self.n_jobs)

    def _out_of_fold(self, data: TrainingData, fold: np.ndarray) -> np.ndarray:
        outputs, kept = np.zeros((len(data.labels), self.code.n_columns)), data.kept
        for k in np.unique(fold[kept]):
            train, held = kept[fold[kept] != k], kept[fold[kept] == k]
            outputs[held] = self._held_outputs(data, train, held)
        return outputs

    def _held_outputs(self, data: TrainingData, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        if len(np.unique(data.labels[train])) < self.code.n_classes:  # a row of the code without rows of X
            two_classes = self._model().set_params(code="one-vs-rest")
            clones = ClonedColumns(two_classes, self.code, self.seed, None, self.who)
            return clones.held_outputs(data, train, held)
        columns = train if is_pairwise(self.estimator) else None
        weight = {name: _safe_indexing(value, train) for name, value in data.params.items()}
        model = self._model().fit(rows_of(data.X, train, columns), data.classes[data.labels[train]], **weight)
        return model.column_outputs(rows_of(data.X, held, columns))

"""Columns of a code by one fit of an estimator of ours, which shares kernel values between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_method_params

from ...base import CodedClassifier
from ...decoders import Decoder
from .column_fits import (
    Columns,
    TrainingData,
    rows_of,
    seeded,
)

__all__ = ["SharedColumns", "takes_codes"]


def takes_codes(estimator: Any) -> bool:
    """Whether one fit of the estimator, given the code, answers as a clone for each column would.

    An estimator with class weights of its own would weigh classes, where clones weigh sides of a column.
    """
    own = estimator.get_params(deep=False)
    coded = isinstance(estimator, CodedClassifier) and "code" in own and own.get("multi_class") != "joint"
    return coded and own.get("class_weight") is None


@dataclass(frozen=True)
class SharedColumns(Columns):
    """All columns by one model; ``estimators`` holds it alone."""

    def fit(
        self, data: TrainingData, learner: Decoder | None, folds: int | np.ndarray
    ) -> tuple[Self, Decoder | None]:
        """The fitted columns, and what the decoder has learned from their outputs: the model does both."""
        model = self._model("hamming" if learner is None else learner)
        if isinstance(folds, np.ndarray):
            model._given_folds = folds
        else:
            model._n_folds = folds
        model._record = data.record
        model.fit(data.X, data.classes[data.labels], **data.params)
        for name in ("_given_folds", "_row_folds", "_n_folds"):
            model.__dict__.pop(name, None)
        return replace(self, estimators=(model,)), None if learner is None else model.decoder_

    def partial_fit(self, data: TrainingData) -> Self:
        """The model that has learned from this batch; it never sees rows of weight 0."""
        model = self.estimators[0] if self.estimators else self._model("hamming")
        model.set_params(decoder="hamming")  # one that has learned stays out of a stream
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

"""A model's answers about some rows: classes, scores and probabilities, from one preparation of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..decoders.registry import predicted_classes
from ..io.table import Block

__all__ = ["Answers", "answers", "rows_of", "steps_of"]


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says about n rows."""

    predicted: np.ndarray  # (n,) numbers of classes
    scores: np.ndarray  # (n, n_classes); two columns for two classes
    probabilities: np.ndarray | None  # (n, n_classes)


def steps_of(model: Any) -> tuple[Any, Any]:
    """What prepares the rows, or None, and the classifier."""
    if isinstance(model, Pipeline):
        return (model[:-1] if len(model) > 1 else None), model[-1]
    return None, model


def rows_of(block: Block) -> Any:
    """A block as a model takes it: the matrix where it has no names, else the block itself."""
    return block if isinstance(block.features, Mapping) else block.features


def answers(model: Any, rows: Any) -> Answers:
    """Ask a fitted classifier, or a pipeline that ends in one, about some rows."""
    preparation, classifier = steps_of(model)
    X = rows if preparation is None else preparation.transform(rows)
    probabilities = _probabilities(classifier, X)
    scores = _scores(classifier, X, probabilities)
    if _is_ours(classifier):
        predicted = predicted_classes(scores)
    else:  # other libraries' predictions need not be the argmax of their scores
        predicted = np.searchsorted(classifier.classes_, classifier.predict(X))
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    return Answers(predicted, scores, probabilities)


def _probabilities(classifier: Any, X: Any) -> np.ndarray | None:
    if not hasattr(classifier, "predict_proba"):
        return None
    return np.asarray(classifier.predict_proba(X), dtype=np.float64)


def _scores(classifier: Any, X: Any, probabilities: np.ndarray | None) -> np.ndarray:
    if hasattr(classifier, "decision_function"):
        return np.asarray(classifier.decision_function(X), dtype=np.float64)
    if probabilities is None:
        raise ValueError(
            f"{type(classifier).__name__} has neither decision_function nor predict_proba, so there are no "
            "scores to judge; give a classifier that has one of them."
        )
    return probabilities


def _is_ours(classifier: Any) -> bool:
    """Whether ``predict`` is the argmax of ``decision_function`` by this library's own rule."""
    classifier = getattr(classifier, "best_estimator_", classifier)
    return type(classifier).__module__.startswith("maxmargin.")

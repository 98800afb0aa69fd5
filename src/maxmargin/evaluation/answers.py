"""A model's answers about some rows: classes, scores and probabilities, from one preparation of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..decoders import predicted_classes
from .numbers import classifier_of, prepared

__all__ = ["AnsweredRows", "Mistake", "MistakeTally", "ModelAnswers", "answers", "classifier_of", "prepared"]


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """The predictions of a model for n rows."""

    predicted: np.ndarray  # (n,) numbers of classes
    scores: np.ndarray  # (n, n_classes); two columns for two classes
    probabilities: np.ndarray | None  # (n, n_classes)


def answers(model: Any, X: Any) -> ModelAnswers:
    """Ask the classifier of a model about rows that are :func:`prepared`."""
    classifier = classifier_of(model)
    probabilities = _probabilities(classifier, X)
    scores = _scores(classifier, X, probabilities)
    if _is_ours(classifier):
        predicted = predicted_classes(scores)
    else:  # other libraries' predictions need not be the argmax of their scores
        predicted = np.searchsorted(classifier.classes_, classifier.predict(X))
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    return ModelAnswers(predicted, scores, probabilities)


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Rows with their labels, the model's answers, and what was unlike the training."""

    target: np.ndarray | None
    first_row: int
    answers: ModelAnswers | None = None  # None for no rows, or without a target to compare with
    notices: Any = None
    given: tuple[Any, Any] | None = None  # the rows as read and as prepared, if they are kept

    @classmethod
    def of(cls, model: Any, rows: Any, target: Any, first_row: int, keep: bool = False) -> AnsweredRows:
        """Ask a model about rows, a ``Block`` or whatever the model takes."""
        if target is None or not len(target):
            return cls(target, first_row)
        X, notices = prepared(model, rows)
        return cls(target, first_row, answers(model, X), notices, (rows, X) if keep else None)

    def __len__(self) -> int:
        return 0 if self.target is None else len(self.target)


def _probabilities(classifier: Any, X: Any) -> np.ndarray | None:
    if not hasattr(classifier, "predict_proba"):
        return None
    return np.asarray(classifier.predict_proba(X), dtype=np.float64)


def _scores(classifier: Any, X: Any, probabilities: np.ndarray | None) -> np.ndarray:
    if hasattr(classifier, "decision_function"):
        return np.asarray(classifier.decision_function(X), dtype=np.float64)
    if probabilities is None:
        raise ValueError(
            f"{type(classifier).__name__} has neither decision_function nor predict_proba, so it has no "
            "scores to evaluate; use a classifier that has one of them."
        )
    return probabilities


def _is_ours(classifier: Any) -> bool:
    """Whether ``predict`` is the argmax of ``decision_function`` by this library's own rule."""
    classifier = getattr(classifier, "best_estimator_", classifier)
    return type(classifier).__module__.startswith("maxmargin.")


@dataclass(frozen=True)
class Mistake:
    """A row, counted from 0, whose class was not named.

    Attributes
    ----------
    row : int
        Number of the row in the file, from 0.
    label : str
        What the file has.
    predicted : str
        What the model says.
    margin : float
        Of the label; negative.
    probability : float or None
        Of the prediction.

    Examples
    --------
    >>> from maxmargin.evaluation import Mistake
    >>> Mistake(row=7, label="benign", predicted="malignant", margin=-1.2, probability=0.9).row
    7
    """

    row: int
    label: str
    predicted: str
    margin: float  # score of the predicted class less that of the true one; for two classes |f|
    probability: float | None  # of the predicted class


@dataclass
class MistakeTally:
    """The ``most`` confident mistakes: the largest probabilities or, without these, margins."""

    names: list[str]
    most: int = 20
    kept: list[Mistake] = field(default_factory=list)

    def add(self, first_row: int, labels: np.ndarray, told: ModelAnswers) -> None:
        """Look at some rows; those whose label is no class (-1) are passed over."""
        wrong = np.flatnonzero((labels >= 0) & (labels != told.predicted))
        margins = told.scores[wrong, told.predicted[wrong]] - told.scores[wrong, labels[wrong]]
        sure_of = margins
        if told.probabilities is not None:
            sure_of = told.probabilities[wrong, told.predicted[wrong]]
        for place in np.lexsort((-margins, -sure_of))[: self.most]:
            row = wrong[place]
            number = told.predicted[row]
            sure = None if told.probabilities is None else float(told.probabilities[row, number])
            names = self.names[labels[row]], self.names[number]
            self.kept.append(Mistake(first_row + int(row), *names, float(margins[place]), sure))
        self.kept = sorted(self.kept, key=_confidence)[: self.most]


def _confidence(mistake: Mistake) -> tuple[float, float, int]:
    """The most confident first; the first of equal ones."""
    return -(mistake.probability or 0.0), -mistake.margin, mistake.row

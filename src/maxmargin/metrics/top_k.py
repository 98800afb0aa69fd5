"""How often the true class is among the k with the largest scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import check_number, check_sample_weight

__all__ = ["top_k_accuracy"]


def top_k_accuracy(
    y: Any, scores: Any, k: int = 2, *, X: Any = None, classes: Any = None, sample_weight: Any = None
) -> float:
    """The weighted share of samples whose true class is among the k classes with the largest scores.

    Equal scores go to the class that comes first, as in ``predict``; so for k = 1 this is the accuracy of
    ``predict``, whatever the ties. ``sklearn.metrics.top_k_accuracy_score`` gives equal scores to the class
    that comes last, and for two classes takes 1/2 for the threshold where all scores happen to lie in [0, 1].

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    scores : array-like of shape (n_samples, n_classes), or (n_samples,) for two classes, or an estimator
        What ``decision_function`` or ``predict_proba`` returns; one column speaks for the second class where
        it is positive. A fitted estimator is asked for it.
    k : int, default=2
        For k >= n_classes the answer is the share of samples whose label is known at all.
    X : array-like, optional
        For an estimator: the rows.
    classes : array-like of shape (n_classes,), optional
        The label of each column of scores; by default the sorted labels in y, or the estimator's own.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from maxmargin import top_k_accuracy
    >>> top_k_accuracy([0, 1, 2], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [3.0, 2.0, 1.0]], k=2)
    0.6666666666666666
    """
    check_number("k", k, at_least=1, integer=True)
    y = np.asarray(y)
    S, known = _scores(scores, X, classes, y)
    if S.ndim == 1:
        S = np.column_stack([np.zeros(len(S)), S])
    if S.ndim != 2 or y.shape != S.shape[:1] or S.shape[1] != len(known):
        raise ValueError(
            f"scores need a row for each label and a column for each of the {len(known)} classes; got y of "
            f"shape {y.shape} and scores of shape {S.shape}. Give classes=, the label of each column, if y "
            "has not all of them."
        )
    if not np.isfinite(S).all():
        raise ValueError("scores contain NaN or infinity.")
    weight = check_sample_weight(sample_weight, len(y))
    is_class = y[:, None] == known
    own = np.where(is_class, S, -np.inf).max(axis=1)
    place = is_class.argmax(axis=1)
    ahead = (own[:, None] < S) | ((own[:, None] == S) & (np.arange(S.shape[1]) < place[:, None]))
    hit = is_class.any(axis=1) & (ahead.sum(axis=1) < k)
    return float(weight @ hit / weight.sum())


def _scores(scores: Any, X: Any, classes: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores as an array, and the label of each column."""
    if hasattr(scores, "classes_"):
        if X is None:
            raise ValueError("top_k_accuracy of an estimator needs X=, the rows to ask it about.")
        ask = "decision_function" if hasattr(scores, "decision_function") else "predict_proba"
        return np.asarray(getattr(scores, ask)(X), dtype=np.float64), np.asarray(scores.classes_)
    known = np.unique(y) if classes is None else np.asarray(classes)
    return np.asarray(scores, dtype=np.float64), known

"""The effect of one column on a model's answers: accumulated local effects, or means over categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..table import NumberPlan, WordsPlan
from .answers import answers

__all__ = ["Effect", "effect_of"]

MAX_BINS = 20
MAX_CATEGORIES = 12
MAX_CLASSES = 3


@dataclass(frozen=True)
class Effect:
    """How the answers change with one column, all else equal.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"number", "words"}
    on : {"probability", "score"}
    x : list of float
        Values of a numeric column, at the ends of up to 20 intervals with as many rows each.
    categories : list of str
        Of a categorical column, the most frequent first.
    lines : dict of str to list of float
        For the second of two classes, or the three most frequent, the effect at each value, centred: its
        mean over the rows is 0 (Apley and Zhu, 2020); for categories the mean answer, less that of all rows.
    """

    name: str
    kind: str
    on: str
    x: list[float]
    categories: list[str]
    lines: dict[str, list[float]]


def effect_of(model: Any, X: np.ndarray, columns: np.ndarray, plan: Any, name: str) -> Effect | None:
    """The effect of a column of the table that became some columns of a dense matrix.

    Parameters
    ----------
    model : fitted classifier
    X : ndarray of shape (n_rows, n_features)
        Prepared rows.
    columns : ndarray of int
        Its columns in the matrix.
    plan : NumberPlan or WordsPlan
        How it was prepared.
    name : str

    Returns
    -------
    Effect or None
        None where the column has one value.
    """
    told = answers(model, X)
    counts = np.bincount(told.predicted, minlength=told.scores.shape[1])
    shown = [1] if len(counts) == 2 else np.argsort(-counts, kind="stable")[:MAX_CLASSES].tolist()
    on = "score" if told.probabilities is None else "probability"
    names = [str(label) for label in model.classes_]

    def asked(rows: np.ndarray) -> np.ndarray:
        found = answers(model, rows)
        values = found.scores if found.probabilities is None else found.probabilities
        return np.asarray(values[:, shown])

    if isinstance(plan, NumberPlan):
        found = _number_effect(asked, X, int(columns[0]), plan) if plan.kept else None
        if found is None:
            return None
        x, lines = found
        return Effect(name, "number", on, x, [], {names[k]: line for k, line in zip(shown, lines)})
    if not isinstance(plan, WordsPlan) or not len(columns):
        return None
    words, lines = _category_effect(asked, X, columns, plan)
    return Effect(name, "words", on, [], words, {names[k]: line for k, line in zip(shown, lines)})


def _number_effect(
    asked: Any, X: np.ndarray, column: int, plan: NumberPlan
) -> tuple[list[float], list[list[float]]] | None:
    """Differences of answers over each interval, for the rows inside, averaged and added up."""
    values = X[:, column]
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, MAX_BINS + 1), method="inverted_cdf"))
    if len(edges) < 2:
        return None
    bins = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, len(edges) - 2)
    low, high = X.copy(), X.copy()
    low[:, column], high[:, column] = edges[bins], edges[bins + 1]
    steps = asked(high) - asked(low)
    n = np.maximum(np.bincount(bins, minlength=len(edges) - 1), 1)
    local = np.column_stack([np.bincount(bins, weights=s, minlength=len(edges) - 1) / n for s in steps.T])
    effect = np.vstack([np.zeros((1, local.shape[1])), np.cumsum(local, axis=0)])
    middle = 0.5 * (effect[bins] + effect[bins + 1])
    effect = effect - middle.mean(axis=0)
    x = (plan.mean + edges.astype(np.float64) * plan.scale).tolist()
    return x, effect.T.tolist()


def _category_effect(
    asked: Any, X: np.ndarray, columns: np.ndarray, plan: WordsPlan
) -> tuple[list[str], list[list[float]]]:
    """Mean answers with every row set to a category, less the mean answer as the rows are."""
    frequency = X[:, columns].sum(axis=0)
    order = np.argsort(-frequency[: len(plan.categories)], kind="stable")[:MAX_CATEGORIES].tolist()
    before, out = asked(X).mean(axis=0), []
    for k in order:
        rows = X.copy()
        rows[:, columns] = 0.0
        rows[:, columns[k]] = X[:, columns[k]].max() or 1.0
        out.append(asked(rows).mean(axis=0) - before)
    return [str(plan.categories[k]) for k in order], np.array(out).T.tolist()

"""Rows of the page with their values, what they are compared with, and the classes' distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...io.readers import Block, Words
from ...table import DatePlan, TablePreparation
from .gather import RowFacts, SampledRows

__all__ = ["column_names", "columns_document", "date_plans", "rounded", "rows_document"]

MAX_COLUMNS = 100  # of the file, with values on the page; of more, those that matter
MAX_COLUMNS_THAT_MATTER = 40
MAX_DISTRIBUTIONS = 12_000  # pairs of a column and a class
MAX_CATEGORIES = 8  # of a class's distribution
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
DIGITS = 6


def rounded(values: Any, digits: int = DIGITS) -> list[Any]:
    """Numbers with so many digits, None for what is not finite; whole numbers without a point."""
    out: list[Any] = []
    for value in np.asarray(values, dtype=np.float64).ravel().tolist():
        if not np.isfinite(value):
            out.append(None)
        elif value == int(value) and abs(value) < 1e15:
            out.append(int(value))
        else:
            out.append(float(f"{value:.{digits}g}"))
    return out


def column_names(block: Block, ranked: Sequence[str]) -> tuple[list[str], int]:
    """Columns that the page has, in the order of the file, and how many there are in all."""
    features = block.features
    names = list(features) if isinstance(features, Mapping) else [f"x{j}" for j in range(features.shape[1])]
    if len(names) <= MAX_COLUMNS:
        return names, len(names)
    present = set(names)
    first = [name for name in ranked if name in present] or names
    kept = set(first[:MAX_COLUMNS_THAT_MATTER])
    return [name for name in names if name in kept], len(names)


def date_plans(table: TablePreparation | None) -> dict[str, DatePlan]:
    """The plans of the columns of dates, by name."""
    names = getattr(table, "feature_names_in_", None)
    if table is None or names is None:
        return {}
    return {str(name): plan for name, plan in zip(names, table.plans_) if isinstance(plan, DatePlan)}


def _values(block: Block, name: str, dates: Mapping[str, DatePlan]) -> Any:
    """A column, with its dates in the form in which those of support vectors are shown."""
    features = block.features
    if isinstance(features, Mapping):
        values = features[name]
        if isinstance(values, Words) and name in dates:
            return Words(values.codes, tuple(dates[name].shown([str(word) for word in values.values])))
        return values
    column = features[:, [int(name[1:])]] if is_sparse(features) else features[:, int(name[1:])]
    return np.asarray(column.toarray() if is_sparse(column) else column, dtype=np.float64).ravel()


def rows_document(shown: SampledRows, n_rows: int, n_wrong: int) -> dict[str, Any]:
    """Numbers of rows from 1, classes by their numbers, margins and probabilities."""
    facts = shown.facts
    sure = None if np.isnan(facts.probabilities).all() else rounded(facts.probabilities)
    return {
        "n_rows": n_rows,
        "n_wrong": n_wrong,
        "n_random": shown.n_random,
        "number": (facts.numbers + 1).tolist(),
        "label": facts.labels.tolist(),
        "predicted": facts.predicted.tolist(),
        "rival": facts.rivals.tolist(),
        "margin": rounded(facts.margins),
        "probability": sure,
    }


def columns_document(
    shown: SampledRows,
    sample: SampledRows,
    support: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    ranked: Sequence[str],
    n_classes: int,
    dates: Mapping[str, DatePlan],
) -> list[dict[str, Any]]:
    """For each column its values in the rows and in the support vectors, and its distribution by class.

    The support vectors' values are None where the model does not know the column.
    """
    most = max(1, MAX_DISTRIBUTIONS // n_classes)
    order = [*(name for name in ranked if name in set(names)), *(n for n in names if n not in set(ranked))]
    described = set(order[:most])
    out = []
    for name in names:
        values = _values(shown.block, name, dates)
        known = all(name in each for each in support)
        there = [each[name] for each in support] if known else []
        column: dict[str, Any] = {"name": name, **_described(values, there)}
        if not known:
            column["support"] = None
        if name in described:
            column["classes"] = _by_class(_values(sample.block, name, dates), sample.facts, n_classes, column)
        out.append(column)
    return out


def _described(values: Any, support: list[Any]) -> dict[str, Any]:
    if isinstance(values, Words):
        return _words(values, support)
    there = [value if isinstance(value, float | int) else np.nan for value in support]
    return {"kind": "number", "values": rounded(values), "support": rounded(there)}


def _words(values: Words, support: list[Any]) -> dict[str, Any]:
    """Numbers of words: those of the rows, the most frequent first, then those of support vectors only."""
    counts: dict[str, int] = {}
    of_codes = np.bincount(values.codes[values.codes >= 0], minlength=len(values.values)).tolist()
    for word, n in zip(map(str, values.values), of_codes):
        if n:
            counts[word] = counts.get(word, 0) + n
    words = sorted(counts, key=lambda word: -counts[word])
    words = list(dict.fromkeys([*words, *(str(word) for word in support if word is not None)]))
    place = {word: k for k, word in enumerate(words)}
    table = [place.get(str(word)) for word in values.values]
    codes = [None if code < 0 else table[code] for code in values.codes.tolist()]
    there = [None if word is None else place[str(word)] for word in support]
    return {"kind": "words", "words": words, "values": codes, "support": there}


def _by_class(values: Any, facts: RowFacts, n_classes: int, column: Mapping[str, Any]) -> dict[str, Any]:
    """Rows of each class with a value; five quantiles, or shares of the most frequent categories."""
    if isinstance(values, Words):
        return _shares(values, facts.labels, n_classes, column["words"])
    counts, quantiles = [], []
    for k in range(n_classes):
        own = values[(facts.labels == k) & ~np.isnan(values)]
        counts.append(len(own))
        quantiles.append(rounded(np.quantile(own, QUANTILES), 4) if len(own) else None)
    return {"n": counts, "quantiles": quantiles}


def _shares(values: Words, labels: np.ndarray, n_classes: int, words: Sequence[str]) -> dict[str, Any]:
    place = {word: k for k, word in enumerate(words[:MAX_CATEGORIES])}
    table = np.array([*(place.get(str(word), -1) for word in values.values), -2])[values.codes]
    counts = np.zeros((n_classes, len(place) + 1), dtype=np.int64)
    known = (labels >= 0) & (table > -2)
    np.add.at(counts, (labels[known], np.where(table[known] < 0, len(place), table[known])), 1)
    return {"n": counts.sum(axis=1).tolist(), "counts": counts[:, :-1].tolist()}

"""Rows of the page with their values, what they are compared with, and the classes' distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...io.readers import Block, Words
from .gather import RowFacts, SampledRows

__all__ = ["column_names", "columns_document", "rounded", "rows_document"]

MAX_COLUMNS = 100  # of the file, with values on the page; of more, those that matter
MAX_COLUMNS_THAT_MATTER = 40
MAX_DISTRIBUTIONS = 12_000  # pairs of a column and a class
MAX_CATEGORIES = 8  # of a class's distribution
MAX_WORDS = 400  # different ones of a column
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ANOTHER = "(another)"
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


def _values(block: Block, name: str) -> Any:
    features = block.features
    if isinstance(features, Mapping):
        return features[name]
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
) -> list[dict[str, Any]]:
    """For each column its values in the rows and in the support vectors, and its distribution by class."""
    most = max(1, MAX_DISTRIBUTIONS // n_classes)
    order = [*(name for name in ranked if name in set(names)), *(n for n in names if n not in set(ranked))]
    described = set(order[:most])
    out = []
    for name in names:
        values = _values(shown.block, name)
        there = [each.get(name, 0.0 if _is_sparse_row(each, name) else None) for each in support]
        kind = _words if isinstance(values, Words) else _numbers
        column = {"name": name, **kind(values, there)}
        if name in described:
            column["classes"] = _by_class(_values(sample.block, name), sample.facts, n_classes, column)
        out.append(column)
    return out


def _is_sparse_row(values: Mapping[str, Any], name: str) -> bool:
    return name not in values and name.startswith("x")


def _numbers(values: np.ndarray, support: list[Any]) -> dict[str, Any]:
    there = [value if isinstance(value, float | int) else np.nan for value in support]
    return {"kind": "number", "values": rounded(values), "support": rounded(there)}


def _words(values: Words, support: list[Any]) -> dict[str, Any]:
    """Numbers of words; the most frequent ones have their own."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.values))
    kept = np.argsort(-counts, kind="stable")[: MAX_WORDS - 1].tolist()
    words = [str(values.values[k]) for k in kept if counts[k]]
    place = {word: k for k, word in enumerate(words)}
    table = [place.get(str(word)) for word in values.values]
    if any(k is None for k, n in zip(table, counts) if n) or any(
        word is not None and str(word) not in place for word in support
    ):
        words.append(ANOTHER)
        place.setdefault(ANOTHER, len(words) - 1)
    other = place.get(ANOTHER)
    numbers = [other if k is None else k for k in table]
    codes = [None if code < 0 else numbers[code] for code in values.codes.tolist()]
    there = [None if word is None else place.get(str(word), other) for word in support]
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

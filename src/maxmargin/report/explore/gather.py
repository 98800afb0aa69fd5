"""What is kept of a file while a model is evaluated on it: two samples of rows, and counts along the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...evaluation import ModelAnswers, RowSample
from ...io.readers import Block, join
from ...table import taken
from .machine import Machine, machine_of
from .path import PathCounts, path_counts

__all__ = ["GatheredRows", "RowFacts", "SampledRows"]

MAX_ROWS = 2_000  # on the page
MIN_SAMPLED, MAX_SAMPLED = 200, 5_000  # rows, for the distributions of columns
MAX_SAMPLED_VALUES = 4_000_000
SEED = 0


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What is known of some rows.

    ``labels`` are -1 where a label is no class. ``rivals`` are the true classes of rows that were mistaken,
    else the classes with the second largest scores. ``margins`` are scores of the true class less the largest
    other one, ``probabilities`` those of the predicted class; both may be NaN.
    """

    numbers: np.ndarray
    labels: np.ndarray
    predicted: np.ndarray
    rivals: np.ndarray
    margins: np.ndarray
    probabilities: np.ndarray

    def columns(self) -> tuple[np.ndarray, ...]:
        """All of it, in this order."""
        fields = (self.numbers, self.labels, self.predicted, self.rivals, self.margins, self.probabilities)
        return tuple(fields)

    def taken(self, rows: np.ndarray) -> RowFacts:
        """Some of the rows, by position."""
        return RowFacts(*(column[rows] for column in self.columns()))


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows with what is known of them; ``n_random`` of them are a random sample, the others mistakes."""

    block: Block
    facts: RowFacts
    n_random: int


class GatheredRows:
    """Called with each batch of an evaluation; memory does not grow with their number."""

    def __init__(self, classifier: Any, n_features: int) -> None:
        most = int(np.clip(MAX_SAMPLED_VALUES // max(1, n_features), MIN_SAMPLED, MAX_SAMPLED))
        self.sample, self.mistakes = RowSample(most, SEED), RowSample(MAX_ROWS // 2, SEED)
        self.machine: Machine | str = machine_of(classifier)
        self.path: PathCounts | str = path_counts(classifier, self.machine)
        self.n_rows = self.n_wrong = 0

    def __call__(self, rows: Block, X: Any, labels: np.ndarray, told: ModelAnswers) -> None:
        """Look at a batch."""
        facts = _facts_of(rows.first_row, labels, told)
        wrong = np.flatnonzero(labels != told.predicted)
        self.n_rows += rows.n_rows
        self.n_wrong += len(wrong)
        self.sample.add(rows, facts.numbers, *facts.columns())
        if len(wrong):
            some = facts.taken(wrong)
            self.mistakes.add(taken(rows, wrong), some.numbers, *some.columns())
        if isinstance(self.path, PathCounts):
            self.path.add(X, labels)

    def sampled(self) -> SampledRows:
        """The uniform sample."""
        block, columns = self.sample.result()
        return SampledRows(block, RowFacts(*columns), block.n_rows)

    def shown(self) -> SampledRows:
        """The rows of the page: all of few; else half of them at random, and half from the mistakes."""
        every = self.sampled()
        if self.n_rows <= MAX_ROWS and every.block.n_rows == self.n_rows:
            return every
        order = np.random.default_rng(SEED).permutation(every.block.n_rows)
        n_random = min(MAX_ROWS - min(self.n_wrong, MAX_ROWS // 2), every.block.n_rows)
        first = np.sort(order[:n_random])
        block, facts = taken(every.block, first), every.facts.taken(first)
        if not len(self.mistakes):
            return SampledRows(block, facts, n_random)
        others, columns = self.mistakes.result()
        more = RowFacts(*columns)
        new = np.flatnonzero(~np.isin(more.numbers, facts.numbers))
        block = join([block, taken(others, new)]) if len(new) else block
        pairs = zip(facts.columns(), more.taken(new).columns())
        return SampledRows(block, RowFacts(*(np.concatenate(pair) for pair in pairs)), n_random)


def _facts_of(first_row: int, labels: np.ndarray, told: ModelAnswers) -> RowFacts:
    n, known = len(labels), labels >= 0
    at, predicted = np.arange(n), told.predicted
    own = np.where(known, labels, 0)
    others = told.scores.copy()
    others[at, own] = -np.inf
    margins = np.where(known, told.scores[at, own] - others.max(axis=1), np.nan)
    others[at, own] = told.scores[at, own]
    others[at, predicted] = -np.inf
    rivals = np.where(known & (labels != predicted), labels, np.argmax(others, axis=1))
    sure = np.full(n, np.nan) if told.probabilities is None else told.probabilities[at, predicted]
    return RowFacts(first_row + at, labels.copy(), np.asarray(predicted), rivals, margins, sure)

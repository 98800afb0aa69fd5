"""How good a model is on the rows of a file, in one pass and constant memory."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..data import ParameterError, checked_input
from ..io.readers import BLOCK_ROWS, Source, file_parts
from ..metrics import (
    ClassRow,
    Confusion,
    Costs,
    CostStudy,
    Decision,
    Interval,
    decision_values,
    share_interval,
    top_k_accuracy,
)
from ..training import plain
from .answers import AnsweredRows, Mistake, MistakeTally, ModelAnswers, classifier_of
from .decisions import DecisionTally
from .labels import LabelMatch
from .predict import ahead
from .probabilities import Calibration, Ranking, RankingTally, ReliabilityTally
from .thresholds import MAX_CURVE_POINTS, ThresholdCurves

__all__ = ["Evaluation", "TopK", "UnlikeTraining", "evaluate", "evaluate_rows"]

MAX_SCORES_PER_BATCH = 1 << 22
Watch = Callable[[Any, Any, np.ndarray, ModelAnswers], None]


@dataclass(frozen=True)
class TopK:
    """How often the true class is among the k with the largest scores."""

    k: int
    accuracy: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class Evaluation:
    r"""The result of :func:`evaluate`; intervals have 95 % confidence.

    Attributes
    ----------
    file : str
    n_rows : int
    accuracy, balanced_accuracy, majority_share : float
        ``majority_share`` is the accuracy of always naming the most frequent class of these rows.
    accuracy_interval : tuple of float
        By Clopper and Pearson.
    classes : list of str
    confusion : ndarray of shape (n_classes, n_classes)
        True classes as rows, predicted ones as columns.
    per_class : list of ClassRow
    most_confused : list of (true, predicted, rows)
    top_k : list of TopK
        For more than two classes, and k less than their number.
    calibration : Calibration or None
        For a model with probabilities.
    ranking : Ranking or None
        For two classes that both occur.
    mistakes : list of Mistake
        The most confident: those with the largest probabilities or, without these, margins.
    curves : ThresholdCurves or None
        ROC and precision-recall curves, for two classes that both occur.
    costs : CostStudy or None
        What a decision by costs gains, if costs were given or are stored with the model.
    unknown_labels : dict of str to int
        Rows of labels that are no class, counted as errors.
    unseen_words : dict of str to int
        For each column of words, in how many rows it has one that training had not.
    notes : list of str
        How labels were matched, and what else a reader should know.
    seconds : float

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.evaluation import evaluate
    >>> int(evaluate(trained.model, source).confusion.sum())
    40
    """

    file: str
    n_rows: int
    accuracy: float
    accuracy_interval: Interval
    balanced_accuracy: float
    majority_share: float
    classes: list[str]
    confusion: np.ndarray
    per_class: list[ClassRow]
    most_confused: list[tuple[str, str, int]]
    top_k: list[TopK]
    calibration: Calibration | None
    ranking: Ranking | None
    mistakes: list[Mistake]
    curves: ThresholdCurves | None = None
    costs: CostStudy | None = None
    unknown_labels: dict[str, int] = field(default_factory=dict)
    unseen_words: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = math.nan

    def as_dict(self) -> dict[str, Any]:
        """Everything as lists, dicts, texts and numbers, fit for JSON; None for what is not a number."""
        return dict(plain(asdict(self)))


def evaluate(
    model: Any,
    source: Source,
    *,
    batch: int | None = None,
    top_k: Sequence[int] = (1, 3, 5),
    labels: Mapping[str, str] | None = None,
    unknown_labels: str = "error",
    costs: Costs | None = None,
    decision: Decision | None = None,
    client: Any = None,
    curve_points: int = MAX_CURVE_POINTS,
    watch: Watch | None = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    r"""Evaluate a fitted model on the rows of a source, block by block, reading ahead.

    Memory does not grow with the number of rows: all but the area under the ROC curve and the average
    precision are counts and sums, and these two are computed from all scores up to four million, beyond that
    from a random sample of so many.

    Parameters
    ----------
    model : fitted classifier, or pipeline that ends in one
    source : Source
        With a target.
    batch : int, optional
        Rows at a time: by default 65,536, or fewer where there are many classes. The answer does not depend
        on it.
    top_k : sequence of int, default=(1, 3, 5)
        Which k to count for; used where there are more than two classes, and more than k.
    labels : mapping of str to str, optional
        Labels of the file, and the class of the model that each stands for.
    unknown_labels : {"error", "wrong"}, default="error"
        Refuse labels that are no class, or count their rows as errors.
    costs : Costs, optional
        Of errors; those of the decision by default.
    decision : Decision, optional
        How classes are chosen from the model's answers; by default as the model's ``predict`` does.
    client : distributed.Client, optional
        Whose workers compute the model's answers, a whole file at a time; the result is the same.
    curve_points : int, default=200
        Points of the curves of two classes, at most.
    watch : callable, optional
        Called for each batch with its rows, as read and as prepared, the numbers of their classes (-1 where
        a label is none), and the model's answers. Rows that a cluster answers for are not seen here.
    progress : callable, optional
        Told after each batch how many rows are done.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.evaluation import evaluate
    >>> evaluate(trained.model, source).n_rows
    40
    """
    classes = classifier_of(model).classes_
    n_rows = max(256, min(BLOCK_ROWS, MAX_SCORES_PER_BATCH // len(classes))) if batch is None else batch
    decided = DecisionTally(costs, decision, curve_points)
    tally = _Tally(LabelMatch(classes, labels, unknown_labels), top_k, decided, watch)
    if watch is not None and client is not None:
        raise ValueError("watch sees rows of this process only; leave client out.")
    batches = (
        _answered(model, source, n_rows, keep=watch is not None)
        if client is None
        else _on_cluster(client, model, source, n_rows)
    )
    return tally.over(batches, source.name, progress)


def _answered(model: Any, source: Source, n_rows: int, keep: bool = False) -> Iterator[AnsweredRows]:
    """The answers for the blocks of a source, which another thread reads ahead."""
    for block in ahead(source.blocks(n_rows)):
        yield AnsweredRows.of(model, block, block.target, block.first_row, keep)


def _on_cluster(client: Any, model: Any, source: Source, n_rows: int) -> Iterator[AnsweredRows]:
    """The same by the workers of a client; each file is one task."""
    from ..clusters import of_files

    before = 0
    for found in of_files(client, _all_answers, model, file_parts(source), n_rows):
        for part in found:
            yield replace(part, first_row=before + part.first_row)
        before += sum(len(part) for part in found)


def _all_answers(model: Any, file: Source, n_rows: int) -> list[AnsweredRows]:
    return list(_answered(model, file, n_rows))


def evaluate_rows(model: Any, X: Any, y: Any, *, top_k: Sequence[int] = (1, 3, 5)) -> Evaluation:
    """The same for rows in memory: X is whatever the model takes and can be sliced, y their labels."""
    classes = classifier_of(model).classes_
    X, y = checked_input(X), np.asarray(y)

    def slices() -> Iterator[AnsweredRows]:
        for first in range(0, len(y), BLOCK_ROWS):
            some = slice(first, first + BLOCK_ROWS)
            yield AnsweredRows.of(model, X[some], y[some], first)

    return _Tally(LabelMatch(classes), top_k).over(slices(), "rows in memory")


class _Tally:
    """Counts and sums over batches."""

    def __init__(
        self,
        match: LabelMatch,
        top_k: Sequence[int],
        decided: DecisionTally | None = None,
        watch: Watch | None = None,
    ) -> None:
        names, self.watch = match.names, watch
        self.decided = decided or DecisionTally()
        self.match = match
        self.confusion = Confusion(names)
        self.reliability = ReliabilityTally()
        self.ranking = RankingTally(names[1]) if len(names) == 2 else None
        self.mistakes = MistakeTally(names)
        self.unlike = UnlikeTraining()
        self.hits = {k: 0 for k in sorted(set(top_k)) if len(names) > 2 and k < len(names)}

    def over(
        self, batches: Iterable[AnsweredRows], file: str, progress: Callable[[int], None] | None = None
    ) -> Evaluation:
        start = time.perf_counter()
        for rows in batches:
            if rows.target is None:
                raise ParameterError(
                    f"{file} has no target to compare predictions with.", "Name it ({target}).", target=None
                )
            if rows.answers is not None:
                self.unlike.add(rows.notices)
                labels = self.match.numbers(rows.target)
                told = self._add(rows.answers, labels, rows.first_row)
                if self.watch is not None and rows.given is not None:
                    self.watch(*rows.given, labels, told)
            if progress is not None:
                progress(self.confusion.n_rows)
        if self.confusion.n_rows == 0:
            raise ValueError(f"{file} has no rows, so there is nothing to evaluate.")
        return self._result(file, time.perf_counter() - start)

    def _add(self, told: ModelAnswers, labels: np.ndarray, first_row: int) -> ModelAnswers:
        """Count some rows; their answers, decided."""
        known, plain = labels >= 0, told.predicted
        told = self.decided.applied(told, labels)
        self.confusion.add(labels, told.predicted)
        self.mistakes.add(first_row, labels, told)
        for k in self.hits:
            share = top_k_accuracy(labels, told.scores, k, classes=np.arange(told.scores.shape[1]))
            self.hits[k] += round(share * len(labels))
        if told.probabilities is not None:
            self.reliability.add(told.probabilities[known], plain[known], labels[known])
        if self.ranking is not None:
            rows = first_row + np.flatnonzero(known)
            difference = told.scores[known, 1] - told.scores[known, 0]
            values = decision_values(told.scores, told.probabilities)[known]
            self.ranking.add(rows, difference, labels[known] == 1, values, plain[known] == 1)
        return told

    def _result(self, file: str, seconds: float) -> Evaluation:
        counts, n_rows = self.confusion, self.confusion.n_rows
        sample = None if self.ranking is None else self.ranking.columns()
        curves, costs = self.decided.result(counts.names[-1], sample)
        hits = [TopK(k, n / n_rows, share_interval(n, n_rows)) for k, n in self.hits.items()]
        return Evaluation(
            file=file,
            n_rows=n_rows,
            accuracy=counts.n_right / n_rows,
            accuracy_interval=share_interval(counts.n_right, n_rows),
            balanced_accuracy=counts.balanced_accuracy(len(self.match.unknown_counts)),
            majority_share=counts.majority_share(),
            classes=counts.names,
            confusion=counts.matrix,
            per_class=counts.class_rows(),
            most_confused=counts.most_confused(),
            top_k=hits,
            calibration=self.reliability.result(),
            ranking=None if self.ranking is None else self.ranking.result(),
            mistakes=self.mistakes.kept,
            curves=curves,
            costs=costs,
            unknown_labels=dict(self.match.unknown_counts),
            unseen_words=dict(self.unlike.unseen),
            notes=self.match.notes + self.unlike.notes,
            seconds=seconds,
        )


MAX_SHOWN = 5


@dataclass
class UnlikeTraining:
    """Sums of the notices of a ``TablePreparation``."""

    unseen: Counter[str] = field(default_factory=Counter)  # rows with a new word, by column
    gaps: Counter[str] = field(default_factory=Counter)  # missing values where training had none, by column
    extra: list[str] = field(default_factory=list)  # columns left out
    no_dates: Counter[str] = field(default_factory=Counter)  # rows without a date in a column of dates
    shown: dict[str, list[str]] = field(default_factory=dict)  # a few of the new words

    def add(self, notices: Any) -> None:
        """Take in what one batch has told; None is nothing."""
        if notices is None:
            return
        self.gaps.update(notices.gaps)
        for column, words in notices.no_dates.items():
            self.no_dates[column] += sum(words.values())
            shown = dict.fromkeys([*self.shown.get(column, []), *words])
            self.shown[column] = list(shown)[:MAX_SHOWN]
        self.extra = list(dict.fromkeys([*self.extra, *notices.extra]))
        for column, words in notices.unseen.items():
            self.unseen[column] += sum(words.values())
            shown = dict.fromkeys([*self.shown.get(column, []), *words])
            self.shown[column] = list(shown)[:MAX_SHOWN]

    @property
    def notes(self) -> list[str]:
        """A sentence for each column."""
        notes = [
            f"column {column!r} has values unseen in training in {n} rows, such as "
            f"{', '.join(map(repr, self.shown[column]))}"
            for column, n in self.unseen.items()
        ]
        notes += [
            f"column {column!r} has values that are not dates in {n} rows, read as missing, such as "
            f"{', '.join(map(repr, self.shown[column]))}"
            for column, n in self.no_dates.items()
        ]
        notes += [
            f"column {column!r} has {n} missing values, but had none in training"
            for column, n in self.gaps.items()
        ]
        if self.extra:
            notes.append(f"columns unseen in training are ignored: {', '.join(map(repr, self.extra))}")
        return notes

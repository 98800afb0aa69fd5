"""The errors of predicted numbers on the rows of a file, and how often intervals contain the true ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...data import ParameterError
from ...io.readers import Source
from ...metrics import Interval, share_interval
from ...training import NumberScores, NumberTarget, number_scores, one_prediction, plain
from .rows import PreparedRows, classifier_of

__all__ = ["Coverage", "NumberEvaluation", "NumberRow", "evaluate_numbers"]

COVERAGES = (0.5, 0.8, 0.9, 0.95)
MAX_WORST = 20
MAX_SAMPLE = 2000


@dataclass(frozen=True)
class Coverage:
    """How often intervals contain the true number.

    Attributes
    ----------
    asked : float
        The probability that the intervals are made for.
    share : float
        Of the rows, in which the interval contains the true number.
    interval : tuple of float
        Of that share, with 95 % confidence, by Clopper and Pearson.
    width : float
        Mean width of the intervals.

    Examples
    --------
    >>> from maxmargin.evaluation import Coverage
    >>> Coverage(asked=0.9, share=0.91, interval=(0.88, 0.93), width=2.5).share
    0.91
    """

    asked: float
    share: float
    interval: Interval
    width: float


@dataclass(frozen=True)
class NumberRow:
    """A row, counted from 0, with the true and the predicted number.

    Attributes
    ----------
    row : int
    true, predicted : float

    Examples
    --------
    >>> from maxmargin.evaluation import NumberRow
    >>> NumberRow(row=3, true=1.5, predicted=1.25).row
    3
    """

    row: int
    true: float
    predicted: float


@dataclass(frozen=True, eq=False)
class NumberEvaluation:
    r"""The result of :func:`evaluate_numbers`; intervals have 95 % confidence.

    Attributes
    ----------
    file : str
    n_rows : int
    scores : NumberScores
        Mean absolute error, root of the mean squared error and R^2, each with an interval.
    coverages : list of Coverage
        Of intervals for 50, 80, 90 and 95 %, for a calibrated model; those that it has calibration rows for.
    worst : list of NumberRow
        The largest errors first.
    rows, true, predicted : ndarray
        A sample of the rows, evenly spaced: their numbers, and what was true and predicted.
    notes : list of str
        What was unlike the training.
    seconds : float

    Examples
    --------
    >>> from maxmargin.evaluation import evaluate_numbers
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> from pathlib import Path
    >>> size = Path("line.csv").write_text("\n".join(["x,y", *(f"{k},{2.5 * k}" for k in range(40))]))
    >>> source = open_source("line.csv", target="y")
    >>> found = evaluate_numbers(train(source).model, source)
    >>> found.n_rows, found.scores.r2 > 0.99
    (40, True)
    """

    file: str
    n_rows: int
    scores: NumberScores
    coverages: list[Coverage]
    worst: list[NumberRow]
    rows: np.ndarray
    true: np.ndarray
    predicted: np.ndarray
    notes: list[str] = field(default_factory=list)
    seconds: float = math.nan

    def as_dict(self) -> dict[str, Any]:
        """All but the sample of rows, as JSON values."""
        whole = asdict(self)
        return dict(plain({k: v for k, v in whole.items() if k not in ("rows", "true", "predicted")}))


def evaluate_numbers(
    model: Any,
    source: Source,
    *,
    coverages: Sequence[float] = COVERAGES,
    progress: Callable[[int], None] | None = None,
) -> NumberEvaluation:
    r"""Evaluate a regressor on the rows of a source; memory holds two numbers for each row.

    Of a model with several quantiles the one nearest to the median is the prediction.

    Parameters
    ----------
    model : fitted regressor, or pipeline that ends in one
    source : Source
        With a target.
    coverages : sequence of float, default=(0.5, 0.8, 0.9, 0.95)
        Probabilities of the intervals that are tested, if the model is calibrated.
    progress : callable, optional
        Told after each block how many rows are done.

    Returns
    -------
    NumberEvaluation

    Examples
    --------
    >>> from maxmargin.evaluation import evaluate_numbers
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> from pathlib import Path
    >>> size = Path("line.csv").write_text("\n".join(["x,y", *(f"{k},{2.5 * k}" for k in range(40))]))
    >>> source = open_source("line.csv", target="y")
    >>> evaluate_numbers(train(source).model, source).worst[0].row < 40
    True
    """
    start, last = time.perf_counter(), classifier_of(model)
    if source.target is None:
        raise ParameterError(
            f"{source.name} has no target to compare predictions with.", "Name it ({target}).", target=None
        )
    tested, prepared = _possible(last, coverages), PreparedRows(model, NumberTarget(source))
    true, predicted, within = [], [], []
    n_rows = 0
    for block, X in prepared:
        y = np.asarray(block.target)
        true.append(y)
        predicted.append(one_prediction(last, X))
        within.append([_inside(last.predict_interval(X, each), y) for each in tested])
        n_rows += block.n_rows
        if progress is not None:
            progress(n_rows)
    if not n_rows:
        raise ValueError(f"{source.name} has no rows, so there is nothing to evaluate.")
    y, f = np.concatenate(true), np.concatenate(predicted)
    sample = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MAX_SAMPLE)).astype(np.int64))
    worst = np.argsort(-np.abs(y - f), kind="stable")[:MAX_WORST]
    return NumberEvaluation(
        file=source.name,
        n_rows=n_rows,
        scores=number_scores(y, f),
        coverages=[_coverage(tested[k], [each[k] for each in within], n_rows) for k in range(len(tested))],
        worst=[NumberRow(int(k), float(y[k]), float(f[k])) for k in worst],
        rows=sample,
        true=y[sample],
        predicted=f[sample],
        notes=prepared.notes,
        seconds=time.perf_counter() - start,
    )


def _possible(model: Any, coverages: Sequence[float]) -> list[float]:
    """Those that the model has enough calibration rows for."""
    n = len(getattr(model, "calibration_scores_", ()))
    return [each for each in coverages if math.ceil((n + 1) * each - 1e-9) <= n]


def _inside(ends: np.ndarray, y: np.ndarray) -> tuple[int, float]:
    """In how many rows the interval contains the number, and the sum of the widths."""
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    return int(inside.sum()), float((ends[:, 1] - ends[:, 0]).sum())


def _coverage(asked: float, parts: Sequence[tuple[int, float]], n_rows: int) -> Coverage:
    inside = sum(n for n, _ in parts)
    width = sum(width for _, width in parts) / n_rows
    return Coverage(asked, inside / n_rows, share_interval(inside, n_rows), width)

"""What more rows would bring: the model of a file, fitted to fewer of its rows, on the rows of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..io.readers import Source
from ..metrics import Interval, normal_interval, share_interval
from .refits import Refits, growing_sizes

__all__ = ["LearningCurve", "LearningPoint", "learning_curve"]

MIN_ROWS = 32
MAX_SIZES = 7


@dataclass(frozen=True)
class LearningPoint:
    """A fit to some of the training rows.

    Attributes
    ----------
    n_rows : int
        Rows of the fit.
    accuracy : float
        On the test rows.
    accuracy_interval : tuple of float
        95 %.
    training_accuracy : float
        On the rows of the fit themselves.

    Examples
    --------
    >>> from maxmargin.evaluation import LearningPoint
    >>> LearningPoint(200, 0.9, (0.85, 0.94), 0.95).n_rows
    200
    """

    n_rows: int
    accuracy: float
    accuracy_interval: Interval
    training_accuracy: float


@dataclass(frozen=True)
class LearningCurve:
    r"""Accuracy against the number of training rows, by :func:`learning_curve`.

    Attributes
    ----------
    n_test : int
        Test rows, the same for every point.
    points : list of LearningPoint
        Each with twice the rows of the one before, which are among them.
    gain : float
        What the last doubling of the rows brought.
    gain_interval : tuple of float
        95 %, of the differences row by row.
    notes : list of str

    Examples
    --------
    >>> from pathlib import Path
    >>> for name, n in (("old.csv", 200), ("new.csv", 90)):
    ...     rows = [f"{k % 10},{k % 7},{'high' if k % 10 > 4 or k % 13 == 0 else 'low'}" for k in range(n)]
    ...     size = Path(name).write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> old, new = (open_source(name, target="kind") for name in ("old.csv", "new.csv"))
    >>> from maxmargin.evaluation import learning_curve
    >>> [point.n_rows for point in learning_curve(train(old, model="linear").model, old, new).points]
    [50, 100, 200]
    """

    n_test: int
    points: list[LearningPoint]
    gain: float
    gain_interval: Interval
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What the last doubling says about more rows, in a sentence."""
        low, high = (100.0 * end for end in self.gain_interval)
        if len(self.points) < 2:
            return "There are too few rows for a learning curve."
        before, last = (f"{point.n_rows:,}" for point in self.points[-2:])
        moved = (
            f"From {before} to {last} rows the accuracy changes by {100.0 * self.gain:+.2f} points "
            f"(95 %: {low:+.2f} to {high:+.2f})"
        )
        if low > 0.0:
            return f"{moved}: more rows are likely to help."
        return f"{moved}: it is not shown that more rows would help."


def learning_curve(
    model: Any, training: Source, test: Source, *, labels: Any = None, seed: int = 0
) -> LearningCurve:
    r"""Fit the estimator of a model to 1/64, ..., 1/2 and all of its training rows, and test each fit.

    The preparation of columns stays that of the model, and so do its parameters: of an ``AutoSVC`` those that
    it chose. Files with more rows are sampled: 20,000 rows of each at most.

    Parameters
    ----------
    model : Pipeline
        A trained model.
    training, test : Source
        Its training file, and other rows with their classes.
    labels : mapping of str to str, optional
        Labels of the test file, and the class that each stands for.
    seed : int, default=0
        Decides which rows come first.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from pathlib import Path
    >>> for name, n in (("old.csv", 200), ("new.csv", 90)):
    ...     rows = [f"{k % 10},{k % 7},{'high' if k % 10 > 4 or k % 13 == 0 else 'low'}" for k in range(n)]
    ...     size = Path(name).write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> old, new = (open_source(name, target="kind") for name in ("old.csv", "new.csv"))
    >>> from maxmargin.evaluation import learning_curve
    >>> learning_curve(train(old, model="linear").model, old, new).n_test
    90
    """
    rows = Refits.of(model, training, test, labels, seed)
    least = max(MIN_ROWS, 4 * len(np.unique(rows.y)))
    points, right = [], []
    for n in growing_sizes(least, len(rows.y), MAX_SIZES):
        fitted = rows.fitted(n)
        right.append(rows.right(fitted))
        n_right = int(right[-1].sum())
        accuracy = n_right / len(rows.truth)
        interval = share_interval(n_right, len(rows.truth))
        own = float(np.mean(fitted.predict(rows.X[:n]) == rows.y[:n]))
        points.append(LearningPoint(n, accuracy, interval, own))
    gains = right[-1].astype(float) - right[-2] if len(right) > 1 else np.zeros(1)
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    notes = ["the training file was sampled"] if rows.sampled else []
    return LearningCurve(
        len(rows.truth), points, float(gains.mean()), normal_interval(float(gains.mean()), error), notes
    )

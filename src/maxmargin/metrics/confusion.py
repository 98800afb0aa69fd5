"""Which class was taken for which: counts, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import beta, norm

from .natural import natural_order

__all__ = [
    "CONFIDENCE",
    "ClassRow",
    "Confusion",
    "Interval",
    "RunningMean",
    "normal_interval",
    "share_interval",
]


@dataclass(frozen=True)
class ClassRow:
    """One class: how often its name is right, how much of it is found. NaN where nothing is to count.

    Attributes
    ----------
    label : str
    precision, recall, f1 : float
    support : int
        Rows of the class.
    predicted : int
        Rows predicted as the class.
    recall_interval : tuple of float
        95 % interval.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.metrics import Confusion
    >>> counts = Confusion(["cat", "dog"])
    >>> counts.add(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> counts.class_rows()[0].recall
    0.5
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    recall_interval: Interval


@dataclass
class Confusion:
    """Counts of (true class, predicted class); rows whose label is no class are in the last row.

    Parameters
    ----------
    names : list of str
        The classes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.metrics import Confusion
    >>> counts = Confusion(["cat", "dog"])
    >>> counts.add(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> counts.matrix
    array([[1, 1],
           [0, 1]])
    """

    names: list[str]
    counts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.names)
        self.counts = np.zeros((n + 1, n), dtype=np.int64)

    def add(self, labels: np.ndarray, predicted: np.ndarray) -> None:
        """Count some rows; a label of -1 is that of no class."""
        n = len(self.names)
        cells = np.where(labels < 0, n, labels) * n + predicted
        self.counts += np.bincount(cells, minlength=(n + 1) * n).reshape(n + 1, n)

    @property
    def matrix(self) -> np.ndarray:
        """True classes as rows, predicted ones as columns."""
        return self.counts[:-1]

    @property
    def n_rows(self) -> int:
        """All rows, those of no class included."""
        return int(self.counts.sum())

    @property
    def n_right(self) -> int:
        """Rows whose class was named."""
        return int(np.trace(self.matrix))

    def balanced_accuracy(self, n_unknown_labels: int = 0) -> float:
        """The mean recall of the labels that occur; those that are no class are never found."""
        support = self.matrix.sum(axis=1)
        found = np.diagonal(self.matrix)[support > 0] / support[support > 0]
        return float(found.sum() / (len(found) + n_unknown_labels))

    def majority_share(self) -> float:
        """The accuracy of always naming the class that is most frequent here."""
        return float(self.matrix.sum(axis=1).max() / self.n_rows)

    def class_rows(self) -> list[ClassRow]:
        """A row for each class, in the model's order."""
        support, predicted = self.matrix.sum(axis=1), self.counts.sum(axis=0)
        return [
            self._class_row(number, int(support[number]), int(predicted[number]))
            for number in range(len(self.names))
        ]

    def _class_row(self, number: int, support: int, predicted: int) -> ClassRow:
        right = int(self.matrix[number, number])
        return ClassRow(
            self.names[number],
            precision=_share(right, predicted),
            recall=_share(right, support),
            f1=_share(2 * right, support + predicted),
            support=support,
            predicted=predicted,
            recall_interval=share_interval(right, support),
        )

    def most_confused(self, most: int = 10) -> list[tuple[str, str, int]]:
        """Pairs (true, predicted) that are taken for one another most often, with how often."""
        places = natural_order(self.names)  # of pairs that are as frequent
        off = (self.matrix - np.diag(np.diagonal(self.matrix)))[np.ix_(places, places)]
        order = np.argsort(-off, axis=None, kind="stable")[:most]
        pairs = [np.unravel_index(cell, off.shape) for cell in order]
        names = [self.names[k] for k in places]
        return [(names[i], names[j], int(off[i, j])) for i, j in pairs if off[i, j] > 0]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


Interval = tuple[float, float]
CONFIDENCE = 0.95


def share_interval(n_hits: int, n_rows: int, confidence: float = CONFIDENCE) -> Interval:
    """The shares that n_hits of n_rows do not speak against, by Clopper and Pearson.

    It holds for any number of rows that are drawn independently of the model and of one another; of no rows
    it says nothing: (0, 1).

    Parameters
    ----------
    n_hits : int
    n_rows : int
    confidence : float, default=0.95

    Examples
    --------
    >>> from maxmargin.metrics import share_interval
    >>> low, high = share_interval(97, 100)
    >>> round(low, 3), round(high, 3)
    (0.915, 0.994)
    """
    if n_rows == 0:
        return 0.0, 1.0
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if n_hits == 0 else float(beta.ppf(tail, n_hits, n_rows - n_hits + 1))
    high = 1.0 if n_hits == n_rows else float(beta.ppf(1.0 - tail, n_hits + 1, n_rows - n_hits))
    return low, high


def normal_interval(value: float, standard_error: float, confidence: float = CONFIDENCE) -> Interval:
    """The value and, to both sides, as many standard errors as a normal distribution wants."""
    width = float(norm.ppf(0.5 + confidence / 2.0)) * standard_error
    return value - width, value + width


@dataclass
class RunningMean:
    """Mean and standard error of numbers that come in batches (Chan, Golub and LeVeque, 1983)."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of squared distances from the mean

    def add(self, values: np.ndarray) -> None:
        """Take in some more numbers."""
        if not len(values):
            return
        n, mean = self.n + len(values), float(values.mean())
        step = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + step**2 * self.n * len(values) / n
        self.mean += step * len(values) / n
        self.n = n

    @property
    def standard_error(self) -> float:
        """Of the mean; not a number for fewer than two."""
        return math.sqrt(self.squares / (self.n - 1) / self.n) if self.n > 1 else math.nan

    def interval(self) -> Interval:
        """Around the mean, as if it were normal."""
        return normal_interval(self.mean, self.standard_error)

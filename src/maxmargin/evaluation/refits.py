"""The estimator inside a model with its training and test rows, for fits of it to fewer rows or budgets."""

from __future__ import annotations

import filecmp
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data import ParameterError
from ..io.readers import Source
from .answers import answers, classifier_of, prepared
from .labels import LabelMatch
from .sampled import sampled_rows

__all__ = ["Refits", "growing_sizes"]

MAX_TRAINING_ROWS = 20_000
MAX_TEST_ROWS = 20_000


def growing_sizes(least: int, most: int, n_sizes: int) -> list[int]:
    """Sizes that double up to the largest, ``n_sizes`` of them or as many as there are."""
    sizes = [most]
    while len(sizes) < n_sizes and sizes[-1] // 2 >= least:
        sizes.append(sizes[-1] // 2)
    return sizes[::-1]


@dataclass(frozen=True, eq=False)
class Refits:
    """Prepared rows, in the order in which subsets take them: every first part has the shares of the classes.

    Attributes
    ----------
    estimator : fitted classifier
        The one in the model: what ``AutoSVC`` chose, with rows as it scales them.
    X, y : training rows and their labels
    test_X : test rows
    truth : ndarray of int
        Numbers of their classes; -1 for a label that is no class.
    sampled : bool
        Whether there are more training rows than these.
    """

    estimator: Any
    X: Any
    y: np.ndarray
    test_X: Any
    truth: np.ndarray
    sampled: bool

    @classmethod
    def of(cls, model: Any, training: Source, test: Source, labels: Any, seed: int) -> Refits:
        """Both files, prepared by the model."""
        if _same_rows(training, test):
            raise ParameterError(
                "a learning curve is measured on rows that the model was not fitted to, and the training "
                f"file and the rows to evaluate are both {test.name}.",
                "Evaluate the model on other rows, or name the file that it was trained on ({training}).",
                training=None,
            )
        classifier = classifier_of(model)
        old, new = (
            sampled_rows(training, MAX_TRAINING_ROWS + 1, seed),
            sampled_rows(test, MAX_TEST_ROWS, seed + 1),
        )
        if old.target is None or new.target is None:
            raise ValueError("a learning curve needs the target in the training file and in the test file.")
        rows = [prepared(model, block)[0] for block in (old, new)]
        estimator = classifier
        if hasattr(classifier, "scaling_") and hasattr(classifier, "estimator_"):
            rows, estimator = [classifier.scaling_.transform(X) for X in rows], classifier.estimator_
        order = spread(np.asarray(old.target), seed)[:MAX_TRAINING_ROWS]
        truth = LabelMatch(classifier.classes_, labels, "wrong").numbers(new.target)
        y = np.asarray(old.target)[order]
        return cls(estimator, rows[0][order], y, rows[1], truth, old.n_rows > MAX_TRAINING_ROWS)

    def fitted(self, n_rows: int) -> Any:
        """The same estimator, fitted to the first rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clone(self.estimator).fit(self.X[:n_rows], self.y[:n_rows])

    def right(self, estimator: Any) -> np.ndarray:
        """Which test rows it predicts correctly; its classes may be fewer than those of the model."""
        places = np.searchsorted(self.estimator.classes_, estimator.classes_)
        return np.asarray(places[answers(estimator, self.test_X).predicted] == self.truth)


def _same_rows(training: Source, test: Source) -> bool:
    """Whether both are one source, one file, or files with the same bytes."""
    old, new = Path(training.name), Path(test.name)
    if training is test or not (old.is_file() and new.is_file()):
        return training is test
    return old.samefile(new) or filecmp.cmp(old, new, shallow=False)


def spread(labels: np.ndarray, seed: int) -> np.ndarray:
    """An order of the rows, random within each class, in which the classes are spread evenly."""
    order = np.random.default_rng(seed).permutation(len(labels))
    _, numbers = np.unique(labels[order], return_inverse=True)
    place = np.empty(len(labels))
    for k in range(numbers.max() + 1):
        own = np.flatnonzero(numbers == k)
        place[own] = (np.arange(len(own)) + 0.5) / len(own)
        place[own[:1]] = 0.0  # every class from the first size on
    return np.asarray(order[np.argsort(place, kind="stable")])

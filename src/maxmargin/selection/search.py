"""Cross-validation over a grid: gamma by gamma, a few folds at a time, without points that cannot win."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.ma import MaskedArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils.metaestimators import _safe_split

from ..decoders import predicted_classes
from ..solving import Deadline, Status, until_cut
from .grid import Grid, ranks
from .regularization_path import along, gap_of, start_in_search
from .splits import Split

__all__ = [
    "FittedFolds",
    "FixedScores",
    "FoldAnswers",
    "FoldScores",
    "ScoreTable",
    "is_at_most_one",
    "one_class",
    "search",
]

FOLDS_PER_ELIMINATION = 2  # folds between two eliminations; fixed, so that threads do not change the result
SCORE_ROUNDING = 1e-12
SCORING_TIME_SHARE = 0.2  # of the time of a fold, if there is a limit
SCORERS_BOUNDED_BY_ONE = (
    *("accuracy", "average_precision", "balanced_accuracy", "f1", "jaccard", "matthews", "precision"),
    *("r2", "recall", "roc_auc", "top_k_accuracy"),
)


def is_at_most_one(scoring: Any) -> bool:
    """Whether no score can exceed 1; known by name for scikit-learn's own scorers."""
    return scoring is None or (isinstance(scoring, str) and scoring.startswith(SCORERS_BOUNDED_BY_ONE))


@dataclass(frozen=True)
class FoldScores:
    """The results of one fold for some values at one gamma: arrays with one entry for each value."""

    scores: np.ndarray
    fit_seconds: np.ndarray
    score_seconds: np.ndarray
    dual_gaps: np.ndarray


@dataclass(frozen=True)
class FoldAnswers:
    """Decision values of one fold's test rows for some values of the grid: lists and arrays over the values.

    ``classes`` are those of the fold's training rows, ``test`` its test rows. ``n_support`` counts training
    rows with a coefficient; ``statuses`` are those of all problems solved.
    """

    classes: np.ndarray
    test: np.ndarray
    decisions: list[np.ndarray]
    seconds: np.ndarray
    dual_gaps: np.ndarray
    n_support: np.ndarray
    statuses: list[Status]


class FixedScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A stand-in for a fitted model, for scorers: its scores on one set of rows are already known."""

    def __init__(self, classes: Any = None, scores: Any = None) -> None:
        self.classes = classes
        self.scores = scores

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the training rows."""
        return np.asarray(self.classes)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes."""
        return np.asarray(self.scores)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(self.scores))
        return self.classes_[predicted_classes(self.decision_function(X))]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The weighted share of right predictions, as ``accuracy_score`` has it."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def __sklearn_is_fitted__(self) -> bool:
        """Always fitted."""
        return True


@dataclass
class ScoreTable:
    """Arrays (n_points, n_folds), nan where a point was eliminated before a fold."""

    scores: np.ndarray
    fit_seconds: np.ndarray
    score_seconds: np.ndarray
    dual_gaps: np.ndarray

    @classmethod
    def empty(cls, n_points: int, n_folds: int) -> ScoreTable:
        """A table without results."""
        return cls(*(np.full((n_points, n_folds), np.nan) for _ in range(4)))

    def put(self, points: np.ndarray, fold: int, found: FoldScores) -> None:
        """Store the results of a fold."""
        for name in ("scores", "fit_seconds", "score_seconds", "dual_gaps"):
            getattr(self, name)[points, fold] = getattr(found, name)

    def hopeless(self, points: np.ndarray) -> np.ndarray:
        """Points that cannot have the best mean even with a score of 1 on every remaining fold.

        Only scores that a search without elimination would have too are compared, so the best point is the
        same.
        """
        complete = self.scores.mean(axis=1)
        if not np.isfinite(complete).any():
            return np.zeros(len(points), dtype=bool)
        bound = np.where(np.isnan(self.scores[points]), 1.0, self.scores[points]).mean(axis=1)
        return np.asarray(bound < np.nanmax(complete) - SCORE_ROUNDING)

    def results(self, grid: Grid) -> dict[str, Any]:
        """``cv_results_`` with the names of scikit-learn's ``GridSearchCV``, and two more."""
        with np.errstate(invalid="ignore"):
            means, spread = self.scores.mean(axis=1), self.scores.std(axis=1)
        table: dict[str, Any] = {}
        for name, seconds in (("fit", self.fit_seconds), ("score", self.score_seconds)):
            table[f"mean_{name}_time"] = _over_known(np.mean, seconds)
            table[f"std_{name}_time"] = _over_known(np.std, seconds)
        for name in grid.points[0]:
            values = [point[name] for point in grid.points]
            table[f"param_{name}"] = MaskedArray(values, mask=np.zeros(len(values), dtype=bool))
        table["params"] = grid.points
        for k in range(self.scores.shape[1]):
            table[f"split{k}_test_score"] = self.scores[:, k]
        eliminated = np.isnan(self.fit_seconds).any(axis=1)
        table |= {"mean_test_score": means, "std_test_score": spread, "rank_test_score": ranks(means)}
        return table | {"eliminated": eliminated, "max_dual_gap": _over_known(np.max, self.dual_gaps)}


def _over_known(summary: Callable[[np.ndarray], Any], numbers: np.ndarray) -> np.ndarray:
    """A summary of the known entries of each row."""
    return np.array([summary(row[~np.isnan(row)]) if not np.isnan(row).all() else np.nan for row in numbers])


def search(
    grid: Grid,
    n_folds: int,
    run: Callable[[int, list[int], np.ndarray], list[FoldScores]],
    eliminate: bool,
    deadline: Deadline,
) -> ScoreTable:
    """Fill the table; ``run(g, folds, which)`` scores the values ``which`` at the g-th gamma.

    Every call has its share of the time until the deadline.
    """
    table = ScoreTable.empty(len(grid.points), n_folds)
    step = FOLDS_PER_ELIMINATION if eliminate else n_folds
    for g in range(grid.n_gammas):
        which = np.arange(len(grid.values))
        for first in range(0, n_folds, step):
            if eliminate:
                which = which[~table.hopeless(grid.place[g, which])]
            if not len(which):
                break
            folds = list(range(first, min(first + step, n_folds)))
            if deadline.passed():
                return table
            with deadline.nested(len(folds) / (n_folds * (grid.n_gammas - g) - first)):
                for fold, found in zip(folds, run(g, folds, which), strict=True):
                    table.put(grid.place[g, which], fold, found)
    return table


@dataclass(frozen=True)
class FittedFolds:
    """Folds on which an estimator is fitted separately along the grid."""

    estimator: Any
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    splits: list[Split]
    grid: Grid
    scorer: Any
    n_jobs: int | None

    def run(self, g: int, folds: list[int], which: np.ndarray) -> list[FoldScores]:
        """Scores of the values ``which`` at the g-th gamma, fold by fold, in joblib's workers."""
        n_turns = -(-len(folds) // effective_n_jobs(self.n_jobs))
        seconds = Deadline(np.inf).left() / n_turns
        jobs = (delayed(self._fold)(g, self.splits[fold], which, seconds) for fold in folds)
        return list(Parallel(n_jobs=self.n_jobs)(jobs))

    def _fold(self, g: int, split: Split, which: np.ndarray, seconds: float) -> FoldScores:
        """The scores of one fold, in so many seconds; nan for values that there was no time for."""
        train, test = split
        values, rows = self.grid.values[which], np.full((len(which), 4), np.nan)
        whole = Deadline(seconds)
        if whole.passed():
            return FoldScores(*rows.T)
        estimator = clone(self.estimator).set_params(**self.grid.at_gamma(g))
        X, y = _safe_split(estimator, self.X, self.y, train)
        X_test, y_test = _safe_split(estimator, self.X, self.y, test, train)
        weight = None if self.weight is None else self.weight[train]
        weighted = {} if self.weight is None else {"sample_weight": self.weight[test]}
        if is_classifier(estimator) and one_class(y):
            models = iter([(DummyClassifier().fit(np.zeros((len(y), 1)), y), 0.0)] * len(values))
        else:
            name = self.grid.name
            how = start_in_search(estimator, name)
            models = along(estimator, name, values, X, y, weight, how)
        with whole.nested(1.0 - SCORING_TIME_SHARE), suppress(TimeoutError):
            for k, (model, fit_seconds) in enumerate(models):
                begun = time.perf_counter()
                if begun >= whole.at:  # no time for a score
                    break
                with whole, until_cut(whole):
                    score = float(self.scorer(model, X_test, y_test, **weighted))
                    rows[k] = score, fit_seconds, time.perf_counter() - begun, gap_of(model)
        return FoldScores(*rows.T)


def one_class(y: np.ndarray) -> bool:
    """Whether all labels are of one class, which is then the only possible prediction."""
    return len(np.unique(y)) < 2

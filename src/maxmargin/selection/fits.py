"""Scores of a fold along a grid by fits of the estimator itself, whatever it is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.metaestimators import _safe_split

from .grid import Grid
from .search import FoldScores
from .splits import Split
from .warm_path import along, gap_of

__all__ = ["FittedFolds", "one_class"]


@dataclass(frozen=True)
class FittedFolds:
    """Folds on which an estimator is fitted along the grid, each by itself."""

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
        jobs = (delayed(self._fold)(g, self.splits[fold], which) for fold in folds)
        return list(Parallel(n_jobs=self.n_jobs)(jobs))

    def _fold(self, g: int, split: Split, which: np.ndarray) -> FoldScores:
        train, test = split
        estimator = clone(self.estimator).set_params(**self.grid.at_gamma(g))
        X, y = _safe_split(estimator, self.X, self.y, train)
        X_test, y_test = _safe_split(estimator, self.X, self.y, test, train)
        weight = None if self.weight is None else self.weight[train]
        weighted = {} if self.weight is None else {"sample_weight": self.weight[test]}
        values, rows = self.grid.values[which], []
        if one_class(y):
            models = iter([(DummyClassifier().fit(np.zeros((len(y), 1)), y), 0.0)] * len(values))
        else:
            models = along(estimator, self.grid.name, values, X, y, weight)
        for model, seconds in models:
            begun = time.perf_counter()
            score = float(self.scorer(model, X_test, y_test, **weighted))
            rows.append((score, seconds, time.perf_counter() - begun, gap_of(model)))
        return FoldScores(*np.array(rows).T)


def one_class(y: np.ndarray) -> bool:
    """Whether there is nothing to tell apart: then the only answer is the one class there is."""
    return len(np.unique(y)) < 2

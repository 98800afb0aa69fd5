"""Held-out decision values of candidates: fits on the folds of one sample of the rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer

from .._native import is_sparse
from ..kernels import median_gamma
from ..selection import Grid, KernelFolds, along, start_in_search
from ..solving import Deadline, Status
from .candidates import Candidate, Trial
from .cost import shape_of

__all__ = ["Sample", "StageFits", "median_gamma_of", "median_gammas"]

MAX_DOUBLE_ROWS = 2000
MAX_DISTANCE_ROWS = 500  # for the median of distances that are not Euclidean


@dataclass
class Sample:
    """The rows of one stage in each view, with their labels, weights and folds.

    ``rows`` are their numbers among the canonical rows of the fit.
    """

    views: dict[str, Any]
    labels: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    n_classes: int
    rows: np.ndarray

    def __post_init__(self) -> None:
        """Compute the splits: the training and the held-out rows of each fold."""
        pairs = [
            (np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)) for k in np.unique(self.fold)
        ]
        self.splits = [(train, test) for train, test in pairs if len(train) and len(test)]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, which: np.ndarray) -> Sample:
        """Some of the rows; few dense ones in double, which the fast solver of small problems takes."""
        views = {name: X[which] for name, X in self.views.items()}
        if len(which) <= MAX_DOUBLE_ROWS:
            views = {name: X if is_sparse(X) else X.astype(np.float64) for name, X in views.items()}
        fold, rows = self.fold[which], self.rows[which]
        return Sample(views, self.labels[which], self.weight[which], fold, self.n_classes, rows)


def median_gamma_of(kernel: str, X: Any, weight: np.ndarray, seed: int) -> float:
    """The gamma at which half of the kernel values are below 1/e."""
    if kernel != "laplacian":
        squared = median_gamma(X, np.random.default_rng(seed), weight)
        return squared if kernel == "rbf" else float(np.sqrt(squared))
    some = X[:MAX_DISTANCE_ROWS].astype(np.float64)
    distances = pdist(some, "cityblock")
    positive = distances[distances > 0.0]
    return 1.0 / float(np.median(positive)) if len(positive) else 1.0


def median_gammas(X: Any, weight: np.ndarray, seed: int) -> dict[str, float]:
    """The same for each kernel that the rows can have."""
    squared = median_gamma_of("rbf", X, weight, seed)
    found = {"rbf": squared, "exponential": float(np.sqrt(squared))}
    return found if is_sparse(X) else found | {"laplacian": median_gamma_of("laplacian", X, weight, seed)}


@dataclass
class StageFits:
    """The fits of a stage: trials of a candidate at one gamma, on some of the folds.

    All candidates with one kernel and one view share kernel values, if the matrix of all pairs of rows is
    small enough by ``Shape.is_shared``, which does not ask for the memory that is free.
    """

    sample: Sample
    common: dict[str, Any]
    kernels: dict[tuple[Any, ...], KernelFolds] = field(default_factory=dict)

    def prepare(self, trials: list[Trial]) -> None:
        """Make room for the scores of trials that have none."""
        n, n_classes = len(self.sample), self.sample.n_classes
        for trial in trials:
            if len(trial.scores) != n:
                trial.scores = np.full(n if n_classes == 2 else (n, n_classes), np.nan)

    def run(self, trials: list[Trial], folds: list[int]) -> bool:
        """Fill in the scores of trials of one candidate and one gamma; False if the time is up."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # gaps are in the table
            candidate = trials[0].candidate
            plain = candidate.loss is None and candidate.groups is None
            is_exact = plain and candidate.budget is None and not candidate.is_linear
            X, labels = self.sample.views[candidate.view], self.sample.labels
            is_shared = is_exact and shape_of(X, labels).is_shared
            return self._shared(trials, folds) if is_shared else self._separate(trials, folds)

    def _shared(self, trials: list[Trial], folds: list[int]) -> bool:
        first = trials[0]
        grid = Grid(
            "C", np.array([trial.value for trial in trials]), "gamma", np.array([first.gamma], dtype=float)
        )
        runner = self._kernel_folds(first.candidate, grid)
        answers = runner.answers(0, folds, np.arange(len(trials)))
        if answers is None or any(Status.TIME_LIMIT in fold.statuses for fold in answers):
            return False
        for fold in answers:
            for k, trial in enumerate(trials):
                self.put(trial, fold.test, fold.classes, fold.decisions[k])
                trial.n_support = max(trial.n_support, int(fold.n_support[k]))
                trial.gap = max(trial.gap, float(fold.dual_gaps[k]))
        return True

    def _kernel_folds(self, candidate: Candidate, grid: Grid) -> KernelFolds:
        key = (candidate.kernel, candidate.view)
        if key not in self.kernels:
            self.kernels[key] = KernelFolds(
                candidate.estimator(grid.gammas[0], None, final=False, **self.common),
                self.sample.views[candidate.view],
                self.sample.labels,
                self.sample.weight,
                self.sample.splits,
                grid,
                get_scorer("accuracy"),
                self.common["n_jobs"],
            )
        runner = self.kernels[key]
        runner.grid = grid
        runner.estimator.set_params(code=candidate.code)
        return runner

    def _separate(self, trials: list[Trial], folds: list[int]) -> bool:
        first, values = trials[0], np.array([trial.value for trial in trials])
        X, name = self.sample.views[first.candidate.view], "C" if first.candidate.budget is None else "alpha"
        whole = Deadline(np.inf)
        for fold in folds:
            train, test = self.sample.splits[fold]
            if len(np.unique(self.sample.labels[train])) < 2:
                only = self.sample.labels[train][:1]
                for trial in trials:
                    self.put(trial, test, only, np.zeros(len(test)))
                continue
            estimator = first.candidate.estimator(first.gamma, first.value, final=False, **self.common)
            how = "cold" if first.value is None else start_in_search(estimator, name)
            y, weight = self.sample.labels[train], self.sample.weight[train]
            models = (
                [(clone(estimator).fit(X[train], y, weight), 0.0)]
                if first.value is None
                else along(estimator, name, values, X[train], y, weight, how)
            )
            for trial, (model, _) in zip(trials, models):
                if whole.passed() or model.status_ == str(Status.TIME_LIMIT):
                    return False
                self.put(trial, test, model.classes_, model.decision_function(X[test]))
                trial.n_support = max(trial.n_support, int(model.n_support_))
                trial.gap = max(trial.gap, float(model.dual_gap_))
        return True

    def put(self, trial: Trial, rows: np.ndarray, classes: np.ndarray, decisions: np.ndarray) -> None:
        """Store decision values; a class that the fold was not trained on has a score below all others."""
        if self.sample.n_classes == 2:
            trial.scores[rows] = 2.0 * classes[0] - 1.0 if len(classes) == 1 else decisions
            return
        if len(classes) == 2:
            decisions = np.column_stack([-decisions, decisions])
        elif len(classes) == 1:
            decisions = np.ones((len(rows), 1))
        scores = np.repeat(decisions.min(axis=1, keepdims=True) - 1.0, self.sample.n_classes, axis=1)
        scores[:, classes] = decisions
        trial.scores[rows] = scores

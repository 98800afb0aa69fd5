"""A learned metric: coordinates in which the decision function changes equally fast.

The gradient of a fitted model shows along which columns its outputs change. Its average outer product M
(or the diagonal of M) gives new coordinates, ``u M^(1/2)``, in which the model is fitted again. Each fold
learns its own metric from its training rows, so held-out losses are honest; the metric is accepted only if
the loss falls by more than a standard error of the paired differences.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._native import one_blas_thread
from ..base import squared_gradients
from ..solving import Deadline, Status
from .candidates import Trial
from .choice import Judge
from .folds import StageFits, median_gamma_of
from .search import RACING_FOLDS
from .tried_change import TriedChange, best_of, unscored

__all__ = [
    "MAX_FULL_COLUMNS",
    "METRICS",
    "Metric",
    "MetricFits",
    "Rows",
    "learn_metric",
    "metric_on_all_rows",
]

METRICS = {"auto": ("diagonal",), "diagonal": ("diagonal",), "full": ("diagonal", "full")}
MAX_FULL_COLUMNS = 500
ROUNDS = 2
MAX_GRADIENT_ROWS = 2000
LEAST_FACTOR = 1e-4  # of a column or direction that the outputs do not depend on

Rows = tuple[Any, np.ndarray, np.ndarray]  # a matrix, labels, weights


@dataclass(frozen=True)
class Metric(TriedChange):
    """What learning a metric did: its kind, and after how many rounds."""

    kind: str
    n_rounds: int


@dataclass(frozen=True)
class MetricFits:
    """Fits of a trial's model in learned coordinates, with the parameters that all have in common."""

    trial: Trial
    common: dict[str, Any]
    seed: int

    def rounds(self, kind: str, data: Rows) -> Iterator[tuple[Any, np.ndarray]]:
        """The model of each round and its coordinates: first without a metric."""
        X, y, weight = data
        metric, gamma = np.ones(X.shape[1]), self.trial.gamma
        for k in range(ROUNDS + 1):
            model = self.trial.candidate.estimator(gamma, self.trial.value, **self.common)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(in_metric(X, metric), y, weight)
            yield model, metric
            if k < ROUNDS:
                metric = _next(kind, model, X, metric)
                gamma = self.gamma(data, metric)

    def gamma(self, data: Rows, metric: np.ndarray) -> float:
        """The gamma that is as far from the median heuristic as it was without the metric."""
        kernel, (X, _, weight) = self.trial.candidate.kernel, data
        before = median_gamma_of(kernel, X, weight, self.seed)
        after = median_gamma_of(kernel, in_metric(X, metric), weight, self.seed)
        return float(self.trial.gamma or before) * after / before


def in_metric(X: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Rows in the coordinates of a metric: a factor for each column, or a matrix."""
    if metric.ndim == 1:
        return X * metric.astype(X.dtype)
    with one_blas_thread():
        return X @ metric.astype(X.dtype)


def _next(kind: str, model: Any, X: Any, metric: np.ndarray) -> np.ndarray:
    """Coordinates from the gradients of a model in the last ones; squared, they have the mean 1."""
    rows = X[np.linspace(0, len(X) - 1, min(len(X), MAX_GRADIENT_ROWS)).astype(np.intp)]
    M = squared_gradients(model, in_metric(rows, metric), full=kind == "full")
    if kind == "diagonal":
        squares = M * metric**2
        mean = float(squares.mean())
        return np.maximum(np.sqrt(squares / mean), LEAST_FACTOR) if mean > 0.0 else metric
    values, vectors = np.linalg.eigh(M)
    if not values[-1] > 0.0:
        return metric
    roots = np.maximum(np.sqrt(np.maximum(values, 0.0) / values[-1]), LEAST_FACTOR)
    root = (vectors * roots) @ vectors.T
    moved = metric[:, None] * root if metric.ndim == 1 else metric @ root
    return moved * np.sqrt(len(moved) / np.square(moved).sum())


def learn_metric(kinds: tuple[str, ...], fits: MetricFits, judge: Judge, deadline: Deadline) -> Metric | None:
    """The best kind and round on the held-out rows of a stage; None if there was no time."""
    found = [_learned(kind, fits, judge, deadline) for kind in kinds]
    known = [metric for metric in found if metric is not None]
    return max(known, key=lambda metric: metric.gain - metric.standard_error, default=None)


def _learned(kind: str, fits: MetricFits, judge: Judge, deadline: Deadline) -> Metric | None:
    sample, trial = judge.sample, fits.trial
    known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
    rounds = [unscored(trial) for _ in range(ROUNDS)]
    stage, X = StageFits(sample, fits.common), sample.views[trial.candidate.view]
    splits = [(train, test) for train, test in sample.splits if known[test].any()]
    for n_done, (train, test) in enumerate(splits, start=1):
        y, weight = sample.labels[train], sample.weight[train]
        if len(np.unique(y)) < 2:
            continue
        for k, (model, metric) in enumerate(fits.rounds(kind, (X[train], y, weight))):
            if deadline.passed() or model.status_ == str(Status.TIME_LIMIT):
                return None
            if k > 0:
                decisions = model.decision_function(in_metric(X[test], metric))
                stage.put(rounds[k - 1], test, model.classes_, decisions)
                rounds[k - 1].n_support = max(rounds[k - 1].n_support, int(model.n_support_))
                rounds[k - 1].gap = max(rounds[k - 1].gap, float(model.dual_gap_))
        if n_done == RACING_FOLDS < len(splits):
            early = _compared(kind, trial, rounds, judge)
            if early is None or early.gain <= 0.0:
                return early
    return _compared(kind, trial, rounds, judge)


def _compared(kind: str, trial: Trial, rounds: list[Trial], judge: Judge) -> Metric | None:
    """The best round against the trial without a metric, on the rows that were held out so far."""
    found = best_of(rounds, trial, judge)
    if found is None:
        return None
    best, gain, error = found
    return Metric(rounds[best], gain, error, kind, 1 + best)


def metric_on_all_rows(metric: Metric, fits: MetricFits, data: Rows) -> tuple[np.ndarray, float]:
    """The coordinates after so many rounds, and the gamma for them."""
    X = data[0]
    coordinates = np.ones(X.shape[1])
    for model, used in itertools.islice(fits.rounds(metric.kind, data), metric.n_rounds):
        coordinates = _next(metric.kind, model, X, used)
    return coordinates, fits.gamma(data, coordinates)

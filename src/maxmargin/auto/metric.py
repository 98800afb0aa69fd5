"""A learned metric: coordinates in which the decision function changes equally fast.

The gradient of a fitted model shows along which columns its outputs change. Its average outer product M
(or the diagonal of M) gives new coordinates, ``u M^(1/2)``, in which the model is fitted again, with the
gamma that is as far from the median heuristic as before and with its neighbours, since few columns that
matter may want another. Each fold learns its own metric from its training rows, so held-out losses are
honest; the metric is accepted only if they fall by more than a standard error of the paired differences.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._native import one_blas_thread
from ..base import squared_gradients
from ..solving import Deadline, Status
from .candidates import Trial
from .choice import Judge, paired
from .cost import MAX_GRADIENT_ROWS, shape_of
from .folds import Sample, StageFits, median_gamma_of
from .search import RACING_FOLDS
from .tried_change import Attempt, TriedChange, best_of, unscored

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
ROUNDS = 3
GAMMA_FACTORS = (1.0, 0.5, 2.0)  # the next round learns from the first
LEAST_FACTOR = 1e-4  # of a column or direction that the outputs do not depend on

Rows = tuple[Any, np.ndarray, np.ndarray]  # a matrix, labels, weights


@dataclass(frozen=True)
class Metric(TriedChange):
    """What learning a metric did: its kind, after how many rounds, with which factor of gamma.

    It is the best of many points, so two losses have to agree: as for the choice among candidates, the 0-1
    error and the sum of error and log loss (``sum_falls``).
    """

    kind: str
    n_rounds: int
    factor: float
    sum_falls: bool

    @property
    def accepted(self) -> bool:
        """Whether both losses fell by more than a standard error."""
        return super().accepted and self.sum_falls

    @property
    def name(self) -> str:
        """What it is called."""
        return _name(self.kind)

    @property
    def how(self) -> str:
        """Its rounds and its factor of gamma."""
        return f"{self.n_rounds} round{'s' if self.n_rounds > 1 else ''}, gamma times {self.factor:g}"


def _name(kind: str) -> str:
    return "learned full metric" if kind == "full" else "learned metric"


@dataclass(frozen=True)
class MetricFits:
    """Fits of a trial's model in learned coordinates, with the parameters that all have in common."""

    trial: Trial
    common: dict[str, Any]
    factors: tuple[float, ...] = GAMMA_FACTORS

    def cost(self, kinds: tuple[str, ...], sample: Sample) -> float:
        """Operations of all rounds on the folds of a sample, counted as if each fold had all rows.

        The rows too many make up for the predictions of those that are held out.
        """
        candidate, n_points = self.trial.candidate, ROUNDS * len(self.factors)
        shape = shape_of(sample.views[candidate.view], sample.labels)
        fits = (1 + n_points) * shape.fit(candidate) + (1 + ROUNDS) * shape.median(candidate)
        losses = (2 * n_points + 2) * shape.calibration()  # after two folds and after all; then both sums
        gradients = [ROUNDS * shape.gradients(candidate, kind == "full") for kind in kinds]
        return sum(len(sample.splits) * (fits + each) + losses for each in gradients)

    def coordinates(self, kind: str, data: Rows, n_rounds: int) -> tuple[np.ndarray, float]:
        """The coordinates after so many rounds, and the gamma for them."""
        metric = np.ones(data[0].shape[1])
        before = after = self._median(data, metric)
        for _ in range(n_rounds):
            model = self._fitted(data, metric, self._gamma(before, after))
            metric = _next(kind, model, data[0], metric)
            after = self._median(data, metric)
        return metric, self._gamma(before, after)

    def rounds(self, kind: str, data: Rows) -> Iterator[tuple[list[Any], np.ndarray]]:
        """The models of each round, one for each factor of gamma, and their coordinates."""
        metric = np.ones(data[0].shape[1])
        before = self._median(data, metric)
        models = [self._fitted(data, metric, self._gamma(before, before))]
        for _ in range(ROUNDS):
            metric = _next(kind, models[0], data[0], metric)
            gamma = self._gamma(before, self._median(data, metric))
            models = [self._fitted(data, metric, factor * gamma) for factor in self.factors]
            yield models, metric

    def _fitted(self, data: Rows, metric: np.ndarray, gamma: float) -> Any:
        X, y, weight = data
        model = self.trial.candidate.estimator(gamma, self.trial.value, final=False, **self.common)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(in_metric(X, metric), y, weight)

    def _median(self, data: Rows, metric: np.ndarray) -> float:
        X, _, weight = data
        kernel, seed = self.trial.candidate.kernel, self.common["random_state"]
        return median_gamma_of(kernel, in_metric(X, metric), weight, seed)

    def _gamma(self, before: float, after: float) -> float:
        """The gamma that is as far from the median heuristic as it was without the metric."""
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
    last = np.diag(metric) if metric.ndim == 1 else metric
    with one_blas_thread():
        values, vectors = np.linalg.eigh(last @ M @ last.T)  # of the gradients in the first coordinates
    if not values[-1] > 0.0:
        return metric
    roots = np.maximum(np.sqrt(np.maximum(values, 0.0) / values[-1]), LEAST_FACTOR)
    root = (vectors * roots) @ vectors.T
    return root * np.sqrt(len(root) / np.square(roots).sum())


def learn_metric(
    kinds: tuple[str, ...], fits: MetricFits, judge: Judge, deadline: Deadline
) -> Attempt[Metric]:
    """The best kind, round and gamma on the held-out rows of a stage, of those that there was time for."""
    found: list[Metric] = []
    for kind in kinds:
        try:
            found += _learned(kind, fits, judge, deadline)
        except TimeoutError:
            return Attempt(_better(found), _name(kind))
    return Attempt(_better(found))


def _better(found: list[Metric]) -> Metric | None:
    return max(found, key=lambda m: (m.accepted, m.gain - m.standard_error), default=None)


def _learned(kind: str, fits: MetricFits, judge: Judge, deadline: Deadline) -> list[Metric]:
    """The best round and gamma of a kind; none if nothing was held out."""
    sample, trial = judge.sample, fits.trial
    known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
    points = [(k + 1, factor) for k in range(ROUNDS) for factor in fits.factors]
    changed = [unscored(trial) for _ in points]
    stage, X = StageFits(sample, fits.common), sample.views[trial.candidate.view]
    splits = [(train, test) for train, test in sample.splits if known[test].any()]
    for n_done, (train, test) in enumerate(splits, start=1):
        y, weight = sample.labels[train], sample.weight[train]
        if len(np.unique(y)) < 2:
            continue
        rounds = fits.rounds(kind, (X[train], y, weight))
        each = ((model, metric) for models, metric in rounds for model in models)
        for point, (model, metric) in zip(changed, each):
            if deadline.passed() or model.status_ == str(Status.TIME_LIMIT):
                raise TimeoutError(f"a {_name(kind)} was cut by the clock")
            stage.put(point, test, model.classes_, model.decision_function(in_metric(X[test], metric)))
            point.n_support = max(point.n_support, int(model.n_support_))
            point.gap = max(point.gap, float(model.dual_gap_))
        if n_done == RACING_FOLDS < len(splits):
            early = best_of(changed, trial, judge)
            if early is None or early[1] <= 0.0:
                break
    found = best_of(changed, trial, judge)
    if found is None:
        return []
    best, (n_rounds, factor) = changed[found[0]], points[found[0]]
    return [Metric(best, found[1], found[2], kind, n_rounds, factor, _sum_falls(best, trial, judge))]


def _sum_falls(best: Trial, plain: Trial, judge: Judge) -> bool:
    """Whether the sum of error and log loss falls by more than a standard error."""
    before = replace(plain, scores=np.where(np.isfinite(best.scores), plain.scores, np.nan))
    sums = np.array([judge.sums(before), judge.sums(best)])
    means, errors = paired(sums, 0, judge.losses(best)[1])
    return bool(-means[1] > errors[1])


def metric_on_all_rows(metric: Metric, fits: MetricFits, data: Rows) -> tuple[np.ndarray, float]:
    """The coordinates after so many rounds, and the gamma for them."""
    coordinates, gamma = fits.coordinates(metric.kind, data, metric.n_rounds)
    return coordinates, metric.factor * gamma

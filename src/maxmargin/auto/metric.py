"""A learned metric: columns scaled by the root of the average squared gradient of the decision function.

The gradient of a fitted model shows along which columns its outputs change (the diagonal of the average
gradient outer product). Scaling the columns by its root and fitting again is repeated. Each fold learns its
own metric from its training rows, so held-out losses are honest; the metric is accepted only if the loss
falls by more than a standard error of the paired differences.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..base import squared_gradients
from ..solving import Deadline, Status
from .candidates import Trial
from .choice import Judge, paired
from .folds import StageFits, median_gammas
from .search import Found

__all__ = ["Metric", "learn_metric", "metric_line", "metric_on_all_rows", "metric_words"]

ROUNDS = 2
MAX_GRADIENT_ROWS = 2000
LEAST_FACTOR = 1e-4  # of a column that the outputs do not depend on


@dataclass(frozen=True)
class Metric:
    """What learning a metric did: the trial with it, after how many rounds, and whether it is accepted."""

    trial: Trial
    n_rounds: int
    gain: float
    standard_error: float

    @property
    def accepted(self) -> bool:
        """Whether the held-out loss fell by more than a standard error."""
        return self.gain > self.standard_error


def learn_metric(
    trial: Trial, judge: Judge, common: dict[str, Any], seed: int, deadline: Deadline
) -> Metric | None:
    """The best round on the held-out rows of a stage; None if there was no time."""
    sample = judge.sample
    known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
    rounds = [replace(trial, scores=np.full_like(trial.scores, np.nan)) for _ in range(ROUNDS)]
    fits, X = StageFits(sample, common), sample.views[trial.candidate.view]
    for train, test in sample.splits:
        y, weight = sample.labels[train], sample.weight[train]
        if not known[test].any() or len(np.unique(y)) < 2:
            continue
        for k, (model, factors) in enumerate(_models(trial, X[train], y, weight, common, seed)):
            if deadline.passed() or model.status_ == str(Status.TIME_LIMIT):
                return None
            if k > 0:
                fits.put(rounds[k - 1], test, model.classes_, model.decision_function(X[test] * factors))
                rounds[k - 1].n_support = max(rounds[k - 1].n_support, int(model.n_support_))
                rounds[k - 1].gap = max(rounds[k - 1].gap, float(model.dual_gap_))
    plain, weight = judge.losses(trial)
    if any(len(judge.losses(r)[0]) != len(plain) for r in rounds):
        return None
    losses = np.array([plain, *(judge.losses(r)[0] for r in rounds)])
    best = 1 + int(np.argmin(losses[1:] @ weight))
    means, errors = paired(losses, 0, weight)
    return Metric(rounds[best - 1], best, -float(means[best]), float(errors[best]))


def metric_on_all_rows(
    trial: Trial, n_rounds: int, data: tuple[Any, np.ndarray, np.ndarray], common: dict[str, Any], seed: int
) -> tuple[np.ndarray, float]:
    """Factors of the columns after so many rounds, and the gamma for them."""
    X, labels, weight = data
    factors = np.ones(X.shape[1])
    for model, used in itertools.islice(_models(trial, X, labels, weight, common, seed), n_rounds):
        factors = _factors(model, X, used.astype(float))
    return factors, _gamma(trial, X, factors, weight, seed)


def _models(
    trial: Trial, X: Any, y: np.ndarray, weight: np.ndarray, common: dict[str, Any], seed: int
) -> Any:
    """The fits of each round, and the factors of their columns: first without a metric."""
    factors, gamma = np.ones(X.shape[1]), trial.gamma
    for k in range(ROUNDS + 1):
        model = trial.candidate.estimator(gamma, trial.value, **common)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X * factors.astype(X.dtype), y, weight)
        yield model, factors.astype(X.dtype)
        if k < ROUNDS:
            factors = _factors(model, X, factors)
            gamma = _gamma(trial, X, factors, weight, seed)


def _factors(model: Any, X: Any, factors: np.ndarray) -> np.ndarray:
    """Roots of the average squared gradients by the columns of X; their squares have the mean 1."""
    rows = np.linspace(0, len(X) - 1, min(len(X), MAX_GRADIENT_ROWS)).astype(np.intp)
    squares = squared_gradients(model, X[rows] * factors.astype(X.dtype)) * factors**2
    mean = float(squares.mean())
    return np.maximum(np.sqrt(squares / mean), LEAST_FACTOR) if mean > 0.0 else factors


def _gamma(trial: Trial, X: Any, factors: np.ndarray, weight: np.ndarray, seed: int) -> float:
    """The gamma that is as far from the median heuristic as it was without the metric."""
    before = median_gammas(X, weight, seed)[trial.candidate.kernel]
    after = median_gammas(X * factors.astype(X.dtype), weight, seed)[trial.candidate.kernel]
    return float(trial.gamma or before) * after / before


def metric_words(metric: Metric | None) -> str:
    """What became of the metric, as a sentence."""
    if metric is None:
        return ""
    change = f"{'lowers' if metric.gain > 0.0 else 'raises'} the held-out loss by {abs(metric.gain):.4f}"
    gain = f"it {change}, standard error {metric.standard_error:.4f}"
    return f" A learned metric is {'accepted' if metric.accepted else 'rejected'}: {gain}."


def metric_line(found: Found, metric: Metric) -> dict[str, Any]:
    """The line of the table about the metric; if it is accepted, it is the chosen one."""
    chosen = next(line for line in found.table if line["outcome"] == "chosen")
    if metric.accepted:
        chosen["outcome"] = "behind"
    return chosen | {
        "candidate": f"{metric.trial.candidate}, learned metric",
        "columns": "learned metric",
        "loss": float(found.choice.means[found.choice.chosen] - metric.gain),
        "difference": float(found.choice.differences[found.choice.chosen] - metric.gain),
        "standard_error": metric.standard_error,
        "n_support": metric.trial.n_support,
        "dual_gap": metric.trial.gap,
        "outcome": "chosen" if metric.accepted else "behind",
    }

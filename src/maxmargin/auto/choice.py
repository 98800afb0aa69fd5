"""The choice: losses on held-out rows, the one-standard-error rule, the table and the sentence about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..calibration import CalibratedScores
from .candidates import Trial
from .folds import Sample

__all__ = ["Choice", "Judge", "choose", "compared", "sentence"]

ROUNDING = 1e-12
MAX_BEHIND = 2.0  # standard errors of the 0-1 error, of a trial whose log loss is computed
LEAST_PROBABILITY = 1e-15


class HeldOutAnswers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A stand-in for a fitted model, for scorers: its scores on one set of rows are already known."""

    def __init__(self, classes: Any = None, scores: Any = None, probabilities: Any = None) -> None:
        self.classes = classes
        self.scores = scores
        self.probabilities = probabilities

    @property
    def classes_(self) -> np.ndarray:
        """The classes."""
        return np.asarray(self.classes)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes."""
        return np.asarray(self.scores)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities."""
        return np.asarray(self.probabilities)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score."""
        return self.classes_[_predicted(self.scores)]

    def __sklearn_is_fitted__(self) -> bool:
        """Always fitted."""
        return True


def _predicted(scores: np.ndarray) -> np.ndarray:
    return (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


@dataclass
class Judge:
    """Losses of trials on the held-out rows of a sample: 0-1 errors, or a scorer's on each fold."""

    sample: Sample
    classes: np.ndarray
    scorer: Any = None

    def losses(self, trial: Trial) -> tuple[np.ndarray, np.ndarray]:
        """Loss and weight of each row, or of each fold with a scorer; rows not held out yet are left out."""
        known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
        if self.scorer is None:
            wrong = _predicted(trial.scores[known]) != self.sample.labels[known]
            return wrong.astype(float), self.sample.weight[known]
        P = self.calibrator(trial).predict_proba(trial.scores[known])
        rows, losses = np.flatnonzero(known), []
        place = np.cumsum(known) - 1
        for _, test in self.sample.splits:
            test = np.intersect1d(test, rows)
            if len(test):
                answers = HeldOutAnswers(self.classes, trial.scores[test], P[place[test]])
                y = self.classes[self.sample.labels[test]]
                weight = self.sample.weight[test]
                losses.append(-float(self.scorer(answers, test[:, None], y, sample_weight=weight)))
        return np.array(losses), np.ones(len(losses))

    def calibrator(self, trial: Trial) -> CalibratedScores:
        """Probabilities from the decision values of held-out rows."""
        known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
        scores, labels, weight = trial.scores[known], self.sample.labels[known], self.sample.weight[known]
        return CalibratedScores("sigmoid").fit(scores, labels, weight)

    def log_losses(self, trial: Trial) -> np.ndarray:
        """The log loss of each row, by probabilities that were calibrated on the same rows."""
        known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
        P = self.calibrator(trial).predict_proba(trial.scores[known])
        own = P[np.arange(len(P)), self.sample.labels[known]]
        return np.asarray(-np.log(np.maximum(own, LEAST_PROBABILITY)))

    def sums(self, trial: Trial) -> np.ndarray:
        """Losses that few trials have in common: the sum of 0-1 error and log loss, or the scorer's."""
        losses, _ = self.losses(trial)
        return losses if self.scorer is not None else losses + self.log_losses(trial)


@dataclass(frozen=True)
class Choice:
    """The trial that was chosen, the one with the least loss, and how far all are behind it.

    ``standard_errors`` are those of the paired differences of losses, ``differences`` their means.
    """

    chosen: int
    best: int
    means: np.ndarray
    differences: np.ndarray
    standard_errors: np.ndarray


def compared(trials: list[Trial], judge: Judge) -> Choice:
    """The trial with the least loss, and how far all are behind it."""
    found = [judge.losses(trial) for trial in trials]
    weight = found[0][1]
    losses = np.array([loss for loss, _ in found])
    best = int(np.argmin(losses @ weight))
    differences, errors = paired(losses, best, weight)
    return Choice(best, best, losses @ (weight / weight.sum()), differences, errors)


def choose(trials: list[Trial], judge: Judge) -> Choice:
    """The simplest trial within one standard error of the paired differences to the best.

    Without a scorer there are two losses, and the rule holds for both: the 0-1 error, and the sum of 0-1
    error and log loss, which distinguishes trials with equally many errors. If no trial satisfies both, the
    one with the least sum is chosen.
    """
    found = compared(trials, judge)
    near = np.flatnonzero(found.differences <= found.standard_errors + ROUNDING)
    if judge.scorer is not None:
        chosen = min(near, key=lambda k: (trials[k].roughness, found.means[k]))
        return replace(found, chosen=int(chosen))
    some = np.flatnonzero(found.differences <= MAX_BEHIND * found.standard_errors + ROUNDING)
    losses, weight = np.array([judge.losses(trials[k])[0] for k in some]), judge.losses(trials[0])[1]
    sums = np.array([judge.sums(trials[k]) for k in some])
    best = int(np.argmin(sums @ weight))
    excess, spread = paired(sums, best, weight)
    both = np.intersect1d(near, some[excess <= spread + ROUNDING])
    chosen = min(both, key=lambda k: (trials[k].roughness, found.means[k]), default=some[best])
    tied = some[losses @ weight <= (losses @ weight).min() + ROUNDING * weight.sum()]
    first = tied[np.argmin((sums @ weight)[np.isin(some, tied)])]  # of trials with the least error
    every = np.array([judge.losses(trial)[0] for trial in trials])
    differences, errors = paired(every, int(first), weight)
    return Choice(int(chosen), int(first), found.means, differences, errors)


def paired(losses: np.ndarray, best: int, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean differences to the losses of ``best``, and their standard errors."""
    share = weight / weight.sum()
    differences = losses - losses[best]
    means = differences @ share
    variance = (differences - means[:, None]) ** 2 @ share
    return means, np.sqrt(variance / max(weight.sum() - 1.0, 1.0))


def sentence(trials: list[Trial], choice: Choice, judge: Judge, n_rows: int) -> str:
    """What was chosen, over what, and why; losses of a sample of the ``n_rows`` are said to be that."""
    chosen, best = trials[choice.chosen], trials[choice.best]
    what = "held-out error" if judge.scorer is None else "held-out loss"
    text = f"{chosen.candidate}: {what} {_number(choice.means[choice.chosen], judge)}"
    if len(judge.sample) < n_rows:
        text += f" of models of {len(judge.sample):,} rows at most, where the final one has {n_rows:,}"
    others = [k for k in np.argsort(choice.means, kind="stable") if trials[k].candidate != chosen.candidate]
    behind, error = choice.differences[choice.chosen], choice.standard_errors[choice.chosen]
    if behind > error + ROUNDING:
        return (
            f"{text}, with the least sum of error and log loss; {best.candidate} has the least error "
            f"({_number(choice.means[choice.best], judge)})."
        )
    if chosen.candidate != best.candidate:
        return (
            f"{text}, the simplest within one standard error of the best, {best.candidate} "
            f"({_number(choice.means[choice.best], judge)}; {_number(behind, judge)} better, standard error "
            f"{_number(error, judge)})."
        )
    if not others:
        return f"{text}."
    return f"{text}, over {trials[others[0]].candidate} ({_number(choice.means[others[0]], judge)})."


def _number(loss: float, judge: Judge) -> str:
    return f"{100.0 * loss:.2f}%" if judge.scorer is None else f"{loss:.4g}"

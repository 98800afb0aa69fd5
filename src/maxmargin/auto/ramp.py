"""The ramp loss for the chosen point, tried where held-out rows look wrongly labelled.

A row whose margin is below -1 pulls at a hinge model and not at a ramp model. Where no held-out row has such
a margin, labels are not in doubt and there is nothing to gain. With wrong labels the hinge prefers a small C;
the ramp loss does not need it, so a larger one is tried as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..solving import Deadline
from .candidates import Trial
from .choice import Judge
from .cost import shape_of
from .folds import StageFits
from .search import RACING_FOLDS
from .tried_change import TriedChange, best_of, unscored

__all__ = ["ramp_cost", "try_ramp"]

LARGER_CS = (1.0, 10.0)  # times the chosen C
DOUBTFUL_MARGIN = -1.0


def doubtful_share(trial: Trial, judge: Judge) -> float:
    """The share of held-out rows whose margin is below -1; of many classes, that to the best other class."""
    known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
    scores, labels = trial.scores[known], judge.sample.labels[known]
    if scores.ndim == 1:
        margins = np.where(labels == 1, scores, -scores)
    else:
        own = scores[np.arange(len(labels)), labels]
        others = np.where(np.arange(scores.shape[1]) == labels[:, None], -np.inf, scores)
        margins = own - others.max(axis=1)
    return float(np.mean(margins < DOUBTFUL_MARGIN)) if len(labels) else 0.0


def ramp_cost(trial: Trial, judge: Judge) -> float:
    """Operations of the fits on all folds; infinite where the ramp loss has nothing to offer."""
    candidate, sample = trial.candidate, judge.sample
    if candidate.is_linear or doubtful_share(trial, judge) == 0.0:
        return np.inf
    fit = shape_of(sample.views[candidate.view], sample.labels).fit(replace(candidate, loss="ramp"))
    return len(LARGER_CS) * len(sample.splits) * fit


def try_ramp(trial: Trial, judge: Judge, common: dict[str, Any], deadline: Deadline) -> TriedChange | None:
    """The trial with the ramp loss on the same held-out rows; None if none was held out."""
    candidate, exact = replace(trial.candidate, loss="ramp"), trial.value is not None
    values = [factor * trial.value for factor in LARGER_CS] if exact and trial.value else [trial.value]
    changed = [unscored(trial, candidate=candidate, value=value) for value in values]
    fits = StageFits(judge.sample, common)
    known = np.isfinite(trial.scores if trial.scores.ndim == 1 else trial.scores[:, 0])
    folds = [k for k, (_, test) in enumerate(judge.sample.splits) if known[test].any()]
    for n_done, fold in enumerate(folds, start=1):
        if deadline.passed() or not all(fits.run([each], [fold]) for each in changed):
            raise TimeoutError("the ramp loss was cut by the clock")
        compared = best_of(changed, trial, judge)
        if compared is None or (n_done == RACING_FOLDS < len(folds) and compared[1] <= 0.0):
            break
    if compared is None:
        return None
    best, gain, error = compared
    return TriedChange(changed[best], gain, error)

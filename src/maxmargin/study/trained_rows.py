"""Training on rows that fit into memory: judged on the rows held out, then learnt from all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..io.table import Source
from .fitting import Judged, prepared
from .gathering import Gathered
from .models import ModelKind
from .preparation import TablePreparation
from .progress import Reporter


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    source: Source
    kind: ModelKind
    parameters: dict[str, Any]
    seed: int
    memory_mb: float
    refit: bool
    checkpoint: Any
    resume: bool


@dataclass
class Outcome:
    """What training has come to."""

    preparation: TablePreparation
    estimator: Any
    fitted_on: str
    rows: np.ndarray | None  # numbers in the file of the rows that the estimator was given
    validation: dict[str, Any] | None = None
    choice: dict[str, Any] = field(default_factory=dict)
    checkpoints: list[Any] = field(default_factory=list)


def train_in_memory(
    request: Request, found: Gathered, preparation: TablePreparation, reporter: Reporter
) -> Outcome:
    """Fit, judge and, if asked, fit again on all rows."""
    assert found.blocks is not None
    with reporter.clock("preparation"):
        X, y, rows = prepared(preparation, [(block, ~mask) for block, mask in found.blocks])
    estimator = request.kind.make(request.parameters, request.seed)
    with reporter.clock("solver"), reporter.watching(estimator, "fit"):
        estimator.fit(X, y)
    outcome = Outcome(preparation, estimator, "all rows", rows)
    if not found.n_held_out:
        return outcome
    del X, y
    outcome.validation = _judged(estimator, preparation, found, reporter)
    if not request.refit:
        outcome.fitted_on = "the rows that were not held out"
        return outcome
    return _refitted(request, outcome, found, reporter)


def _judged(
    estimator: Any, preparation: TablePreparation, found: Gathered, reporter: Reporter
) -> dict[str, Any]:
    """Answers on the rows held out, block by block."""
    judged = Judged(estimator.classes_)
    with reporter.clock("validation"):
        for block, mask in found.blocks or ():
            if mask.any():
                X, y, _ = prepared(preparation, [(block, mask)])
                judged.add(y, estimator.predict(X))
                reporter.say("validate", judged.confusion.n_rows, found.n_held_out)
    return judged.metrics()


def _refitted(request: Request, outcome: Outcome, found: Gathered, reporter: Reporter) -> Outcome:
    """The same on all rows: the preparation, and the model with the parameters found."""
    preparation = TablePreparation()
    everything = [(block, np.ones(block.n_rows, dtype=bool)) for block, _ in found.blocks or ()]
    with reporter.clock("preparation"):
        for block, _ in everything:
            preparation.partial_fit(block)
        X, y, rows = prepared(preparation, everything)
    estimator = request.kind.make(request.parameters, request.seed)
    with reporter.clock("solver"), reporter.watching(estimator, "refit"):
        estimator.fit(X, y)
    return Outcome(
        preparation, estimator, "all rows", rows, outcome.validation, outcome.choice, outcome.checkpoints
    )

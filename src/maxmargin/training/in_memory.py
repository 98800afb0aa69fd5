"""Training on rows in memory: judged on the rows held out, then learnt from all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checkpoints import Checkpoint
from ..io.readers import BLOCK_ROWS
from ..table import TablePreparation
from .fitting import (
    LabelledRows,
    held_out_of,
    judged,
    prepared,
)
from .gather import Gathered
from .held_out import HeldOut
from .models import ModelKind
from .progress import Reporter

CACHE_SHARE = 0.25  # of the memory, for kernel values and features


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    kind: ModelKind
    parameters: Mapping[str, Any]
    seed: int
    memory_mb: float
    validate: float
    refit: bool
    checkpoint: Any
    checkpoint_seconds: float
    resume: bool
    block_rows: int = BLOCK_ROWS  # of a stream

    def held_out(self) -> HeldOut:
        """Which rows are held out, as the rows go by."""
        return HeldOut(self.validate, self.seed)

    def estimator(self) -> Any:
        """Not fitted; a cache that nothing is said about has its share of the memory."""
        cache = {"cache_mb": CACHE_SHARE * self.memory_mb} if "cache_mb" in self.kind.accepted() else {}
        return self.kind.make({**cache, **self.parameters}, self.seed)


@dataclass
class Outcome:
    """What training has come to."""

    estimator: Any
    fitted_on: str
    rows: np.ndarray  # numbers in the file of the rows that the estimator was given
    validation: dict[str, Any] | None = None
    checkpoints: list[Any] = field(default_factory=list)


class Training:
    """The fits of one training."""

    def __init__(self, request: Request, reporter: Reporter) -> None:
        self.request, self.reporter = request, reporter
        self.checkpoints: list[Checkpoint] = []

    def run(self, found: Gathered, preparation: TablePreparation) -> Outcome:
        """Fit, judge and, if asked, fit again on all rows."""
        held_out = held_out_of(found.parts)
        sample = f"a uniform sample of {found.n_kept:,} of {found.n_rows:,} rows"
        everything = "all rows" if found.share == 1.0 else sample
        with self.reporter.clock("preparation"):
            data = prepared(preparation, found.parts)
        if not held_out.any():
            return self._outcome(self._fit(data, "fit"), data, everything)
        learnt = data.take(np.flatnonzero(~held_out))
        estimator = self._fit(learnt, "fit")
        self.reporter.say("validate", 0, int(held_out.sum()))
        with self.reporter.clock("validation"):
            validation = judged(estimator, data.take(np.flatnonzero(held_out)))
        self.reporter.say("validate", int(held_out.sum()), int(held_out.sum()))
        if not self.request.refit:
            return self._outcome(estimator, learnt, f"{everything} but those held out", validation)
        del learnt, estimator
        return self._outcome(self._fit(data, "refit"), data, everything, validation)

    def _fit(self, data: LabelledRows, phase: str) -> Any:
        estimator = self.request.estimator()
        self._set_checkpoint(estimator, phase)
        with self.reporter.clock("solver"), self.reporter.watching(estimator, phase):
            return estimator.fit(data.X, data.y)

    def _set_checkpoint(self, estimator: Any, phase: str) -> None:
        """Each fit has a file of its own, which stays until the model is safe."""
        if self.request.checkpoint is None or not hasattr(estimator, "set_checkpoint"):
            return
        path = f"{self.request.checkpoint}.{phase}"
        every = self.request.checkpoint_seconds
        self.checkpoints.append(Checkpoint(path, every, resume=self.request.resume))
        estimator.set_checkpoint(self.checkpoints[-1])

    def _outcome(
        self,
        estimator: Any,
        data: LabelledRows,
        fitted_on: str,
        validation: dict[str, Any] | None = None,
    ) -> Outcome:
        if hasattr(estimator, "set_checkpoint"):
            estimator.set_checkpoint(None)
        return Outcome(estimator, fitted_on, data.rows, validation, self.checkpoints)

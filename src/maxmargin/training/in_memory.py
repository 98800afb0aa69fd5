"""Training on rows in memory: judged on the rows held out, then learnt from all of them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..checkpoints import Checkpoint
from ..io.readers import BLOCK_ROWS
from ..metrics import CONFIDENCE, Confusion, share_interval
from ..table import TablePreparation
from .gather import Gathered, Part
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


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Prepared rows, their labels, and their numbers in the file."""

    X: Any
    y: np.ndarray
    rows: np.ndarray

    def take(self, which: np.ndarray) -> LabelledRows:
        """A copy of some of them."""
        return LabelledRows(self.X[which], self.y[which], self.rows[which])


def prepared(preparation: TablePreparation, parts: list[Part]) -> LabelledRows:
    """The matrix of all rows kept; ``parts`` is emptied on the way, so that they are not there twice.

    Parameters
    ----------
    preparation : TablePreparation
    parts : list of Part

    Returns
    -------
    LabelledRows
    """
    rows = np.concatenate([part.rows for part in parts])
    y = np.concatenate([np.asarray(part.block.target) for part in parts])
    X: Any = []
    if preparation.is_dense_:
        X = np.empty((len(rows), preparation.n_features_out_), preparation.dtype)
    start = 0
    while parts:
        block = parts.pop(0).block
        matrix = preparation.transform_noting(block)[0]
        if isinstance(X, list):
            X.append(matrix)
        else:
            X[start : start + block.n_rows] = matrix
        start += block.n_rows
    if isinstance(X, list):
        X = sparse.csr_array(sparse.vstack(X, format="csr"))
    give_back()
    return LabelledRows(X, y, rows)


def judged(estimator: Any, data: LabelledRows) -> dict[str, Any]:
    """Accuracy on rows held out, with its interval, and that of always naming the most frequent class."""
    told = confusion_of(estimator)
    count_answers(told, estimator, data.X, data.y)
    return judgement(told)


def confusion_of(estimator: Any) -> Confusion:
    """Of an estimator's classes, with nothing counted yet."""
    return Confusion([str(label) for label in estimator.classes_])


def count_answers(told: Confusion, estimator: Any, X: Any, y: np.ndarray) -> None:
    """Count what an estimator says about rows whose classes are known to it."""
    classes = np.asarray(estimator.classes_)
    told.add(np.searchsorted(classes, y), np.searchsorted(classes, estimator.predict(X)))


def judgement(told: Confusion) -> dict[str, Any]:
    """What the record says about rows held out."""
    n, right = int(told.n_rows), int(told.n_right)
    return {
        "n_rows": n,
        "n_errors": n - right,
        "accuracy": right / n,
        "accuracy_interval": list(share_interval(right, n)),
        "confidence": CONFIDENCE,
        "majority_accuracy": float(told.majority_share()),
        "balanced_accuracy": float(told.balanced_accuracy()),
    }


def held_out_of(parts: Sequence[Part]) -> np.ndarray:
    """Which of the rows kept are held out."""
    return np.concatenate([part.held_out for part in parts])


def give_back() -> None:
    """Return freed memory to the system, where the C library can.

    glibc keeps what arrays of less than 32 MiB have left. After the columns of a million rows have become one
    matrix that is 280 MiB which no fit would use again.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return
    trim(0)

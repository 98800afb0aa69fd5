"""Training on a stream: one block after the other, in memory that does not grow with the file.

One pass for the preparation and the classes of all rows; one that trains the estimator block by block; one,
if rows are held out, that validates the model on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..archive import ModelFormatError
from ..checkpoints import (
    Checkpoint,
    CheckpointError,
    check_identity,
    check_place,
    description,
    parameter_identity,
    warning_if_unwritten,
)
from ..io.models import load, read_record, save
from ..io.readers import Block, Source
from ..table import labels_of, taken
from .gather import Gathered, Gathering, timed_blocks
from .held_out import HeldOut
from .in_memory import Outcome, Request
from .models import MODELS, ModelKind
from .progress import Reporter
from .record import data_record, plain
from .split import Split
from .validation import HeldOutTally

Digest = Callable[[], dict[str, Any]]
CHECKPOINT_SUFFIX = "stream"  # of the checkpoint's name


def check_streams(kind: ModelKind) -> None:
    """Refuse models without ``partial_fit``."""
    if not kind.streams():
        able = ", ".join(name for name, each in MODELS.items() if each.streams())
        raise ValueError(
            f"the model {kind.name!r} cannot be trained on a stream, because {kind.estimator} has no "
            f"partial_fit; these can: {able}. Without streaming, any model is trained on a sample of a "
            "file that is larger than memory."
        )


class StreamTraining:
    """The passes of one training."""

    def __init__(self, request: Request, reporter: Reporter) -> None:
        check_streams(request.kind)
        self.request, self.reporter = request, reporter
        path = None if request.checkpoint is None else f"{request.checkpoint}.{CHECKPOINT_SUFFIX}"
        self.checkpoint = None if path is None else Checkpoint(path, resume=request.resume)
        if self.checkpoint is not None:
            check_place(self.checkpoint.path)

    def run(self, source: Source, digest: Digest) -> tuple[StreamPoint, Outcome]:
        """Train and validate; the model with what is known of the file, and the outcome."""
        held_out = self.request.held_out()  # goes along with the blocks, from the first on
        point, identity = self._start(source, digest)
        estimator = point.model["model"]
        for block, mask in self._blocks(source, held_out):
            passed = block.first_row + block.n_rows
            if passed > point.n_rows_passed:
                self._learn(point, block, ~mask)
                point.n_rows_passed = passed
                if self.checkpoint is not None:
                    with warning_if_unwritten("training"):
                        point.write(self.checkpoint.path, identity)
            self.reporter.say("learn", passed, point.data["n_rows"])
        _check_same_length(source, point)
        fitted_on = "all rows" if not self.request.validate else "all rows but those held out"
        checkpoints = [] if self.checkpoint is None else [self.checkpoint]
        rows = np.zeros(0, dtype=np.int64)  # support vectors of a stream have no numbers
        validation = self._validated(source, point) if self.request.validate else None
        return point, Outcome(estimator, f"{fitted_on}, block by block", rows, validation, checkpoints)

    def _start(self, source: Source, digest: Digest) -> tuple[StreamPoint, dict[str, str]]:
        """The checkpoint of the previous run, or the start, after a pass over all rows."""
        checkpoint = self.checkpoint
        if checkpoint is not None and checkpoint.resume and checkpoint.exists():
            identity = self._identity(source, digest)
            return read_point(checkpoint.path, identity), identity
        request = self.request
        preparation = request.preparation(source)
        found = Gathering(request.held_out(), preparation, None, request.seed, self.reporter).read(source)
        request.check_costs(found)
        request.warn_of_columns(preparation, source)
        data = data_record(source, found, preparation) | {"n_rows_kept": 0, "share_kept": 0.0}
        model = Pipeline([("table", preparation), ("model", request.estimator())])
        self.classes = _classes(found)
        return StreamPoint(model, data), self._identity(source, digest)

    def _identity(self, source: Source, digest: Digest) -> dict[str, str]:
        """What must be the same for the same bits."""
        request = self.request
        return (
            parameter_identity(request.estimator())
            | {
                "the file's SHA-256": str(digest()["sha256"]),
                "how it is read": description(plain(source.options())),
                "rows of a block": str(request.block_rows),
                "seed": str(request.seed),
                "validate": description(request.validate),
            }
            | ({} if request.split is None else {"rows held out": request.split.text})
            | ({} if not request.text else {"columns of text": ", ".join(request.text)})
        )

    def _blocks(self, source: Source, held_out: HeldOut | Split) -> Iterator[tuple[Block, np.ndarray]]:
        """Each block, and which of its rows are held out."""
        for block in timed_blocks(source, self.reporter, self.request.block_rows):
            yield block, held_out.of_block(*labels_of(block, source.name), block)

    def _learn(self, point: StreamPoint, block: Block, which: np.ndarray) -> None:
        if not which.any():
            return
        X, y = self._prepared(point, block, which)
        estimator = point.model["model"]
        classes = {} if hasattr(estimator, "classes_") else {"classes": self.classes}
        with self.reporter.clock("solver"):
            estimator.partial_fit(X, y, **classes)

    def _validated(self, source: Source, point: StreamPoint) -> dict[str, Any] | None:
        """The validation of the final model, in a pass of its own."""
        estimator, held_out = point.model["model"], self.request.held_out()
        tally = HeldOutTally(estimator, self.request.cost)
        for block, mask in self._blocks(source, held_out):
            if mask.any():
                X, y = self._prepared(point, block, mask)
                with self.reporter.clock("validation"):
                    tally.add(X, y)
            self.reporter.say("validate", block.first_row + block.n_rows, point.data["n_rows"])
        return tally.record()

    def _prepared(self, point: StreamPoint, block: Block, which: np.ndarray) -> tuple[Any, np.ndarray]:
        with self.reporter.clock("preparation"):
            some = taken(block, np.flatnonzero(which))
            return point.model["table"].transform_noting(some)[0], np.asarray(some.target)


def _classes(found: Gathered) -> np.ndarray:
    return np.array(sorted(found.counts))


def _check_same_length(source: Source, point: StreamPoint) -> None:
    if point.n_rows_passed != point.data["n_rows"]:
        raise ValueError(
            f"{source.name}: it had {point.data['n_rows']} rows when it was first read and "
            f"{point.n_rows_passed} now; a file must not change during training."
        )


RECORD_KEY = "stream"


@dataclass
class StreamPoint:
    """A model of the first rows of a file."""

    model: Pipeline  # the preparation of all rows, and the estimator
    data: dict[str, Any]  # what the record says of the file
    n_rows_passed: int = 0

    def write(self, path: Path, identity: Mapping[str, str]) -> None:
        """Either the whole file is there afterwards, or the old one."""
        record = {"identity": dict(identity), "data": self.data, "n_rows_passed": self.n_rows_passed}
        save(self.model, path, record={RECORD_KEY: record})


def read_point(path: Path, identity: Mapping[str, str]) -> StreamPoint:
    """What :meth:`StreamPoint.write` wrote; refused is the file of another stream, with what differs.

    Parameters
    ----------
    path : Path
    identity : mapping
        Of the training that is to be resumed.

    Returns
    -------
    StreamPoint
    """
    try:
        record, model = read_record(path).get(RECORD_KEY), load(path)
    except ModelFormatError as error:
        raise CheckpointError(str(error), "Start over with {resume}.", resume=False) from None
    if record is None:
        raise CheckpointError(
            f"{path}: a model, not the checkpoint of a stream.", "Start over with {resume}.", resume=False
        )
    check_identity(path, "training", record["identity"], identity)
    return StreamPoint(model, record["data"], record["n_rows_passed"])

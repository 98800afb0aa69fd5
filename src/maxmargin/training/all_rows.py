"""Training on all rows of a file that memory does not hold: passes over its blocks, in constant memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..io.readers import Block, Source
from ..methods.blocks import RowBlock, row_block
from ..table import TablePreparation, labels_of, taken
from .gather import Gathered
from .in_memory import Outcome, Request, Training
from .progress import Reporter
from .validation import HeldOutTally

__all__ = ["AllRowsTraining", "PreparedBlocks"]

Part = Literal["all", "training", "held-out"]


@dataclass(frozen=True)
class PreparedBlocks:
    """The prepared blocks of a file: all of its rows, those to train on, or those held out."""

    source: Source
    preparation: TablePreparation
    request: Request
    part: Part
    begins: Any = None  # which rows are held out where the source begins, if it is part of another

    @property
    def name(self) -> str:
        """The file."""
        return str(self.source.name)

    def blocks(self) -> Iterator[RowBlock]:
        """The blocks of one more pass over the file."""
        held_out = self.request.held_out() if self.begins is None else copy.deepcopy(self.begins)
        for block in self.source.blocks(self.request.block_rows):
            mask = held_out.of_block(*labels_of(block, self.source.name), block)
            some = self._part(block, mask)
            X, _ = self.preparation.transform_noting(some)
            yield row_block(X, np.asarray(some.target))

    def _part(self, block: Block, held_out: np.ndarray) -> Block:
        if self.part == "all":
            return block
        return taken(block, np.flatnonzero(held_out if self.part == "held-out" else ~held_out))


class AllRowsTraining(Training):
    """A fit to the rows that are not held out, its validation, and a fit to all rows, each in passes."""

    def __init__(self, request: Request, reporter: Reporter, source: Source) -> None:
        super().__init__(request, reporter)
        self.source = source

    def run(self, found: Gathered, preparation: TablePreparation) -> Outcome:
        """Fit, validate and, if requested, fit again on all rows; rows kept in memory are given up."""
        found.parts.clear()
        if not self.request.validate:
            return self._all_rows_outcome(self._fit_part(preparation, "all", "fit"), "all rows")
        estimator = self._fit_part(preparation, "training", "fit")
        validation = self._validated(estimator, preparation, found.n_rows)
        if not self.request.refit:
            return self._all_rows_outcome(estimator, "all rows but those held out", validation)
        del estimator
        return self._all_rows_outcome(self._fit_part(preparation, "all", "refit"), "all rows", validation)

    def _fit_part(self, preparation: TablePreparation, part: Part, phase: str) -> Any:
        estimator = self.request.estimator()
        self._set_checkpoint(estimator, phase)
        blocks = PreparedBlocks(self.source, preparation, self.request, part)
        with self.reporter.clock("solver"), self.reporter.watching(estimator, phase):
            return estimator.fit_blocks(blocks, progress=self._progress(phase))

    def _progress(self, phase: str) -> Callable[[int, int], None]:
        """What a pass reports: its number, and how many blocks it has."""

        def tell(n_passes: int, n_blocks: int) -> None:
            self.reporter.say(phase, n_blocks, passes=n_passes)

        return tell

    def _validated(self, estimator: Any, preparation: TablePreparation, n_rows: int) -> dict[str, Any] | None:
        tally, n_passed = HeldOutTally(estimator, self.request.cost), 0
        with self.reporter.clock("validation"):
            for block in PreparedBlocks(self.source, preparation, self.request, "held-out").blocks():
                if len(block):
                    tally.add(block.X, block.y)
                    n_passed += len(block)
                    self.reporter.say(
                        "validate", n_passed, max(n_passed, int(self.request.validate * n_rows))
                    )
        return tally.record()

    def _all_rows_outcome(
        self, estimator: Any, fitted_on: str, validation: dict[str, Any] | None = None
    ) -> Outcome:
        estimator.set_checkpoint(None)
        rows = np.zeros(0, dtype=np.int64)  # support vectors have no numbers in the file
        fitted_on = f"{fitted_on}, in {estimator.n_passes_} passes over the file"
        return Outcome(estimator, fitted_on, rows, validation, self.checkpoints)

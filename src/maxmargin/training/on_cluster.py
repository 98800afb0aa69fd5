"""Training on a Dask cluster: workers read the files, one task for each, and run the passes.

The blocks are those that one machine reads, so the model has the same bits. The first pass, which fits the
preparation, is read here; where each file begins among the held-out rows is noted on the way.
"""

from __future__ import annotations

import copy
from operator import getitem
from typing import Any

from ..io.readers import Source, file_parts
from ..methods.blocks import RowBlock
from ..table import TablePreparation, labels_of
from .all_rows import AllRowsTraining, Part, PreparedBlocks
from .in_memory import Request
from .progress import Reporter

__all__ = ["ClusterTraining"]


class ClusterTraining(AllRowsTraining):
    """The fits of one training, in passes on the workers of a client."""

    def __init__(
        self, request: Request, reporter: Reporter, source: Source, client: Any, persist: bool
    ) -> None:
        super().__init__(request, reporter, source)
        self.client, self.persist = client, persist
        self.files = file_parts(source)
        self._layout: list[tuple[Any, int]] | None = None

    def layout(self) -> list[tuple[Any, int]]:
        """Of each file which rows are held out when it begins, and its number of blocks."""
        if self._layout is None:
            held_out, found = self.request.held_out(), []
            for file in self.files:
                begins, n_blocks = copy.deepcopy(held_out), 0
                for block in file.blocks(self.request.block_rows):
                    held_out.of_block(*labels_of(block, file.name), block)
                    n_blocks += 1
                found.append((begins, n_blocks))
            self._layout = found
        return self._layout

    def _fit_part(self, preparation: TablePreparation, part: Part, phase: str) -> Any:
        from ..clusters import fit_on_cluster

        estimator = self.request.estimator()
        self._set_checkpoint(estimator, phase)
        blocks = self._blocks(preparation, part)
        with self.reporter.clock("solver"), self.reporter.watching(estimator, phase):
            return fit_on_cluster(
                estimator, self.client, blocks, persist=self.persist, progress=self._progress(phase)
            )

    def _blocks(self, preparation: TablePreparation, part: Part) -> list[Any]:
        """A Dask task for each block; those of a file come from one task that reads it."""
        from dask.delayed import delayed

        from ..clusters import shared

        prepared, found = shared(preparation), []
        for number, (file, (begins, n_blocks)) in enumerate(zip(self.files, self.layout(), strict=True)):
            name = f"maxmargin-file-{number}-{part}"
            whole = delayed(blocks_of_file, pure=False, name=name)(file, prepared, self.request, part, begins)
            found += [delayed(getitem, pure=False)(whole, k) for k in range(n_blocks)]
        return found


def blocks_of_file(
    file: Source, preparation: TablePreparation, request: Request, part: Part, held_out: Any
) -> list[RowBlock]:
    """What a worker does: the prepared blocks of one file."""
    return list(PreparedBlocks(file, preparation, request, part, held_out).blocks())

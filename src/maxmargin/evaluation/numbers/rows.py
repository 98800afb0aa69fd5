"""The prepared rows of a source, with notices of what was unlike the training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...io.readers import Block, Source

__all__ = ["PreparedRows", "last_step"]


def last_step(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "named_steps") else model


class PreparedRows:
    """The blocks of a source, each with its matrix; ``notes`` are complete after the last one.

    Parameters
    ----------
    model : Pipeline or estimator
    source : Source
    """

    def __init__(self, model: Any, source: Source) -> None:
        self.model, self.source = model, source
        self._notices: Any = None

    def __iter__(self) -> Iterator[tuple[Block, Any]]:
        for block in self.source.blocks():
            if block.n_rows:
                yield block, self._matrix(block)

    def _matrix(self, block: Block) -> Any:
        steps: Any = getattr(self.model, "named_steps", None)
        if steps is None:
            return block.features
        table: Any = steps.get("table")
        if table is None:
            return self.model[:-1].transform(block.features)
        X, notices = table.transform_noting(block)
        self._notices = notices if self._notices is None else self._notices + notices
        return X

    @property
    def notes(self) -> list[str]:
        """What was unlike the training."""
        said = "" if self._notices is None else self._notices.text()
        return [said] if said else []

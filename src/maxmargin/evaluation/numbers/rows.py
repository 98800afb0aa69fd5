"""The rows of a source as the matrix that a model takes, with notices of what was unlike the training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from ...io.readers import Block, Source

__all__ = ["PreparedRows", "classifier_of", "prepared"]


def classifier_of(model: Any) -> Any:
    """The model itself, or the last step of a pipeline."""
    return model[-1] if isinstance(model, Pipeline) else model


def prepared(model: Any, rows: Any) -> tuple[Any, Any]:
    """The matrix that the classifier takes, and what was unlike the training if the preparation tells.

    Parameters
    ----------
    model : fitted classifier, or pipeline that ends in one
    rows : Block, or whatever the model takes

    Returns
    -------
    X : matrix
    notices : Notices of the ``TablePreparation`` that the pipeline begins with, or None
    """
    steps = list(model[:-1]) if isinstance(model, Pipeline) else []
    notices = None
    if steps and hasattr(steps[0], "transform_noting"):
        rows, notices = steps.pop(0).transform_noting(rows)
    elif isinstance(rows, Block):
        rows = _matrix_of(rows)
    for step in steps:
        rows = step.transform(rows)
    return rows, notices


def _matrix_of(block: Block) -> Any:
    if isinstance(block.features, Mapping):
        raise ValueError(
            "the file is a table with named columns, and this model takes a matrix: it has no "
            "TablePreparation. Train it with maxmargin train, or give a .npz or LIBSVM file."
        )
    return block.features


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
                X, notices = prepared(self.model, block)
                if notices is not None:
                    self._notices = notices if self._notices is None else self._notices + notices
                yield block, X

    @property
    def notes(self) -> list[str]:
        """What was unlike the training."""
        said = "" if self._notices is None else self._notices.text()
        return [said] if said else []

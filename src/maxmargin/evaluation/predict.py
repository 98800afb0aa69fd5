"""Predictions for the rows of a file, block by block: memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..io.readers import BLOCK_ROWS, Source
from .read_ahead import ahead

__all__ = ["Predicted", "predictions"]


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model says about some rows."""

    labels: np.ndarray  # (n_rows,)
    scores: np.ndarray | None  # (n_rows,) for two classes, else (n_rows, n_classes)
    probabilities: np.ndarray | None  # (n_rows, n_classes)


def predictions(
    model: Any,
    source: Source,
    *,
    scores: bool = False,
    probabilities: bool = False,
    batch: int = BLOCK_ROWS,
) -> Iterator[Predicted]:
    """Predictions of a fitted pipeline for the rows of a source, in their order.

    The next rows are read and parsed by another thread in the meantime.

    Parameters
    ----------
    model : Pipeline
        Whose steps before the last take a ``Block``.
    source : Source
    scores, probabilities : bool, default=False
        Whether these are wanted beside the labels.
    batch : int, default=65536
        Rows at a time; the predictions do not depend on it.

    Yields
    ------
    Predicted
    """
    classifier = model[-1]
    if probabilities and not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"{type(classifier).__name__} gives no probabilities; ask for scores, or train a model that does."
        )
    for block in ahead(source.blocks(batch)):
        if block.n_rows:
            X = model[:-1].transform(block)
            yield Predicted(
                classifier.predict(X),
                np.asarray(classifier.decision_function(X)) if scores else None,
                np.asarray(classifier.predict_proba(X)) if probabilities else None,
            )

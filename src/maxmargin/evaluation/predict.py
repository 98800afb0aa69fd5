"""Predictions for the rows of a file, block by block: memory does not grow with the file."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from .._native import started_thread
from ..io.readers import Source, file_parts
from ..metrics import Decision
from .answers import answers

__all__ = ["Predicted", "predictions"]

PREDICTED_ROWS = 1 << 14  # at a time: few enough for the memory of one block to serve the next


@dataclass(frozen=True, eq=False)
class Predicted:
    r"""What a model says about some rows.

    Attributes
    ----------
    labels : ndarray
        One for each row: a class, a number, or 1 for an inlier and -1 for an outlier.
    scores : ndarray or None
        Outputs of ``decision_function``, if asked for.
    probabilities : ndarray or None
        If asked for.
    carried : mapping of str to ndarray or Words
        Columns that name the rows.
    intervals : ndarray or None
        The lower and the upper end for each row, of predicted numbers, if asked for.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.evaluation import predictions
    >>> next(predictions(trained.model, source, scores=True)).scores.shape
    (40,)
    """

    labels: np.ndarray  # (n_rows,)
    scores: np.ndarray | None  # (n_rows,) for two classes, else (n_rows, n_classes)
    probabilities: np.ndarray | None  # (n_rows, n_classes)
    carried: Mapping[str, Any] = field(default_factory=dict)  # columns that name the rows
    intervals: np.ndarray | None = None  # (n_rows, 2), of predicted numbers


def predictions(
    model: Any,
    source: Source,
    *,
    scores: bool = False,
    probabilities: bool = False,
    decision: Decision | None = None,
    interval: float | None = None,
    batch: int = PREDICTED_ROWS,
    client: Any = None,
) -> Iterator[Predicted]:
    r"""Predictions of a fitted pipeline for the rows of a source, in their order.

    The next rows are read and parsed by another thread in the meantime.

    Parameters
    ----------
    model : Pipeline
        Whose steps before the last take a ``Block``.
    source : Source
    scores, probabilities : bool, default=False
        Whether these are wanted beside the labels.
    decision : Decision, optional
        How classes are chosen, as :func:`stored_decision` gives it; by default as the model does.
    interval : float, optional
        The probability with which intervals are to contain the true number; for models of numbers.
    batch : int, default=16384
        Rows at a time; the predictions do not depend on it.
    client : distributed.Client, optional
        Whose workers predict, a whole file at a time.

    Yields
    ------
    Predicted

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.evaluation import predictions
    >>> sum(len(part.labels) for part in predictions(trained.model, source))
    40
    """
    classifier = model[-1]
    if probabilities and not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"{type(classifier).__name__} gives no probabilities; ask for scores, or train a model that "
            "does, such as sparse-kernel or calibrated."
        )
    if client is not None:
        from ..clusters import of_files

        options: dict[str, Any] = {
            "scores": scores,
            "probabilities": probabilities,
            "decision": decision,
            "batch": batch,
        }
        options["interval"] = interval
        for found in of_files(client, _all_predictions, model, file_parts(source), options):
            yield from found
        return
    for block in ahead(source.blocks(batch)):
        if block.n_rows:
            X = model[:-1].transform(block)
            yield Predicted(
                classifier.predict(X) if decision is None else _decided(classifier, X, decision),
                np.asarray(classifier.decision_function(X)) if scores else None,
                np.asarray(classifier.predict_proba(X)) if probabilities else None,
                block.carried,
                None if interval is None else classifier.predict_interval(X, interval),
            )


def _decided(classifier: Any, X: Any, decision: Decision) -> np.ndarray:
    told = answers(classifier, X)
    return np.asarray(classifier.classes_)[decision.predicted(told.scores, told.probabilities)]


def _all_predictions(model: Any, file: Source, options: dict[str, Any]) -> list[Predicted]:
    """What a worker does: all predictions for one file."""
    return list(predictions(model, file, **options))


Item = TypeVar("Item")
_END = object()
MAX_BLOCKS_AHEAD = 2  # items that may wait: enough to overlap, few enough to keep memory small


def ahead(items: Iterable[Item], depth: int = MAX_BLOCKS_AHEAD) -> Iterator[Item]:
    """``items``, in their order, made ahead of their use; an error in making them is raised at its place.

    Parameters
    ----------
    items : iterable
        Gone through by another thread, once, and no further than ``depth`` beyond what was asked for.
    depth : int, default=2

    Yields
    ------
    item
    """
    waiting: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(depth)
    left = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> bool:
        while not left.is_set():
            try:
                waiting.put((item, error), timeout=0.05)
                return True
            except queue.Full:
                continue
        return False

    def make() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:
            put(_END, error)

    if (thread := started_thread(make, name="maxmargin-read-ahead", daemon=True)) is None:
        yield from items
        return
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        left.set()
        thread.join()

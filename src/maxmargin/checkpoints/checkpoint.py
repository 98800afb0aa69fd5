"""Checkpoints: a file with the progress of a fit, from which an interrupted fit resumes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..data import check_flag, check_number
from .record import FileRecord, FitRecord

__all__ = ["Checkpoint", "fit_record", "set_checkpoint"]


class Checkpoint:
    """A file in which a fit saves its progress, so that it can be resumed.

    Given to an estimator by ``set_checkpoint``, it is written by ``fit``: after a certificate once
    ``every_seconds`` have passed, when Ctrl-C or another exception interrupts the fit, and when the fit ends.
    Writes are atomic, so a crash never leaves a partial file, and only the work since the last write is lost.
    A resumed fit is bit-identical to an uninterrupted one, with any ``n_jobs``.

    The file remains when the fit ends; resuming from it then returns the model at once. Call ``remove`` after
    saving the model.

    Parameters
    ----------
    path : str or path
        An older file is replaced, unless ``resume`` is set.
    every_seconds : float, default=30.0
        Minimum number of seconds between two writes. Slow writes are spaced further apart, so that writing
        takes at most 5% of the time.
    resume : bool, default=False
        Resume from the file if it exists, else start from scratch. A file of another fit (other data,
        parameters, seed or version of maxmargin) raises a ``CheckpointError`` that lists the differences.
        ``n_jobs`` and ``max_seconds`` may differ; ``max_seconds`` counts from the start of the resumed fit,
        ``max_iter`` counts the iterations of all runs. With ``random_state=None`` the seed of the file is
        used.

    Notes
    -----
    A fit stopped by ``max_seconds`` or a callback can be resumed too. Quantities that depend only on the data
    (kernel matrices, factorisations, eigen features) are not stored but recomputed.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.checkpoints.checkpoint import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(f"{folder}/iris.checkpoint", resume=True)
    ...     model = LinearSVC().set_checkpoint(checkpoint).fit(*load_iris(return_X_y=True))
    ...     checkpoint.remove()
    """

    def __init__(
        self, path: str | os.PathLike[str], every_seconds: float = 30.0, *, resume: bool = False
    ) -> None:
        check_number("every_seconds", every_seconds, at_least=0.0)
        check_flag("resume", resume)
        self.path = Path(path)
        self.every_seconds = float(every_seconds)
        self.resume = bool(resume)

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, {self.every_seconds}, resume={self.resume})"

    def exists(self) -> bool:
        """Whether there is a file to resume from."""
        return self.path.exists()

    def remove(self) -> None:
        """Remove the file if it exists."""
        self.path.unlink(missing_ok=True)


Model = TypeVar("Model")


def set_checkpoint(self: Model, checkpoint: Checkpoint | str | os.PathLike[str] | None) -> Model:
    """Write the progress of the next fits to a file, so that they can be resumed.

    It affects ``fit`` only. Clones, copies and pickles do not inherit it.

    Parameters
    ----------
    checkpoint : Checkpoint, path or None
        None turns checkpoints off. A path is short for ``Checkpoint(path)``.

    Returns
    -------
    self
    """
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    self._checkpoint = checkpoint  # type: ignore[attr-defined]
    return self


@contextmanager
def fit_record(model: Any) -> Iterator[FitRecord]:
    """The record of one fit of a model: in its checkpoint file, or one that stores nothing."""
    if model._checkpoint is None:
        yield FitRecord()
        return
    if getattr(model, "warm_start", False):
        raise ValueError(
            "a checkpoint cannot be combined with warm_start=True: a fit resumed from the file does not know "
            "the earlier fit. Set warm_start=False, or set_checkpoint(None)."
        )
    record = FileRecord(model._checkpoint)
    try:
        yield record
    finally:  # after an error or Ctrl-C as well
        record.write()

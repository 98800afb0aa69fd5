"""Fits that can be interrupted and resumed: a file that holds the progress of each part of a fit."""

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
    Writing is atomic, so after any crash the file is whole, and only the work since it was written is lost. A
    fit that resumes from it is bit-identical to an uninterrupted one, with any ``n_jobs``.

    The file stays when the fit ends, and resuming from it then gives the model at once. Call ``remove`` once
    the model is saved.

    Parameters
    ----------
    path : str or path
        An older file is replaced, unless ``resume`` is set.
    every_seconds : float, default=30.0
        Seconds between two writes, at least. They are more where a write takes long: at most a twentieth of
        the time goes into writing.
    resume : bool, default=False
        Go on from the file where there is one, and begin anew where there is none. A file of another fit
        (other data, parameters, seed or version of maxmargin) is a ``CheckpointError`` that says what
        differs. ``n_jobs`` and ``max_seconds`` may differ; ``max_seconds`` counts from the beginning of the
        resumed fit, ``max_iter`` in all. With ``random_state=None`` the seed is the file's.

    Notes
    -----
    A fit stopped by ``max_seconds`` or a callback can be resumed, too. Functions of the data alone (kernel
    matrices, factors, eigen features) are not stored but computed again.

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
        """Whether there is a file to go on from."""
        return self.path.exists()

    def remove(self) -> None:
        """Remove the file, where there is one."""
        self.path.unlink(missing_ok=True)


Model = TypeVar("Model")


def set_checkpoint(self: Model, checkpoint: Checkpoint | str | os.PathLike[str] | None) -> Model:
    """Write the progress of the next fits to a file, so that they can be resumed.

    It affects ``fit`` only, and is not passed on to clones, copies and pickles.

    Parameters
    ----------
    checkpoint : Checkpoint, path or None
        None turns it off. A path is ``Checkpoint(path)``.

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
    """The record of one fit of a model: that of its checkpoint, or one that stores nothing."""
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

"""The record of a fit: what it takes from the previous run and leaves for the next one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..data import ParameterError
from ..solving import Journal, JournalPart, Stop
from .file import StoredFit, read_checkpoint, write_checkpoint

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

__all__ = ["CheckpointError", "FileRecord", "FitRecord"]

MAX_WRITE_TIME_SHARE = 0.05  # of the run time of a fit


class CheckpointError(ParameterError):
    """A checkpoint file that cannot be used: it is another fit's, is damaged, or has an invalid path.

    Parameters
    ----------
    problem : str
        What is wrong.
    advice : str
        What to do.
    arguments : object
        Values that the texts name.

    Examples
    --------
    >>> from maxmargin.io import CheckpointError
    >>> str(CheckpointError("fit.ckpt belongs to other data"))
    'fit.ckpt belongs to other data'
    """


def check_identity(path: Path, work: str, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Raise if the file belongs to another piece of ``work``; the error lists the differences."""
    different = [
        f"{name} is {there.get(name, 'absent')} there and {value} here"
        for name, value in here.items()
        if there.get(name) != value
    ]
    if different:
        raise CheckpointError(
            f"{path} is the checkpoint of another {work}: {'; '.join(different)}.",
            f"Use the data and parameters of that {work}, or start over with {{resume}}.",
            resume=False,
        )


def check_place(path: Path) -> None:
    """Raise, before any work, if no checkpoint can have this path."""
    if not path.parent.is_dir():
        raise CheckpointError(
            f"{path}: the folder {path.parent} does not exist; create it, or give another path."
        )
    if path.is_dir():
        raise CheckpointError(f"{path} is a folder; give the name of a file.")


@contextmanager
def warning_if_unwritten(work: str) -> Iterator[None]:
    """Within, a checkpoint is written; if that fails, warn and let the ``work`` continue."""
    try:
        yield
    except OSError as error:
        warnings.warn(
            f"the checkpoint could not be written; the {work} continues without it: {error}",
            RuntimeWarning,
            stacklevel=4,
        )


class FitRecord:
    """The record of a fit without a checkpoint, or of a fit that is part of another one."""

    def __init__(
        self, part: JournalPart | None = None, whole: FitRecord | None = None, name: str = "whole"
    ) -> None:
        self.part, self.whole, self.name = part, whole, name

    binds = True

    def below(self, name: str, binds: bool = True) -> FitRecord:
        """The record of a fit that is part of this one.

        A part does not bind if its data and parameters follow from those of the whole.
        """
        record = FitRecord(None if self.part is None else self.part.part(name), self, name)
        record.binds = binds
        return record

    def limits(self, stop: Stop) -> Stop:
        """``stop`` with the journal attached."""
        return replace(stop, journal=self.part)

    def seed(self, drawn: int, fixed: bool) -> int:
        """The seed to use: the one drawn, or the previous run's unless the seed is ``fixed``."""
        return drawn if fixed or self.part is None else int(self.fact(f"{self.part.name} seed", drawn))

    def fact(self, name: str, value: float) -> float:
        """A number that depends on the machine: the previous run's if there was one, else ``value``."""
        return value if self.whole is None else self.whole.fact(name, value)

    def bind(self, identity: dict[str, str]) -> None:
        """Raise if the previous run was of another fit."""
        if self.part is not None and self.whole is not None and self.binds:
            self.whole.bind({f"{name} of the {self.name}": text for name, text in identity.items()})


class FileRecord(FitRecord):
    """A record in a checkpoint file, written at intervals."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.before = self._read()
        self.now = StoredFit(entries={} if self.before is None else self.before.entries)
        self.journal = Journal(self.now.entries, self._changed, every_copy=checkpoint.every_seconds == 0.0)
        self.next_write = time.perf_counter() + checkpoint.every_seconds
        super().__init__(JournalPart(self.journal, "fit"))

    def _read(self) -> StoredFit | None:
        path = self.checkpoint.path
        check_place(path)
        if not (self.checkpoint.resume and path.exists()):
            return None
        try:
            return read_checkpoint(path)
        except ValueError as error:
            raise CheckpointError(str(error), "Start over with {resume}.", resume=False) from None

    def fact(self, name: str, value: float) -> float:
        """The value of the previous run if there was one."""
        facts = self.now.facts if self.before is None else self.before.facts
        self.now.facts[name] = facts.get(name, value)
        return self.now.facts[name]

    def bind(self, identity: dict[str, str]) -> None:
        """Raise if the file belongs to another fit; the error lists the differences."""
        self.now.identity |= identity
        if self.before is not None:
            check_identity(self.checkpoint.path, "fit", self.before.identity, identity)

    def _changed(self) -> None:
        if time.perf_counter() >= self.next_write:
            self.write()

    def write(self) -> None:
        """Write the file once a solve has begun; if writing fails, warn and let the fit continue."""
        with self.journal.lock:
            if not self.journal.opened:  # ``bind`` may have raised because the file belongs to another fit
                return
            start = time.perf_counter()
            with warning_if_unwritten("fit"):
                write_checkpoint(self.checkpoint.path, self.now)
            end = time.perf_counter()
            self.next_write = end + max(self.checkpoint.every_seconds, (end - start) / MAX_WRITE_TIME_SHARE)

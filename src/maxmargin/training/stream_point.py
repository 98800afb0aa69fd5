"""How far a stream has come, in a file: the model with what it remembers, and the rows that went by.

The file is a model file. Its record says what the stream is of, so that no other stream goes on from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from ..archive import ModelFormatError
from ..checkpoints import CheckpointError, check_identity
from ..io.models import load, read_record, save

KEY = "stream"


@dataclass
class StreamPoint:
    """A model of the first rows of a file."""

    model: Pipeline  # the preparation of all rows, and the estimator
    data: dict[str, Any]  # what the record says of the file
    n_rows_passed: int = 0

    def write(self, path: Path, identity: Mapping[str, str]) -> None:
        """Either the whole file is there afterwards, or the old one."""
        record = {"identity": dict(identity), "data": self.data, "n_rows_passed": self.n_rows_passed}
        save(self.model, path, record={KEY: record})


def read_point(path: Path, identity: Mapping[str, str]) -> StreamPoint:
    """What :meth:`StreamPoint.write` wrote; refused is the file of another stream, with what differs.

    Parameters
    ----------
    path : Path
    identity : mapping
        What the stream that is to go on is of.

    Returns
    -------
    StreamPoint
    """
    try:
        record, model = read_record(path).get(KEY), load(path)
    except ModelFormatError as error:
        raise CheckpointError(f"{error} Begin anew, with resume=False.") from None
    if record is None:
        raise CheckpointError(f"{path}: a model, but no unfinished stream. Begin anew, with resume=False.")
    check_identity(path, "training", record["identity"], identity)
    return StreamPoint(model, record["data"], record["n_rows_passed"])

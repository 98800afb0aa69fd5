"""What commands do with models without classes: options refused, and files read with or without a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .messages import UsageError
from .reading import Reading

if TYPE_CHECKING:
    from ...io.readers import Source

__all__ = ["check_options", "only_for_classes", "open_rows"]

NAMES = {"regression": "a model of numbers", "novelty": "a model of what is usual"}


def check_options(task: str, command: str, **given: Any) -> None:
    """Refuse options of a command that are about something else than the task of the model."""
    stray = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if stray:
        verb, them = ("is", "it") if len(stray) == 1 else ("are", "them")
        raise UsageError(
            f"{', '.join(stray)} {verb} not for {NAMES.get(task, 'a classifier')}; leave {them} out of "
            f"{command}."
        )


def only_for_classes(task: str, command: str) -> None:
    """Refuse a model without classes where there is nothing else that the command could do."""
    if task != "classification":
        raise UsageError(
            f"{command} is about classes, and this is {NAMES[task]}; use evaluate, or report for a page."
        )


def open_rows(reading: Reading, data: Path, model: Any, record: Any, task: str) -> Source:
    """The rows to evaluate a model on: for novelty with labels only if they are named or in the file."""
    wanted = task != "novelty" or reading.target is not None
    return reading.open_for(data, model, record, target=wanted)

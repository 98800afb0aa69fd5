"""What a training is for: classes, numbers, or rows unlike the others. How targets are read, which models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sklearn.base import is_outlier_detector, is_regressor

from ..data import ParameterError
from ..io.readers import Source
from .gather import CLASSES, Gathered, TargetReading, TooManyClasses, one_group
from .in_memory import Training
from .models import AUTO_MODEL, model_kind
from .novelty import NoveltyTraining
from .numbers import NumberTraining
from .regression import IgnoredTarget, NumberTarget, number_of

__all__ = ["TASKS", "Task", "first_task", "looks_numeric", "task_of"]


@dataclass(frozen=True)
class Task:
    """What is predicted.

    Attributes
    ----------
    name : str
    model : str
        The model that is trained by default.
    reading : TargetReading
        How the targets of a block are grouped and checked.
    source : callable
        From a source to one with targets of this task.
    training : type
        What fits and validates.
    """

    name: str
    model: str
    reading: TargetReading
    source: Callable[[Source], Any]
    training: type[Training]

    def as_record(self, why: str | None) -> dict[str, Any]:
        """What a record says of it; of classification nothing."""
        return {} if self.name == "classification" else {"task": self.name, "task_because": why}


def _check_some(found: Gathered, name: str) -> None:
    if found.n_rows < 2:
        raise ValueError(f"{name}: a model of numbers needs at least two rows; got {found.n_rows}.")


_NUMBERS = TargetReading(one_group, _check_some)
_NOTHING = TargetReading(one_group, lambda found, name: None, needs_target=False)
TASKS = {
    task.name: task
    for task in (
        Task("classification", AUTO_MODEL, CLASSES, lambda source: source, Training),
        Task("regression", "kernel-regression", _NUMBERS, NumberTarget, NumberTraining),
        Task("novelty", "one-class", _NOTHING, IgnoredTarget, NoveltyTraining),
    )
}


def first_task(task: str | None, model: str) -> Task:
    """The task by its name, or that of the model; a model of another task is refused."""
    if task is not None and task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}; got {task!r}.")
    own = model_kind(model).task
    if task is not None and model != AUTO_MODEL and task != own:
        raise ParameterError(
            f"the model {model!r} is for {own}, not for {task}.",
            "Give {model}, or leave the model out.",
            model=TASKS[task].model,
        )
    return TASKS[task or own]


def looks_numeric(error: TooManyClasses, source: Source) -> bool:
    """Whether the labels that are too many for classes are numbers, and do not just count the rows.

    Numbers with a decimal comma are refused where the comma is not known to be one.
    """
    decimal = source.options().get("decimal")
    values = [_number(label, decimal) for label in error.labels]
    if any(value is None for value in values):
        if decimal is None and all(_number(label, ",") is not None for label in error.labels):
            raise ParameterError(
                error.problem, "If they are numbers, give the decimal sign ({decimal}).", decimal=","
            )
        return False
    found = sorted(value for value in values if value is not None)
    counted = all(later - earlier == 1.0 for earlier, later in pairwise(found))
    return not (counted and len(found) == error.n_rows)


def _number(label: Any, decimal: str | None) -> float | None:
    if isinstance(label, str):
        return number_of(label, decimal)
    return float(label) if isinstance(label, int | float) and not isinstance(label, bool) else None


def task_of(model: Any) -> str:
    """The name of the task that a fitted estimator or pipeline is for."""
    last = model[-1] if hasattr(model, "named_steps") else model
    if is_regressor(last):
        return "regression"
    return "novelty" if is_outlier_detector(last) else "classification"

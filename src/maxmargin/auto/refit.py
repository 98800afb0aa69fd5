"""The fit of the chosen point to all rows, and what is left to do if the time limit cuts it short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checkpoints import FitRecord
from ..solving import Deadline, Status
from .metric import Rows

__all__ = ["refitted"]

SAMPLE_TIME_SHARE = 0.2  # of the time after the search, for a fit to a sample
MAX_COMPARED_ROWS = 2000


def refitted(
    make: Callable[[], Any], data: Rows, sampled: np.ndarray, deadline: Deadline, record: FitRecord
) -> tuple[Any, np.ndarray]:
    """A fitted model of ``make()``, and the rows that it was fitted to.

    A fit that is cut short may be useless. So some time is left for a fit to ``sampled``, the rows on which
    the point was chosen, and of the two the one with fewer errors on all rows is taken. Its status is
    "time_limit" in any case.
    """
    whole = np.arange(len(data[1]))
    if len(sampled) == len(whole):
        return make()._fit(*data, record=record, deadline=deadline), whole
    cut = None
    try:
        with deadline.nested(1.0 - SAMPLE_TIME_SHARE) as until:
            cut = make()._fit(*data, record=record, deadline=until)
    except TimeoutError:
        pass
    if cut is not None and cut.status_ != str(Status.TIME_LIMIT):
        return cut, whole
    model = make()._fit(*(part[sampled] for part in data), record=FitRecord(), deadline=deadline)
    model.status_ = str(Status.TIME_LIMIT)
    if cut is not None and _errors(cut, data) < _errors(model, data):
        return cut, whole
    return model, sampled


def _errors(model: Any, data: Rows) -> float:
    """The weight of evenly spaced rows that a model has wrong."""
    X, y, weight = data
    some = np.linspace(0, len(y) - 1, min(len(y), MAX_COMPARED_ROWS)).astype(np.intp)
    return float(weight[some] @ (model.predict(X[some]) != y[some]))

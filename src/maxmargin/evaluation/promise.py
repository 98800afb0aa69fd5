"""Whether a model does on new rows what its validation promised, and where its training rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..io.readers import Source
from ..metrics import Interval, share_interval
from ..training import is_training_file
from .open_like_training import open_like_training

__all__ = ["ValidationPromise", "promise_of", "recorded_training"]

SIGNIFICANCE = 0.01


@dataclass(frozen=True)
class ValidationPromise:
    """Accuracy on new rows beside the one on held-out rows of the training file.

    Attributes
    ----------
    validation_accuracy, accuracy : float
        On held-out rows of the training file, and on new rows.
    validation_interval : tuple of float
        95 %, by Clopper and Pearson.
    n_validation, n_rows : int
    p_value : float
        Of Fisher's exact test for equal accuracies.
    kept : bool
        Whether that is at least 1 %.

    Examples
    --------
    >>> from maxmargin.evaluation import promise_of
    >>> promise_of({"validation": {"n_rows": 100, "n_errors": 2}}, 493, 1000).kept
    False
    """

    validation_accuracy: float
    validation_interval: Interval
    n_validation: int
    accuracy: float
    n_rows: int
    p_value: float
    kept: bool

    @property
    def text(self) -> str:
        """One sentence where the promise was not kept."""
        low, high = self.validation_interval
        side = "below" if self.accuracy < self.validation_accuracy else "above"
        return (
            f"accuracy {100 * self.accuracy:.1f} % is {side} what validation promised, "
            f"{100 * self.validation_accuracy:.1f} % ({100 * low:.1f} to {100 * high:.1f}, "
            f"{self.n_validation:,} held-out rows; p = {self.p_value:.1g} by chance). The new rows differ "
            "from the training rows, or the held-out rows were too easy"
        )


def promise_of(record: Mapping[str, Any] | None, n_errors: int, n_rows: int) -> ValidationPromise | None:
    """Whether the accuracy on new rows is what the validation in a model's record promised.

    Parameters
    ----------
    record : mapping or None
    n_errors, n_rows : int
        On the new rows.

    Returns
    -------
    ValidationPromise or None
        None if nothing was held out.

    Examples
    --------
    >>> from maxmargin.evaluation import promise_of
    >>> promise_of({"validation": {"n_rows": 100, "n_errors": 2}}, 30, 1000).kept
    True
    """
    held = (record or {}).get("validation") or {}
    n, wrong = held.get("n_rows"), held.get("n_errors")
    decided = ((record or {}).get("decision") or {}).get("n_errors")
    wrong = wrong if decided is None else decided
    if not isinstance(n, int) or not isinstance(wrong, int) or not n or not n_rows:
        return None
    counts = np.array([[n - wrong, wrong], [n_rows - n_errors, n_errors]])
    p = float(stats.fisher_exact(counts)[1])
    limits = share_interval(n - wrong, n)
    accuracy = 1.0 - n_errors / n_rows
    return ValidationPromise(1.0 - wrong / n, limits, n, accuracy, n_rows, p, p >= SIGNIFICANCE)


def recorded_training(model: Any, record: Mapping[str, Any] | None) -> Source | None:
    """The training file of a model, if it is still where it was, with the same bytes.

    Parameters
    ----------
    model : Pipeline
    record : mapping or None

    Returns
    -------
    Source or None
    """
    file = ((record or {}).get("data") or {}).get("file")
    if not file or not is_training_file(file, record):
        return None
    return open_like_training(file, model, record)

"""Whether a model does on new rows what its validation promised, and where its training rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy import stats

from ..io.readers import Source
from ..metrics import Interval, share_interval
from ..training import is_training_file
from .open_like_training import open_like_training

__all__ = ["Promise", "promise_of", "recorded_training"]

SIGNIFICANCE = 0.01


@dataclass(frozen=True)
class Promise:
    """Accuracy on new rows beside the one on held-out rows of the training file.

    ``p_value`` is that of Fisher's exact test for equal accuracies; ``kept`` is whether it is at least 1 %.
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


def promise_of(record: Mapping[str, Any] | None, n_errors: int, n_rows: int) -> Promise | None:
    """Whether the accuracy on new rows is what the validation in a model's record promised.

    Parameters
    ----------
    record : mapping or None
    n_errors, n_rows : int
        On the new rows.

    Returns
    -------
    Promise or None
        None if nothing was held out.
    """
    held = (record or {}).get("validation") or {}
    n, wrong = held.get("n_rows"), held.get("n_errors")
    decided = ((record or {}).get("decision") or {}).get("n_errors")
    wrong = wrong if decided is None else decided
    if not isinstance(n, int) or not isinstance(wrong, int) or not n or not n_rows:
        return None
    counts = [[n - wrong, wrong], [n_rows - n_errors, n_errors]]
    p = float(stats.fisher_exact(counts)[1])
    limits = share_interval(n - wrong, n)
    accuracy = 1.0 - n_errors / n_rows
    return Promise(1.0 - wrong / n, limits, n, accuracy, n_rows, p, p >= SIGNIFICANCE)


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

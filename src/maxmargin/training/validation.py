"""What held-out rows say of a model: its accuracy with an interval, and the decision that costs least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..json_values import plain
from ..metrics import (
    CONFIDENCE,
    EXPECTED,
    Confusion,
    Costs,
    CostTally,
    Decision,
    check_cost,
    decision_values,
    share_interval,
    study_of,
)

__all__ = ["HeldOutTally", "check_decidable"]


class HeldOutTally:
    """Counts the answers of a fitted estimator about held-out rows.

    Parameters
    ----------
    estimator : fitted classifier
    cost : mapping, optional
        Of errors, as :meth:`maxmargin.metrics.Costs.of` takes it; chooses a decision.
    """

    def __init__(self, estimator: Any, cost: Mapping[str, Any] | None = None) -> None:
        self.estimator, self.classes = estimator, np.asarray(estimator.classes_)
        self.confusion = Confusion([str(label) for label in self.classes])
        self.costs = None if cost is None else Costs.of(cost, self.classes.tolist())
        self.tally = None if self.costs is None else CostTally(self.costs)
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.on = "expected cost"

    def add(self, X: Any, y: np.ndarray) -> None:
        """Count some rows."""
        places = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        labels = np.where(self.classes[places] == y, places, -1)  # a class may occur in held-out rows only
        predicted = np.searchsorted(self.classes, self.estimator.predict(X))
        self.confusion.add(labels, predicted)
        if self.costs is None or self.tally is None:
            return
        X, labels, predicted = X[labels >= 0], labels[labels >= 0], predicted[labels >= 0]
        probabilities = self.estimator.predict_proba(X) if hasattr(self.estimator, "predict_proba") else None
        if len(self.classes) > 2:
            decided = Decision(self.costs, self.on).predicted(np.zeros(0), probabilities)
            self.tally.add(labels, predicted, decided)
            return
        self.on = "score" if probabilities is None else "probability"
        scores = np.zeros((len(labels), 2))
        if probabilities is None:
            scores[:, 1] = self.estimator.decision_function(X)
        self.parts.append((decision_values(scores, probabilities), labels == 1, predicted == 1))

    def record(self) -> dict[str, Any] | None:
        """The validation part of the record of a training; None if there were no rows."""
        n, right = int(self.confusion.n_rows), int(self.confusion.n_right)
        if not n:
            return None
        return {
            "n_rows": n,
            "n_errors": n - right,
            "accuracy": right / n,
            "accuracy_interval": list(share_interval(right, n)),
            "confidence": CONFIDENCE,
            "majority_accuracy": float(self.confusion.majority_share()),
            "balanced_accuracy": float(self.confusion.balanced_accuracy()),
        } | ({} if self.costs is None else {"decision": self._decision(self.costs)})

    def _decision(self, costs: Costs) -> dict[str, Any]:
        """The decision, with what it gains on held-out rows and how many errors it makes there."""
        if not self.parts:
            assert self.tally is not None
            decision, study = Decision(costs, self.on), self.tally.result(EXPECTED, self.on, None)
            return decision.as_record() | {"study": plain(asdict(study)) if study else None}
        values, truth, predicted = (np.concatenate(column) for column in zip(*self.parts))
        decision, study = study_of(np.arange(len(values)), values, truth, predicted, costs, self.on)
        n_errors = int(np.count_nonzero((values >= decision.threshold) != truth))
        told = {"study": plain(asdict(study)) if study else None, "n_errors": n_errors}
        return decision.as_record() | told


def check_decidable(cost: Mapping[str, Any] | None, estimator: Any, validate: float) -> None:
    """Refuse costs that no decision can be chosen by, before the file is read."""
    if cost is None:
        return
    check_cost(cost)
    if not validate:
        raise ValueError("a decision by costs is chosen on held-out rows, and validate=0 holds none out.")
    if len(cost) > 2 and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"costs between more than two classes need probabilities, and {type(estimator).__name__} has "
            "none; train the model sparse-kernel or calibrated."
        )

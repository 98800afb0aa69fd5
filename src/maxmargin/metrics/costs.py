"""The cost of errors, and the decision rule that keeps it low."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["SIDES", "Costs", "Decision", "best_threshold", "check_cost", "decision_values"]

FALSE_POSITIVE, FALSE_NEGATIVE = "false-positive", "false-negative"
SIDES = (FALSE_POSITIVE, FALSE_NEGATIVE)
CostOf = Mapping[str, Any]  # {"false-positive": 1, "false-negative": 5}, or {true: {predicted: cost}}


@dataclass(frozen=True)
class Costs:
    """What it costs to predict one class for another; right predictions usually cost nothing.

    Attributes
    ----------
    classes : tuple of str
    matrix : tuple of tuple of float
        True classes as rows, predicted ones as columns.

    Examples
    --------
    >>> from maxmargin.metrics import Costs
    >>> Costs.of({"false-positive": 1, "false-negative": 5}, ["no", "yes"]).matrix
    ((0.0, 1.0), (5.0, 0.0))
    """

    classes: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, cost: CostOf, classes: Sequence[Any]) -> Costs:
        """The costs of errors between classes.

        Parameters
        ----------
        cost : mapping
            ``{"false-positive": 1, "false-negative": 5}`` for two classes, of which the second is the
            positive one; or ``{true: {predicted: cost}}`` with all pairs of different classes.
        classes : sequence
            Of the model, in its order.

        Returns
        -------
        Costs
        """
        check_cost(cost)
        names = tuple(str(label) for label in classes)
        if set(cost) <= set(SIDES):
            if len(names) != 2:
                raise ValueError(
                    f"false positives and false negatives are errors between two classes, but there are "
                    f"{len(names)}; give a matrix of costs, with a row for each true class."
                )
            positive, negative = (float(cost.get(side, 1.0)) for side in SIDES)
            return cls(names, ((0.0, positive), (negative, 0.0)))
        return cls(names, tuple(tuple(_entry(cost, true, other) for other in names) for true in names))

    def table(self) -> np.ndarray:
        """The matrix as an array."""
        return np.array(self.matrix, dtype=np.float64)

    def of_rows(self, labels: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The cost of each prediction."""
        return np.asarray(self.table()[labels, predicted])


def check_cost(cost: CostOf) -> None:
    """Refuse costs that are negative, not numbers, or all 0."""
    numbers = [value for each in cost.values() for value in (each.values() if _nested(each) else [each])]
    for value in numbers:
        if not isinstance(value, int | float) or not 0.0 <= value < math.inf:
            raise ValueError(f"a cost is a number, at least 0 and finite; got {value!r}.")
    if not any(numbers):
        raise ValueError(
            "all costs are 0, so there is nothing to choose by; give at least one positive cost."
        )
    if any(_nested(each) for each in cost.values()):
        return
    if unknown := sorted(set(map(str, cost)) - set(SIDES)):
        raise ValueError(f"costs have the names {' and '.join(SIDES)}; got {', '.join(unknown)}.")


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping)


def _entry(cost: CostOf, true: str, predicted: str) -> float:
    row: Any = cost.get(true)
    if not _nested(row) or (predicted not in row and true != predicted):
        raise ValueError(
            f"the matrix of costs has no entry for the true class {true!r} and the predicted class "
            f"{predicted!r}; it needs one for each pair of classes."
        )
    return float(row.get(predicted, 0.0))


def best_threshold(values: np.ndarray, is_positive: np.ndarray, costs: Costs) -> float:
    """The threshold of the lowest cost on these rows: rows with at least this value are called positive.

    It lies midway between two values, or one beyond all of them; of several that cost the same, the one in
    the middle is taken.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    is_positive : ndarray of bool of shape (n_rows,)
    costs : Costs
        Between two classes.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.metrics import Costs, best_threshold
    >>> costs = Costs.of({"false-positive": 1, "false-negative": 5}, ["no", "yes"])
    >>> best_threshold(np.array([0.1, 0.2, 0.4, 0.8]), np.array([False, True, False, True]), costs)
    0.15000000000000002
    """
    (right_negative, false_positive), (false_negative, right_positive) = costs.matrix
    order = np.argsort(values, kind="stable")
    ordered, positive = values[order], is_positive[order]
    cuts = np.flatnonzero(np.r_[True, np.diff(ordered) > 0.0, True])  # rows below a cut are negative
    below = np.r_[0, np.cumsum(positive)][cuts]  # positives among them
    n_positive = int(positive.sum())
    cost = (
        false_negative * below
        + right_negative * (cuts - below)
        + right_positive * (n_positive - below)
        + false_positive * (len(values) - cuts - (n_positive - below))
    )
    lowest = np.flatnonzero(cost <= cost.min() * (1.0 + 1e-12))
    cut = int(cuts[lowest[(len(lowest) - 1) // 2]])
    if cut == 0:
        return float(ordered[0]) - 1.0
    if cut == len(ordered):
        return float(ordered[-1]) + 1.0
    middle = 0.5 * (float(ordered[cut - 1]) + float(ordered[cut]))
    return middle if ordered[cut - 1] < middle else float(ordered[cut])


@dataclass(frozen=True)
class Decision:
    """How a class is chosen from a model's answers, with the costs of errors in mind.

    Two classes: the second one, from ``threshold`` on. More: the one whose expected cost is lowest.

    Attributes
    ----------
    costs : Costs
    on : {"probability", "score", "expected cost"}
    threshold : float or None
        Of the probability, or of the score, of the second of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.metrics import Costs, Decision
    >>> decision = Decision(Costs.of({"false-negative": 5}, ["no", "yes"]), "probability", 0.2)
    >>> P = np.array([[0.9, 0.1], [0.7, 0.3]])
    >>> decision.predicted(P, P).tolist()
    [0, 1]
    """

    costs: Costs
    on: str
    threshold: float | None = None

    def predicted(self, scores: np.ndarray, probabilities: np.ndarray | None) -> np.ndarray:
        """Numbers of classes, from scores and, if the model has them, probabilities.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_classes)
        probabilities : ndarray of shape (n_rows, n_classes) or None

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        if self.on != "score" and probabilities is None:
            raise ValueError("this decision needs probabilities, and the model has none.")
        if self.threshold is None:
            assert probabilities is not None
            return np.asarray(np.argmin(probabilities @ self.costs.table(), axis=1))
        return (self.values(scores, probabilities) >= self.threshold).astype(np.intp)

    def values(self, scores: np.ndarray, probabilities: np.ndarray | None) -> np.ndarray:
        """What the threshold of two classes is compared with."""
        return decision_values(scores, probabilities if self.on == "probability" else None)

    def as_record(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "classes": list(self.costs.classes),
            "costs": [list(row) for row in self.costs.matrix],
            "on": self.on,
            "threshold": self.threshold,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], classes: Sequence[Any]) -> Decision:
        """What :meth:`as_record` gave, checked against the classes of the model."""
        names = tuple(str(label) for label in classes)
        matrix = tuple(tuple(float(value) for value in row) for row in record["costs"])
        on, threshold = record["on"], record["threshold"]
        square = len(matrix) == len(names) and all(len(row) == len(names) for row in matrix)
        known = on in ("probability", "score") if len(names) == 2 else on == "expected cost"
        if tuple(record["classes"]) != names or not square or not known:
            raise ValueError("the decision stored with the model is not about its classes.")
        if (threshold is None) != (on == "expected cost") or not np.isfinite(
            [threshold or 0.0, *sum(matrix, ())]
        ).all():
            raise ValueError(f"the decision stored with the model has a bad threshold: {threshold!r}.")
        return cls(Costs(names, matrix), on, threshold)


def decision_values(scores: np.ndarray, probabilities: np.ndarray | None) -> np.ndarray:
    """The probability of the second of two classes, or its score where there are no probabilities."""
    return np.asarray(scores[:, 1] - scores[:, 0] if probabilities is None else probabilities[:, 1])

"""Decisions by costs, counted while a file is evaluated, and as a model file stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..metrics import EXPECTED, STORED, Costs, CostStudy, CostTally, Decision, study_of
from .answers import ModelAnswers
from .thresholds import MAX_CURVE_POINTS, ThresholdCurves, curves_of

__all__ = ["DecisionTally", "stored_decision"]


def stored_decision(record: Mapping[str, Any] | None, model: Any) -> Decision | None:
    r"""The decision that ``train(cost=...)`` has stored in a model's record.

    Parameters
    ----------
    record : mapping or None
        As ``maxmargin.io.read_record`` gives it.
    model : fitted classifier or pipeline

    Returns
    -------
    Decision or None

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k % 10},{k % 7},{'low' if k % 11 < 5 else 'high'}" for k in range(200)]
    >>> size = Path("old.csv").write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> source = open_source("old.csv", target="kind")
    >>> trained = train(source, model="linear", cost={"false-negative": 5})
    >>> from maxmargin.evaluation import stored_decision
    >>> stored_decision(trained.record, trained.model).on
    'score'
    """
    stored = (record or {}).get("decision")
    return None if not stored else Decision.from_record(stored, model.classes_)


class DecisionTally:
    """Applies a stored decision, and counts what it, or one chosen by costs, gains."""

    def __init__(
        self, costs: Costs | None = None, decision: Decision | None = None, n_points: int = MAX_CURVE_POINTS
    ) -> None:
        self.stored, self.on, self.n_points = decision, "score", n_points
        self.costs = costs if costs is not None or decision is None else decision.costs
        self.expected = (
            Decision(self.costs, "expected cost") if self.costs and len(self.costs.classes) > 2 else None
        )
        self.tally = None if self.costs is None else CostTally(self.costs)

    def applied(self, told: ModelAnswers, labels: np.ndarray) -> ModelAnswers:
        """The answers, with the predictions of the stored decision if there is one."""
        self.on = "score" if told.probabilities is None else "probability"
        if (decision := self.stored or self.expected) is None or self.tally is None:
            return told
        if self.stored is None and told.probabilities is None:
            raise ValueError(
                "costs between more than two classes need probabilities, and this model has none; train "
                "the model sparse-kernel or calibrated."
            )
        decided, known = decision.predicted(told.scores, told.probabilities), labels >= 0
        self.tally.add(labels[known], told.predicted[known], decided[known])
        return told if self.stored is None else replace(told, predicted=decided)

    def result(
        self, positive: str, sample: list[np.ndarray] | None
    ) -> tuple[ThresholdCurves | None, CostStudy | None]:
        """Curves and gain; ``sample`` has keys, scores, truth, values and plain predictions of rows."""
        on = self.stored.on if self.stored is not None else self.on
        curves = None
        if sample is not None:
            curves = curves_of(
                sample[3], sample[2], positive, self.on, n_points=self.n_points, at=self._marked()
            )
        if self.costs is None or self.tally is None:
            return curves, None
        if self.stored is not None:
            return curves, self.tally.result(STORED, on, self.stored.threshold)
        if self.expected is not None:
            return curves, self.tally.result(EXPECTED, "expected cost", None)
        if sample is None:
            return curves, None
        keys, _, truth, values, plain = sample
        return curves, study_of(keys, values, truth, plain, self.costs, on)[1]

    def _marked(self) -> list[float]:
        """Thresholds that long curves have: the one in the middle, and the stored one."""
        if self.n_points <= MAX_CURVE_POINTS:
            return []
        own = [0.5 if self.on == "probability" else 0.0]
        if self.stored is not None and self.stored.on == self.on and self.stored.threshold is not None:
            own.append(self.stored.threshold)
        return own

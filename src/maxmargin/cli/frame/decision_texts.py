"""Texts about thresholds and the cost of errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .output import facts, short, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import ThresholdCurves
    from ...metrics import CostStudy

__all__ = ["decision_text", "threshold_parts"]


def threshold_parts(curves: ThresholdCurves | None, costs: CostStudy | None) -> Iterator[Table]:
    """What ``evaluate`` prints of them."""
    if curves is not None:
        rows = [
            (
                f"{p.threshold:.4g}",
                *(f"{100 * share:.2f} %" for share in (p.recall, p.precision, p.false_positive_rate)),
            )
            for p in dict.fromkeys(curves.at_recall)
        ]
        title = f"Thresholds: rows are called {short(curves.positive)!r} from this {curves.on} on"
        yield table(title, (curves.on, "recall", "precision", "false positive rate"), rows, words=0)
    if costs is not None:
        yield facts("Costs of errors", cost_facts(costs))


def cost_facts(costs: CostStudy) -> dict[str, object]:
    """What a decision gains, per 1,000 rows."""
    low, high = costs.gain_interval
    verdict = "" if low > 0 else "; a loss" if high < 0 else "; not shown to be a gain"
    return {
        "decision": rule_text(costs),
        "chosen": costs.rule,
        "cost without it": f"{1000 * costs.plain_cost:,.4g} per 1,000 rows",
        "cost with it": f"{1000 * costs.decided_cost:,.4g} per 1,000 rows",
        "gain": gain_text(costs.gain, (low, high)) + verdict,
    }


def gain_text(gain: float, interval: Sequence[float], rows: str = "rows") -> str:
    """A gain with its interval."""
    low, high = (1000 * end for end in interval)
    return f"{1000 * gain:,.4g} per 1,000 {rows} (95 %: {low:,.4g} to {high:,.4g})"


def rule_text(costs: CostStudy) -> str:
    """The rule as a sentence."""
    if costs.threshold is None:
        return "the class of the lowest expected cost"
    return f"{short(costs.classes[1])!r} from a {costs.on} of {costs.threshold:.4g} on"


def decision_text(decision: Mapping[str, Any] | None) -> str | None:
    """The decision in the record of a training."""
    if not decision:
        return None
    study = decision.get("study") or {}
    rule = (
        "the class of the lowest expected cost"
        if decision["threshold"] is None
        else f"{short(decision['classes'][1])!r} from a {decision['on']} of {decision['threshold']:.4g} on"
    )
    if not study or study.get("gain") is None:
        return rule
    interval = [0.0 if end is None else end for end in study["gain_interval"]]
    return f"{rule}; gain: {gain_text(study['gain'], interval, 'held-out rows')}"

"""Which threshold: the ROC and precision-recall curves, and what a decision by costs gains."""

from __future__ import annotations

from ...evaluation import ThresholdCurves
from ...metrics import CostStudy
from ..content import ModelReport
from .charts import Axis, Line, line_chart
from .markup import Child, Element, datum, facts, figure, node, table
from .text import number, percent

MAX_COST_CLASSES = 12

__all__ = ["threshold_section"]


def threshold_section(report: ModelReport) -> list[Child]:
    """Curves of two classes, and costs where they are known; nothing where there is neither."""
    curves, costs = report.evaluation.curves, report.evaluation.costs
    parts: list[Child] = []
    if curves is not None:
        parts += _curves(curves, None if costs is None else costs.threshold)
    if costs is not None:
        parts += _costs(costs)
    return parts


def _curves(curves: ThresholdCurves, threshold: float | None) -> list[Child]:
    points = curves.points
    rates, recall = [0.0, *(p.false_positive_rate for p in points)], [0.0, *(p.recall for p in points)]
    chosen = next((p for p in reversed(points) if threshold is not None and p.threshold >= threshold), None)
    roc = line_chart(
        "roc",
        "ROC curve",
        "recall against the false positive rate",
        [
            Line("model", rates, recall),
            Line("", [0.0, 1.0], [0.0, 1.0], faint=True),
            *([Line("chosen", [chosen.false_positive_rate], [chosen.recall])] if chosen else []),
        ],
        Axis("false positive rate", share=True),
        Axis("recall", share=True),
    )
    share = points[-1].precision
    precision = line_chart(
        "precision-recall",
        "Precision and recall",
        "precision against recall",
        [
            Line("model", [p.recall for p in points], [p.precision for p in points]),
            *([Line("chosen", [chosen.recall], [chosen.precision])] if chosen else []),
        ],
        Axis("recall", share=True),
        Axis("precision", share=True, zero=True),
        limit=(f"all rows: {percent(share)}", share),
    )
    rows = [
        [number(p.threshold), percent(p.recall), percent(p.precision), percent(p.false_positive_rate)]
        for p in dict.fromkeys(curves.at_recall)
    ]
    return [
        node(
            "p",
            "The positive class is ",
            datum(curves.positive),
            f": a row is called so if its {curves.on} is at least the threshold. A lower threshold finds "
            "more of the class (recall) and calls more of the other rows so (false positives).",
        ),
        node(
            "div",
            figure(roc, "ROC curve", "The grey diagonal is guessing."),
            figure(precision, "Precision and recall", "The dashed line is calling every row positive."),
            class_="figures",
        ),
        table(
            [curves.on, "recall", "precision", "false positive rate"],
            rows,
            caption="The highest thresholds that find at least 50, 80, 90, 95 and 99 % of the class",
            numbers=[0, 1, 2, 3],
        ),
    ]


def _costs(costs: CostStudy) -> list[Child]:
    low, high = costs.gain_interval
    per = "per 1,000 rows"
    rule: Child | list[Child] = "the class of the lowest expected cost"
    if costs.threshold is not None:
        rule = [datum(costs.classes[1]), f" from a {costs.on} of {number(costs.threshold)} on"]
    verdict = "" if low > 0 else " The interval includes no gain at all."
    return [
        node("h3", "Costs of errors"),
        facts(
            [
                ("decision", node("span", rule)),
                ("chosen", costs.rule),
                ("cost without it", f"{number(1000 * costs.plain_cost)} {per}"),
                ("cost with it", f"{number(1000 * costs.decided_cost)} {per}"),
                (
                    "gain",
                    f"{number(1000 * costs.gain)} {per}, with 95 % confidence {number(1000 * low)} to "
                    f"{number(1000 * high)}.{verdict}",
                ),
            ]
        ),
        *_matrix(costs),
    ]


def _matrix(costs: CostStudy) -> list[Element]:
    if len(costs.classes) > MAX_COST_CLASSES:
        return []
    rows = [[datum(name), *map(number, row)] for name, row in zip(costs.classes, costs.costs)]
    caption = "Costs, by predicted class"
    return [
        table(["true class", *costs.classes], rows, caption=caption, numbers=range(1, len(costs.classes) + 1))
    ]

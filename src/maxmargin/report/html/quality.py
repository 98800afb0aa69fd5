"""How well the model does: metrics with intervals, the table of classes, confusion, calibration."""

from __future__ import annotations

import numpy as np

from ...metrics import natural_order
from ..content import ModelReport, shown_classes
from .charts import Bin, Interval, heat_map, interval_chart, reliability_diagram
from .markup import Child, Element, datum, figure, node, table
from .text import number, percent

MAX_CLASSES = 30  # drawn, and in the table


def metrics_section(report: ModelReport) -> list[Child]:
    """Numbers for all rows, then class by class."""
    e = report.evaluation
    rows: list[list[Child]] = [
        _metric("accuracy", percent(e.accuracy), e.accuracy_interval, "share of rows predicted correctly"),
        _metric("balanced accuracy", percent(e.balanced_accuracy), None, "mean recall over the classes"),
        _metric("most frequent class", percent(e.majority_share), None, "accuracy of always predicting it"),
    ]
    rows += [
        _metric(
            f"top-{hit.k} accuracy",
            percent(hit.accuracy),
            hit.interval,
            f"true class among the {hit.k} highest scores",
        )
        for hit in e.top_k
        if hit.k > 1
    ]
    if e.ranking is not None:
        words = "chance that of two rows, one of each class, the scores are in the right order"
        rows.append(
            _metric(
                "area under ROC", number(e.ranking.roc_auc), e.ranking.roc_auc_interval, words, share=False
            )
        )
        words = "mean precision over all thresholds of the score"
        rows.append(_metric("average precision", number(e.ranking.average_precision), None, words))
    if e.calibration is not None:
        c = e.calibration
        words = "mean −log of the true class's probability; 0 is perfect"
        rows.append(_metric("log loss", number(c.log_loss), c.log_loss_interval, words, share=False))
        words = "mean squared distance of probabilities from the truth; 0 is perfect"
        rows.append(_metric("Brier score", number(c.brier), c.brier_interval, words, share=False))
    caption = f"Measured on {e.n_rows:,} rows, with 95 % confidence intervals"
    return [
        node("p", "Each metric with its confidence interval and its meaning."),
        table(["metric", "value", "interval", "meaning"], rows, caption=caption, numbers=[1, 2]),
        *_per_class(report),
    ]


def _metric(
    name: str, value: str, interval: tuple[float, float] | None, words: str, *, share: bool = True
) -> list[Child]:
    limits = "–"
    if interval is not None and np.isfinite(interval).all():
        low, high = (percent(v) if share else number(v) for v in interval)
        limits = f"{low} to {high}"
    return [name, value, limits, node("span", words, class_="soft")]


def _per_class(report: ModelReport) -> list[Child]:
    classes = report.evaluation.per_class
    some = f" The {MAX_CLASSES} of {len(classes):,} classes with the lowest recall are shown."
    some = some if len(classes) > MAX_CLASSES else ""
    shown = [classes[k] for k in natural_order([c.label for c in classes])]
    if some:
        shown = sorted(shown, key=lambda c: c.recall if c.support else 2.0)[:MAX_CLASSES]
    drawn = [c for c in shown if c.support]
    marks = [Interval(c.label, c.recall, *c.recall_interval, f", {c.support:,} rows") for c in drawn]
    drawing = interval_chart(
        "recall",
        "Recall of each class",
        "; ".join(f"{m.name}: {percent(m.value)}" for m in marks),
        marks,
        "recall",
    )
    words = f"The share of each class that is predicted correctly, with its 95 % interval.{some}"
    rows = [
        [datum(c.label), percent(c.recall), percent(c.precision), _fixed(c.f1), number(c.support)]
        for c in shown
    ]
    caption = (
        "recall: share of a class's rows that are predicted as it; precision: share of those "
        "predictions that are right"
    )
    return [
        node("h3", "Per class"),
        node(
            "div",
            figure(drawing, "Recall of each class", words),
            table(
                ["class", "recall", "precision", "F1", "rows"], rows, caption=caption, numbers=[1, 2, 3, 4]
            ),
            class_="figures",
        ),
    ]


def confusion_section(report: ModelReport) -> list[Child]:
    """The matrix, or its part with most mistakes, and the pairs that are confused most."""
    e = report.evaluation
    counts, names = np.asarray(e.confusion), e.classes
    which = np.array(shown_classes(counts, names))
    some = ""
    if len(which) < len(names):
        some = f" The {len(which)} of {len(names):,} classes with most mistakes are shown."
    drawing = heat_map(
        "confusion",
        "Confusion matrix",
        f"{len(which)} by {len(which)} counts; {number(int(np.trace(counts)))} rows in all are on the "
        "diagonal",
        [names[k] for k in which],
        counts[np.ix_(which, which)].tolist(),
    )
    words = (
        "Rows: true class; columns: predicted class. Blue is right, orange is wrong; a stronger "
        f"colour is a larger share of their row.{some}"
    )
    drawn = figure(drawing, "Confusion matrix", words, natural=True)
    parts: list[Child] = [node("p", "How often each class is predicted as each other class.")]
    pairs = [[datum(a), datum(b), number(n)] for a, b, n in e.most_confused]
    if pairs and len(names) > 2:
        caption = "Most frequent confusions"
        listed = table(["true class", "predicted", "rows"], pairs, caption=caption, numbers=[2])
        parts += [node("div", drawn, listed, class_="figures")] if len(which) <= 10 else [drawn, listed]
    else:
        parts.append(drawn)
    if e.unknown_labels:
        n = sum(e.unknown_labels.values())
        parts.append(node("p", f"{n:,} rows have a label that is not a class of the model.", class_="note"))
    return parts


def calibration_section(report: ModelReport) -> list[Child]:
    """Whether probabilities match frequencies."""
    c = report.evaluation.calibration
    if c is None:
        return [
            node(
                "p",
                "This model has scores but no probabilities. The models “sparse-kernel” and "
                "“calibrated” of maxmargin train have probabilities.",
            )
        ]
    bins = [Bin(b.confidence, b.accuracy, *b.accuracy_interval, b.n_rows) for b in c.bins]
    drawing = reliability_diagram(
        "calibration",
        "Reliability diagram",
        "; ".join(f"{percent(b.confidence)} sure: {percent(b.accuracy)} right" for b in bins),
        bins,
    )
    error = c.expected_calibration_error
    rows = [
        [
            f"{percent(b.low, 0)} to {percent(b.high, 0)}",
            percent(b.confidence),
            percent(b.accuracy),
            number(b.n_rows),
        ]
        for b in c.bins
    ]
    return [
        node(
            "p",
            "When the model reports 80 %, is it right 80 % of the time? On average its confidence is ",
            node("b", f"{percent(error)} off"),
            " (the expected calibration error; few rows make it look larger than it is).",
        ),
        node(
            "div",
            figure(
                drawing,
                "Reliability diagram",
                "On the dashed line the model is well calibrated, below it overconfident, above it "
                "underconfident. Larger dots have more rows; bars are 95 % intervals.",
            ),
            table(
                ["probability", "mean", "accuracy", "rows"],
                rows,
                caption="The same in numbers, by the probability of the predicted class",
                numbers=[1, 2, 3],
            ),
            class_="figures",
        ),
    ]


def _fixed(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "–"


def mark(text: str, good: bool) -> Element:
    """A verdict, in a colour and in words."""
    return node("span", text, class_="mark good" if good else "mark bad")

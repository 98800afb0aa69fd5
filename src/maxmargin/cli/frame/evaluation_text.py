"""An evaluation as tables for people: accuracy first, then classes, confusions, probabilities, mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .output import facts, short, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import Calibration, Evaluation
    from ...metrics import Interval

MOST_COLUMNS = 15  # classes of a confusion matrix that can be read
MOST_CLASSES = 40
MOST_MISTAKES = 10


def parts_of(found: Evaluation) -> Iterator[Table | str]:
    """What ``evaluate`` prints."""
    yield facts(f"{found.file}, {found.n_rows:,} rows", _facts(found))
    yield _classes(found)
    yield _confusions(found)
    if found.calibration is not None:
        yield _reliability(found.calibration)
    if found.mistakes:
        yield _mistakes(found)


def percent(share: float | None) -> str:
    """Of a share; "-" where it is not known."""
    return "-" if share is None or math.isnan(share) else f"{100 * share:.2f} %"


def between(interval: Interval | None) -> str:
    """The ends of an interval of shares."""
    return "-" if interval is None else f"{100 * interval[0]:.2f} - {100 * interval[1]:.2f} %"


def number(value: float | None, places: str = ".4f") -> str:
    """A number, or "-"."""
    return "-" if value is None or math.isnan(value) else format(value, places)


def _facts(found: Evaluation) -> dict[str, object]:
    told: dict[str, object] = {
        "accuracy": f"{percent(found.accuracy)}   (95 %: {between(found.accuracy_interval)})",
        "balanced accuracy": percent(found.balanced_accuracy),
        "most frequent class": f"{percent(found.majority_share)} if always named",
    }
    for row in found.top_k:
        if row.k > 1:
            told[f"among the {row.k} likeliest"] = (
                f"{percent(row.accuracy)}   (95 %: {between(row.interval)})"
            )
    if (rank := found.ranking) is not None:
        low, high = rank.roc_auc_interval
        told["area under ROC curve"] = f"{rank.roc_auc:.4f}   (95 %: {low:.4f} - {high:.4f})"
        told["average precision"] = f"{rank.average_precision:.4f} for {short(rank.positive)!r}"
    if (p := found.calibration) is not None:
        told["log loss"] = f"{p.log_loss:.4f}"
        told["Brier score"] = f"{p.brier:.4f}"
        told["calibration error"] = percent(p.expected_calibration_error)
    return told


def _classes(found: Evaluation) -> Table:
    rows, title = found.per_class, "Classes"
    if len(rows) > MOST_CLASSES:
        rows = sorted(rows, key=lambda row: -1.0 if math.isnan(row.f1) else row.f1)[:MOST_CLASSES]
        title = f"Classes: the {MOST_CLASSES} of {len(found.per_class)} with the lowest F1"
    columns = ("class", "precision", "recall", "95 %", "F1", "rows", "predicted")
    return table(
        title,
        columns,
        [
            (
                short(row.label),
                percent(row.precision),
                percent(row.recall),
                between(row.recall_interval) if row.support else "-",
                number(row.f1, ".3f"),
                f"{row.support:,}",
                f"{row.predicted:,}",
            )
            for row in rows
        ],
    )


def _confusions(found: Evaluation) -> Table | str:
    names = found.classes
    if len(names) <= MOST_COLUMNS:
        names = [short(name) for name in names]
        rows = [[name, *counts] for name, counts in zip(names, found.confusion.tolist())]
        return table("Confusions: true classes down, predicted ones across", ["", *names], rows)
    pairs = [(short(true), short(predicted), n) for true, predicted, n in found.most_confused]
    return table("Most frequent confusions", ("true", "predicted", "rows"), pairs, words=2)


def _reliability(p: Calibration) -> Table:
    rows = [
        (
            f"{b.low:.2f} - {b.high:.2f}",
            percent(b.confidence),
            percent(b.accuracy),
            between(b.accuracy_interval),
            f"{b.n_rows:,}",
        )
        for b in p.bins
    ]
    columns = ("probability", "promised", "right", "95 %", "rows")
    return table("Probabilities of the predicted class, and how often it was right", columns, rows)


def _mistakes(found: Evaluation) -> Table:
    rows = [
        (f"{m.row:,}", short(m.label), short(m.predicted), number(m.margin, ".3f"), percent(m.probability))
        for m in found.mistakes[:MOST_MISTAKES]
    ]
    columns = ("row (from 0)", "true", "predicted", "margin", "probability")
    return table("Mistakes with the largest margins", columns, rows, words=3)

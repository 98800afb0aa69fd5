"""Is the file like the training file: the promise of validation, columns that moved, old against new rows."""

from __future__ import annotations

import math

from ...evaluation import Drift
from ..content import ModelReport
from .markup import Child, Element, datum, node, table
from .text import number, percent

__all__ = ["drift_section", "promise_band"]


def promise_band(report: ModelReport) -> Element | None:
    """A red band where accuracy is outside what validation promised."""
    p = report.promise
    if p is None or p.kept:
        return None
    low, high = map(percent, p.validation_interval)
    side = "below" if p.accuracy < p.validation_accuracy else "above"
    more: list[Child] = (
        [" See ", node("a", "what has changed since training", href="#drift"), "."] if report.drift else []
    )
    return node(
        "p",
        node("b", "Not what validation promised: "),
        f"on held-out rows of the training file the accuracy was {percent(p.validation_accuracy)} ({low} to "
        f"{high}), and here it is {percent(p.accuracy)}, {side} it by more than chance explains (p = "
        f"{number(p.p_value, 2)}). These rows differ from the training rows, or the "
        "held-out rows were too easy.",
        more,
        class_="alarm",
    )


def drift_section(report: ModelReport) -> list[Child]:
    """What has changed since training; nothing where the training file is not known."""
    d = report.drift
    if d is None:
        return []
    parts: list[Child] = [node("p", *_summary(d))]
    if d.columns:
        rows = [
            [datum(c.name), datum(c.old, 32), datum(c.new, 32), f"{c.statistic:.3f}", number(c.p_value, 2)]
            for c in d.columns
        ]
        some = "" if d.n_moved == len(rows) else f", the first {len(rows)} of {d.n_moved:,}"
        caption = (
            f"Columns that moved, farthest first{some}: median, or the category that changed most; distance "
            "of the distributions from 0 to 1; p adjusted for all columns"
        )
        head = ["column", "training file", "this file", "distance", "p"]
        parts.append(table(head, rows, caption=caption, numbers=[3, 4]))
    parts += [node("p", f"Note: {note}.", class_="note") for note in d.notes]
    return parts


def _summary(d: Drift) -> list[Child]:
    words: list[Child] = [f"{d.n_old:,} rows of the training file against {d.n_new:,} of this file: "]
    words.append(node("b", f"{d.n_moved:,} of {d.n_columns:,} columns moved"))
    if math.isnan(d.auc):
        return [*words, "."]
    low, high = d.auc_interval
    apart = (
        "a classifier tells old from new rows" if low > 0.5 else "a classifier cannot tell old from new rows"
    )
    return [*words, f", and {apart} (area under ROC {d.auc:.3f}, {low:.3f} to {high:.3f}; 0.5 is guessing)."]

"""What more rows and more support vectors would bring, as charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..content import ModelReport
from .charts import Axis, Line, line_chart
from .markup import Child, Element, figure, node, table
from .text import number, percent

__all__ = ["learning_section"]


def learning_section(report: ModelReport) -> list[Child]:
    """The learning curve, and the accuracy of the smaller models; nothing where they were not asked for."""
    curve, budgets = report.learning_curve, report.budget_accuracy
    parts: list[Child] = []
    if curve is not None:
        lines = [
            Line("test rows", [p.n_rows for p in curve.points], [p.accuracy for p in curve.points]),
            Line(
                "own rows",
                [p.n_rows for p in curve.points],
                [p.training_accuracy for p in curve.points],
            ),
        ]
        parts.append(node("p", curve.text))
        words = "The model fitted to fewer of its training rows, tested on this file and on their own rows."
        drawn = _figure("learning-rows", "Accuracy against training rows", lines, "training rows", words)
        rows = [[f"{p.n_rows:,}", *_accuracy(p), percent(p.training_accuracy)] for p in curve.points]
        head = ["training rows", "accuracy", "95 %", "own rows"]
        told = table(head, rows, caption=f"{curve.n_test:,} test rows", numbers=range(4))
        parts.append(node("div", [drawn, told], class_="figures"))
    if budgets is not None:
        line = Line("accuracy", [p.budget for p in budgets.points], [p.accuracy for p in budgets.points])
        words = "The smaller models inside this one, on rows of this file."
        drawn = _figure(
            "learning-budgets", "Test accuracy against support vectors", [line], "support vectors", words
        )
        rows = [[f"{p.budget:,}", *_accuracy(p)] for p in budgets.points]
        told = table(
            ["support vectors", "accuracy", "95 %"],
            rows,
            caption=f"{budgets.n_test:,} test rows",
            numbers=range(3),
        )
        parts.append(node("div", [drawn, told], class_="figures"))
    notes = [*(curve.notes if curve else []), *(budgets.notes if budgets else [])]
    return parts + [node("p", f"Note: {note}.", class_="note") for note in notes]


def _accuracy(point: Any) -> list[str]:
    low, high = map(percent, point.accuracy_interval)
    return [percent(point.accuracy), f"{low} to {high}"]


def _figure(name: str, title: str, lines: Sequence[Line], across: str, words: str) -> Element:
    first, last = lines[0].y[0], lines[0].y[-1]
    told = f"from {number(first)} at {number(lines[0].x[0])} to {number(last)} at {number(lines[0].x[-1])}"
    axes = Axis(f"{across} (logarithmic)", log=True, whole=True), Axis("accuracy", share=True)
    return figure(line_chart(name, title, told, list(lines), *axes), title, words)

"""Texts about what more rows and more support vectors would bring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .output import table
from .texts import between, percent

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import BudgetAccuracy, LearningCurve

__all__ = ["learning_parts"]


def learning_parts(curve: LearningCurve | None, budgets: BudgetAccuracy | None) -> Iterator[Table | str]:
    """What ``evaluate --learning-curve`` prints."""
    if curve is not None:
        rows = [
            (f"{p.n_rows:,}", percent(p.accuracy), between(p.accuracy_interval), percent(p.training_accuracy))
            for p in curve.points
        ]
        head = ("training rows", "accuracy", "95 %", "on the training rows")
        yield table(f"Learning curve, {curve.n_test:,} test rows", head, rows, words=0)
        yield from [curve.text, *curve.notes]
    if budgets is not None:
        lines = [(f"{p.budget:,}", percent(p.accuracy), between(p.accuracy_interval)) for p in budgets.points]
        title = f"Smaller models inside this one, {budgets.n_test:,} test rows"
        yield table(title, ("support vectors", "accuracy", "95 %"), lines, words=0)
        yield from budgets.notes

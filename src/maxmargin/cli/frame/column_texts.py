"""Texts about which columns matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .output import short, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import ColumnStudy

__all__ = ["column_parts"]

MAX_SHOWN = 20


def column_parts(found: ColumnStudy | None) -> Iterator[Table | str]:
    """What ``evaluate --columns`` prints."""
    if found is None:
        return
    rows = [
        (
            short(c.name),
            "-" if c.own is None else f"{100 * c.own:.1f} %",
            "-" if c.drop is None else f"{100 * c.drop:.2f}",
            "-" if c.drop_interval is None else " to ".join(f"{100 * end:.2f}" for end in c.drop_interval),
            "-" if c.drop_together is None else f"{100 * c.drop_together:.2f}",
            ", ".join(map(short, c.correlated)) or "-",
        )
        for c in found.columns[:MAX_SHOWN]
    ]
    head = ("column", "share", "accuracy lost", "95 %", "together", "correlated with")
    title = f"Columns: accuracy lost, in points, when the values are shuffled ({found.n_rows:,} rows)"
    yield table(title, head, rows)
    yield from found.notes

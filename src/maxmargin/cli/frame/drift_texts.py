"""Texts about how a new file differs from the training file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .output import facts, short, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import Drift

__all__ = ["drift_parts"]


def drift_parts(found: Drift) -> Iterator[Table]:
    """What ``evaluate`` prints of it."""
    low, high = found.auc_interval
    apart = None
    if not math.isnan(found.auc):
        apart = f"AUC {found.auc:.3f} (95 %: {low:.3f} to {high:.3f}); 0.5 if they cannot be told apart"
    yield facts(
        f"Since training: {found.old} ({found.n_old:,} rows) against {found.new} ({found.n_new:,} rows)",
        {
            "old against new rows": apart,
            "columns that moved": f"{found.n_moved:,} of {found.n_columns:,}",
            "note": "; ".join(found.notes) or None,
        },
    )
    if found.columns:
        rows = [
            (short(c.name), short(c.old), short(c.new), f"{c.statistic:.3f}", f"{c.p_value:.1e}")
            for c in found.columns
        ]
        title = "Columns that moved (distance of distributions from 0 to 1; p adjusted for all columns)"
        yield table(title, ("column", "then", "now", "distance", "p"), rows, words=3)

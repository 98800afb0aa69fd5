"""What a model that chooses for itself was chosen over: the sentence, and the table of all candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .markup import Child, datum, node, table
from .text import number

MAX_LINES = 40
COLUMNS = (
    "candidate",
    "n_rows",
    "C",
    "gamma",
    "loss",
    "difference",
    "standard_error",
    "n_support",
    "outcome",
)
HEADS = (
    "candidate",
    "rows",
    "C",
    "gamma",
    "held-out loss",
    "behind by",
    "standard error",
    "support",
    "outcome",
)


def candidates(record: Mapping[str, Any]) -> list[Child]:
    """Nothing for a model that was not chosen among others."""
    parts: list[Child] = []
    if isinstance(record.get("chosen"), str):
        parts.append(node("p", "Chosen: ", datum(record["chosen"], 1000)))
    found = record.get("candidates")
    if not isinstance(found, Mapping) or not all(isinstance(found.get(name), list) for name in COLUMNS):
        return parts
    lines = list(zip(*(found[name] for name in COLUMNS)))
    lines.sort(key=_place)
    rows = [[datum(line[0], 120), *map(_shown, line[1:])] for line in lines[:MAX_LINES]]
    some = "" if len(lines) <= MAX_LINES else f", the best {MAX_LINES} of {len(lines)}"
    caption = f"Candidates{some}: the best point of each on held-out rows"
    return [*parts, table(list(HEADS), rows, caption=caption, numbers=range(1, 8))]


def _place(line: tuple[Any, ...]) -> tuple[bool, float, float]:
    """The chosen one first, then by held-out loss on the most rows; those not tried last."""
    loss = line[4]
    known = isinstance(loss, float | int) and loss == loss
    return line[-1] != "chosen", -float(line[1] or 0), float(loss) if known else float("inf")


def _shown(value: Any) -> Any:
    if value is None or value != value:
        return "–"
    return number(value) if isinstance(value, float | int) else datum(value)

"""What a model that chooses for itself was chosen over: the sentence, and the table of all candidates."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
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
    parts += _weights(record.get("groups"))
    found = record.get("candidates")
    if not isinstance(found, Mapping) or not all(isinstance(found.get(name), list) for name in COLUMNS):
        return parts
    lines = list(zip(*(found[name] for name in COLUMNS)))
    lines.sort(key=_place)
    rows = [[datum(line[0], 120), *map(_shown, line[1:-1]), datum(line[-1])] for line in lines[:MAX_LINES]]
    some = "" if len(lines) <= MAX_LINES else f", the best {MAX_LINES} of {len(lines)}"
    caption = f"Candidates{some}: the best point of each on held-out rows"
    return [*parts, table(list(HEADS), rows, caption=caption, numbers=range(1, 8))]


def _weights(groups: Any) -> list[Child]:
    """The weights of the kernels of groups of columns."""
    if not isinstance(groups, list) or not all(isinstance(group, Mapping) for group in groups) or not groups:
        return []
    rows = []
    for group in groups[:MAX_LINES]:
        names = group.get("columns")
        text = ", ".join(map(str, names)) if isinstance(names, list) else ""
        rows.append([datum(text, 1000), _shown(group.get("weight"))])
    some = "" if len(groups) <= MAX_LINES else f", the first {MAX_LINES} of {len(groups)}"
    caption = f"Groups of columns{some}: a kernel each"
    return [table(["columns", "weight"], rows, caption=caption, numbers=range(1, 2))]


def _finite(value: Any) -> float | None:
    """The value, if it is a finite number: the record may be anybody's."""
    if not isinstance(value, float | int):
        return None
    with suppress(OverflowError):  # of an integer with hundreds of digits
        return float(value) if isfinite(value) else None
    return None


def _place(line: tuple[Any, ...]) -> tuple[bool, float, float]:
    """The chosen one first, then by held-out loss on the most rows; those not tried last."""
    n_rows, loss = _finite(line[1]), _finite(line[4])
    return line[-1] != "chosen", -(n_rows or 0.0), float("inf") if loss is None else loss


def _shown(value: Any) -> Any:
    found = _finite(value)
    return "–" if found is None else number(found)

"""Names in the order in which people look for them: 1, 2, 10, not 1, 10, 2."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = ["natural_order"]

_DIGITS = re.compile(r"(\d+)")


def natural_order(names: Sequence[str]) -> list[int]:
    """Places of the names, sorted: by value if all are numbers, else with runs of digits as numbers."""
    values = [_value(name) for name in names]
    if all(value is not None for value in values):
        return sorted(range(len(names)), key=lambda k: (values[k], names[k]))
    return sorted(range(len(names)), key=lambda k: (_pieces(names[k]), names[k]))


def _value(name: str) -> float | None:
    try:
        value = float(name)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _pieces(name: str) -> list[tuple[int, int, str]]:
    parts = [part for part in _DIGITS.split(name) if part]
    return [(0, int(part), "") if part.isdecimal() and len(part) < 20 else (1, 0, part) for part in parts]

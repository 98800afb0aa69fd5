"""Rows that are square images, drawn: digits read worse as walls of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .charts import chart
from .markup import Element, node

__all__ = ["image_side", "images_of"]

MIN_SIDE, MAX_SIDE, DRAWN_SIDE = 7, 64, 16
LEVELS = 5
CELL = 4
_PIXEL_NAME = re.compile(r"(pixel|px|p|x|v|f|col|attr|)[_ ]?(\d+)([x_]\d+)?", re.IGNORECASE)


def images_of(rows: Sequence[Mapping[str, Any]], n_features: int, name: str = "row") -> list[Element] | None:
    """A picture of each row; None where rows do not look like square images of one colour.

    They do if the number of columns is a square, all names are those of pixels, and all values are numbers
    that are not negative. Sparse rows have only the values that are not 0, named x0, x1, ... The ids of the
    drawings begin with ``name``.
    """
    side = _side(n_features)
    if side is None or not rows:
        return None
    values = [value for row in rows for value in row.values()]
    if not all(isinstance(value, float | int) and value >= 0 for value in values) or not any(values):
        return None
    places = [_places(row, n_features) for row in rows]
    if any(place is None for place in places):
        return None
    most = max(values)
    return [
        _drawn(dict(zip(place or (), row.values())), side, most, f"{name}{k}")
        for k, (place, row) in enumerate(zip(places, rows))
    ]


def image_side(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> int | None:
    """The side of the square that all of these columns are, by the same rule; None if they are none."""
    side = _side(len(names))
    if side is None or not all(_PIXEL_NAME.fullmatch(name) for name in names):
        return None
    values = [value for column in columns for value in column]
    return side if all(isinstance(v, float | int) and v >= 0 for v in values) and any(values) else None


def _side(n_features: int) -> int | None:
    side = math.isqrt(n_features)
    return side if side * side == n_features and MIN_SIDE <= side <= MAX_SIDE else None


def _places(row: Mapping[str, Any], n_features: int) -> list[int] | None:
    """The pixel of each value."""
    matches = [_PIXEL_NAME.fullmatch(name) for name in row]
    if not all(matches):
        return None
    if len(row) == n_features:
        return list(range(n_features))
    places = [int(match.group(2)) for match in matches if match]
    return (
        places if all(name.startswith("x") for name in row) and max(places, default=0) < n_features else None
    )


def _drawn(pixels: Mapping[int, float], side: int, most: float, name: str) -> Element:
    step = -(-side // DRAWN_SIDE)
    n = -(-side // step)
    sums = [[0.0] * n for _ in range(n)]
    for place, value in pixels.items():
        sums[place // side // step][place % side // step] += value / (most * step * step)
    runs = []
    for i, line in enumerate(sums):
        levels = [min(LEVELS, round(LEVELS * value)) for value in line]
        runs += [_run(i, j, end, level) for j, end, level in _equal(levels) if level]
    size = CELL * n
    frame = node("rect", x=0, y=0, width=size, height=size, class_="cell-edge")
    drawing = chart(name, "The row as an image", f"{side} by {side} pixels", size, size, frame, runs)
    drawing.set("class", "pixels")
    return drawing


def _equal(levels: list[int]) -> list[tuple[int, int, int]]:
    """Runs of equal numbers: first, end, number."""
    out, first = [], 0
    for j in range(1, len(levels) + 1):
        if j == len(levels) or levels[j] != levels[first]:
            out.append((first, j, levels[first]))
            first = j
    return out


def _run(i: int, first: int, end: int, level: int) -> Element:
    shade = round(level / LEVELS, 2)
    place = {"x": CELL * first, "y": CELL * i, "width": CELL * (end - first), "height": CELL}
    return node("rect", **place, fill_opacity=shade, class_="pixel")

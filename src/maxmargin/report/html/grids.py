"""Charts made of boxes, as inline SVG: bars, and the heat map of a confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .charts import WIDTH, chart, label
from .markup import Element, node
from .scales import Scale
from .text import (
    number,
    percent,
    shortened,
    width,
)


def bar_chart(
    name: str, title: str, description: str, rows: Sequence[tuple[str, float]], *, unit: str
) -> Element:
    """A horizontal bar for each (name, value >= 0), with its value beside it."""
    words = [shortened(word, 18)[0] for word, _ in rows]
    left = 16 + max((width(word) for word in words), default=0.0)
    x = Scale(0.0, max((value for _, value in rows), default=1.0) or 1.0, left, WIDTH - 60)
    parts, step = [], 24
    for i, ((word, value), short) in enumerate(zip(rows, words)):
        top = 4 + step * i
        said = node("title", f"{word}: {number(value)} {unit}")
        parts.append(label(short, left - 8, top + 15, "end", class_="name"))
        wide = max(1.0, round(x(value) - left, 2))
        parts.append(node("rect", said, x=left, y=top + 3, width=wide, height=16, rx=2, class_="bar"))
        parts.append(label(number(value), left + wide + 6, top + 15, class_="value"))
    return chart(name, title, description, WIDTH, 8 + step * len(rows), *parts)


def heat_map(
    name: str, title: str, description: str, classes: Sequence[str], counts: Sequence[Sequence[int]]
) -> Element:
    """Counts by true class (down) and predicted class (across), shaded by their share of the row.

    What is right is on the diagonal, in the one colour, and what is wrong off it in the other.
    """
    words = [shortened(word, 16)[0] for word in classes]
    n, longest = len(words), max((width(word) for word in words), default=8.0)
    cell = 84 if n <= 3 else 58 if n <= 5 else 42 if n <= 8 else 30 if n <= 14 else 22
    turned = longest > cell - 4
    left = 34 + longest
    top = 26 + (0.72 * longest if turned else 12)
    parts = [
        label("predicted class", left + cell * n / 2, 13, "middle", class_="axis-name"),
        label(
            "true class",
            12,
            top + cell * n / 2,
            "middle",
            class_="axis-name",
            transform=_turn(-90, 12, top + cell * n / 2),
        ),
    ]
    for j, word in enumerate(words):
        at = left + cell * (j + 0.5)
        if turned:
            turn = _turn(-45, at, top - 6)
            parts.append(label(word, at, top - 6, "start", class_="name", transform=turn))
        else:
            parts.append(label(word, at, top - 6, "middle", class_="name"))
    for i, row in enumerate(counts):
        at, total = top + cell * i, sum(row)
        parts.append(label(words[i], left - 6, at + cell / 2 + 4, "end", class_="name"))
        for j, count in enumerate(row):
            parts += _cell(left + cell * j, at, cell, count, total, i == j, (classes[i], classes[j]))
    slack = 0.6 * longest if turned else 0
    wide = max(WIDTH - 60, math.ceil(left + cell * n + 6 + slack))
    return chart(name, title, description, wide, math.ceil(top + cell * n + 6), *parts)


def _cell(
    x: float, y: float, size: int, count: int, total: int, right: bool, names: tuple[str, str]
) -> list[Element]:
    share = count / total if total else 0.0
    ink = round(share if right else math.sqrt(share), 3)  # a few mistakes among many must be seen
    true, predicted = (shortened(word)[0] for word in names)
    said = node("title", f"{true} taken for {predicted}: {count:,} ({percent(share)} of {true})")
    if right:
        said.text = f"{true}, predicted so: {count:,} ({percent(share)})"
    kind = "cell right" if right else "cell wrong"
    box = node("rect", said, x=x, y=y, width=size - 1, height=size - 1, rx=2, class_=kind, fill_opacity=ink)
    edge = node("rect", x=x, y=y, width=size - 1, height=size - 1, rx=2, class_="cell-edge")
    text = f"{count:,}"
    if not count or len(text) * (5.5 if size < 30 else 7) > size:
        return [edge, box]
    strong = " strong" if ink > (0.7 if right else 0.75) else ""
    small = " small" if size < 30 else ""
    return [edge, box, label(text, x + size / 2, y + size / 2 + 4, "middle", class_=f"count{strong}{small}")]


def _turn(angle: int, x: float, y: float) -> str:
    return f"rotate({angle} {x:g} {y:g})"

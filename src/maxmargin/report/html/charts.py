"""Small charts as inline SVG: lines on linear or logarithmic axes, intervals, and a reliability diagram.

Colours are classes of the page's style; places are attributes. A chart has a title and a description for
those who cannot see it, and its marks say their values when pointed at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .markup import Element, node
from .text import fitting, number, percent, percent_ticks, power, shortened, width

WIDTH, HEIGHT = 400, 260
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 26, 42
MAX_POINTS = 120  # of one line
MAX_MARKED = 24  # a line with more points has no dots
LINE_STYLES = ("one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Line:
    """A named line through points; ``faint`` ones are for comparison and have no name of their own."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    faint: bool = False


@dataclass(frozen=True)
class Axis:
    """What an axis shows."""

    label: str
    log: bool = False
    zero: bool = False
    share: bool = False  # numbers are written in per cent
    whole: bool = False  # there is nothing between two whole numbers

    def scale(self, values: Sequence[float], start: float, end: float) -> Scale:
        """The scale on which all these values have a place."""
        return logarithmic(values, start, end) if self.log else linear(values, start, end, zero=self.zero)


@dataclass(frozen=True)
class Interval:
    """A value between two limits, with a name."""

    name: str
    value: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same confidence: how sure, how often right (with limits), and how many."""

    confidence: float
    accuracy: float
    low: float
    high: float
    n: int


def chart(name: str, title: str, description: str, width: int, height: int, *parts: object) -> Element:
    """The outer element, with what a screen reader says."""
    return node(
        "svg",
        node("title", title, id=f"{name}-title"),
        node("desc", description, id=f"{name}-desc"),
        *parts,  # type: ignore[arg-type]
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def label(text: str, x: float, y: float, anchor: str = "start", **attributes: object) -> Element:
    """Text at a place."""
    return node("text", text, x=round(x, 2), y=round(y, 2), text_anchor=anchor, **attributes)


def frame(x: Scale, y: Scale, across: Axis, up: Axis) -> list[Element]:
    """Grid, ticks and names of both axes."""
    parts = []
    for value, text in _ticks(y, up):
        at = y(value)
        parts.append(node("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="grid"))
        parts.append(label(text, x.start - 6, at + 4, "end", class_="tick"))
    for value, text in _ticks(x, across):
        if across.whole and value != round(value):
            continue
        at = x(value)
        parts.append(node("line", x1=at, x2=at, y1=y.start, y2=y.start + 4, class_="axis"))
        parts.append(label(text, at, y.start + 17, "middle", class_="tick"))
    parts.append(node("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, class_="axis"))
    parts.append(label(up.label, 2, 13, class_="axis-name"))
    parts.append(label(fitting(across.label, 330), x.end, y.start + 34, "end", class_="axis-name"))
    return parts


def _ticks(scale: Scale, axis: Axis) -> list[tuple[float, str]]:
    ticks = scale.ticks(6)
    if not axis.share:
        return ticks
    values = [value for value, _ in ticks]
    return list(zip(values, percent_ticks(values)))


def line_chart(
    name: str,
    title: str,
    description: str,
    lines: Sequence[Line],
    across: Axis,
    up: Axis,
    *,
    limit: tuple[str, float] | None = None,
) -> Element:
    """Lines over one pair of axes; ``limit`` is a named horizontal line."""
    lines = [_drawable(line, across.log, up.log) for line in lines]
    lines = [line for line in lines if len(line.x)]
    every_y = [v for line in lines for v in line.y] + ([limit[1]] if limit else [])
    named = [line for line in lines if not line.faint and line.name]
    rows = -(-len(named) // 3) if len(named) > 1 else 0
    bottom = HEIGHT - BOTTOM
    y = up.scale(every_y or [1.0], bottom, TOP)
    left = max([float(LEFT), *(8.0 + width(text) for _, text in _ticks(y, up))])
    x = across.scale([v for line in lines for v in line.x] or [1.0], left, WIDTH - RIGHT)
    parts = frame(x, y, across, up)
    if limit:
        at = y(limit[1])
        parts.append(node("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="limit"))
        first, last = (abs(y(lines[0].y[k]) - at) if lines else 0.0 for k in (0, -1))
        place, anchor = (x.start + 6, "start") if first > last else (x.end, "end")  # where it is free
        parts.append(label(limit[0], place, at - 5, anchor, class_="limit-name"))
    styles = {id(line): LINE_STYLES[i % len(LINE_STYLES)] for i, line in enumerate(named)}
    for line in sorted(lines, key=lambda each: not each.faint):
        parts += _drawn(line, x, y, styles.get(id(line), "one"))
    for i, line in enumerate(named if rows else []):
        left, down = LEFT + 115 * (i % 3), HEIGHT + 8 + 18 * (i // 3)
        parts.append(node("line", x1=left, x2=left + 18, y1=down, y2=down, class_=f"line {styles[id(line)]}"))
        parts.append(label(fitting(line.name, 86), left + 24, down + 4, class_="tick"))
    return chart(name, title, description, WIDTH, HEIGHT + 18 * rows, *parts)


def _drawable(line: Line, log_x: bool, log_y: bool) -> Line:
    """The points that have a place on these axes, and no more of them than can be told apart."""
    points = [
        (float(a), float(b))
        for a, b in zip(line.x, line.y)
        if math.isfinite(a) and math.isfinite(b) and (a > 0 or not log_x) and (b > 0 or not log_y)
    ]
    every = -(-len(points) // MAX_POINTS) if points else 1
    kept = points[::every] + (points[-1:] if points and (len(points) - 1) % every else [])
    return Line(line.name, [a for a, _ in kept], [b for _, b in kept], line.faint)


def _drawn(line: Line, x: Scale, y: Scale, style: str) -> list[Element]:
    points = [(x(a), y(b)) for a, b in zip(line.x, line.y)]
    path = " ".join(f"{a:g},{b:g}" for a, b in points)
    kind = "line faint" if line.faint else f"line {style}"
    parts = [node("polyline", points=path, class_=kind)]
    if not line.faint and len(points) <= MAX_MARKED:
        said = [f"{line.name}: {number(a)}, {number(b)}" for a, b in zip(line.x, line.y)]
        parts += [
            node("circle", node("title", text), cx=a, cy=b, r=3, class_=f"dot {style}")
            for (a, b), text in zip(points, said)
        ]
    return parts


def interval_chart(name: str, title: str, description: str, rows: Sequence[Interval], unit: str) -> Element:
    """One row for each value: a dot, and a line between its limits, on a scale of per cent."""
    words = [shortened(row.name, 18)[0] for row in rows]
    left = 16 + max((width(word) for word in words), default=0.0)
    step = 24
    bottom = 10 + step * len(rows)
    low = min((row.low for row in rows), default=0.0)
    x = Scale(max(0.0, math.floor(10 * (low - 0.02)) / 10), 1.0, left, WIDTH - 66)
    parts = []
    marks = [value for value, _ in x.ticks(5)]
    for value, text in zip(marks, percent_ticks(marks)):
        at = x(value)
        parts.append(node("line", x1=at, x2=at, y1=6, y2=bottom, class_="grid"))
        parts.append(label(text, at, bottom + 16, "middle", class_="tick"))
    for i, (row, word) in enumerate(zip(rows, words)):
        at = 10 + step * (i + 0.5)
        limits = f"{percent(row.low)} to {percent(row.high)}"
        said = f"{row.name}: {percent(row.value)} ({limits}){row.note}"
        parts.append(label(word, left - 10, at + 4, "end", class_="name"))
        parts.append(node("line", x1=x(row.low), x2=x(row.high), y1=at, y2=at, class_="whisker"))
        parts.append(node("circle", node("title", said), cx=x(row.value), cy=at, r=4.5, class_="dot one"))
        parts.append(label(percent(row.value), WIDTH - 4, at + 4, "end", class_="value"))
    parts.append(label(unit, x.end, bottom + 34, "end", class_="axis-name"))
    return chart(name, title, description, WIDTH, bottom + 40, *parts)


def reliability_diagram(name: str, title: str, description: str, bins: Sequence[Bin]) -> Element:
    """How often predictions are right against how sure they are; the area of a dot is their number."""
    low = min([b.confidence for b in bins] + [b.low for b in bins] + [0.5])
    low = max(0.0, math.floor(10 * low) / 10)
    x = Scale(low, 1.0, LEFT, WIDTH - RIGHT - 6)
    y = Scale(low, 1.0, HEIGHT - BOTTOM, TOP)
    across, up = Axis("how sure the model is", share=True), Axis("how often it is right", share=True)
    parts = frame(x, y, across, up)
    parts.append(node("line", x1=x(low), y1=y(low), x2=x(1.0), y2=y(1.0), class_="limit"))
    most = max((b.n for b in bins), default=1)
    for b in bins:
        said = (
            f"{b.n:,} predictions, {percent(b.confidence)} sure on average: {percent(b.accuracy)} right "
            f"({percent(b.low)} to {percent(b.high)})"
        )
        at = x(b.confidence)
        parts.append(node("line", x1=at, x2=at, y1=y(b.low), y2=y(b.high), class_="whisker"))
        radius = round(3 + 6 * math.sqrt(b.n / most), 2)
        parts.append(node("circle", node("title", said), cx=at, cy=y(b.accuracy), r=radius, class_="dot one"))
    return chart(name, title, description, WIDTH, HEIGHT, *parts)


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic map from [low, high] to [start, end] on the drawing."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; one out of range is at the end."""
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Values inside the range with their texts, no more than ``most``."""
        if self.log and math.log10(self.high / self.low) >= 0.7:
            return _decades(self.low, self.high, most)
        return _round_steps(self.low, self.high, most)


def linear(values: Sequence[float], start: float, end: float, *, zero: bool = False) -> Scale:
    """A scale that holds all values, with a little room."""
    low, high = min(values), max(values)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.04 * (high - low) or 0.05 * abs(high) or 0.5
    return Scale(low if zero and low == 0.0 else low - room, high + room, start, end)


def logarithmic(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale in powers of ten that holds all (positive) values."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.04 if high > low else 2.0
    return Scale(low / room, high * room, start, end, log=True)


def _decades(low: float, high: float, most: int) -> list[tuple[float, str]]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:  # too few: 1, 2, 5, 10, ... instead
        fine = [m * 10.0**e for e in range(first - 1, last + 1) for m in (1, 2, 5)]
        return [(v, number(v)) for v in fine if low <= v <= high]
    every = max(1, math.ceil((last - first + 1) / most))
    return [(10.0**e, _decade(e)) for e in range(first, last + 1) if e % every == 0]


def _decade(exponent: int) -> str:
    return number(10.0**exponent) if -2 <= exponent <= 4 else power(10.0**exponent)


def _round_steps(low: float, high: float, most: int) -> list[tuple[float, str]]:
    rough = (high - low) / max(1, most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, number(float(f"{k * step:.12g}"), 6)) for k in range(first, last + 1)]


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

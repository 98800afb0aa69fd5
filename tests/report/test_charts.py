"""Charts: as many marks as values, at the places of the values, with axes that say what they are."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from maxmargin.report.html.charts import (
    MAX_POINTS,
    Axis,
    Bin,
    Interval,
    Line,
    bar_chart,
    heat_map,
    interval_chart,
    line_chart,
    reliability_diagram,
)


def marks(drawing, tag, kind):
    return [e for e in drawing.iter(tag) if kind in (e.get("class") or "").split()]


def texts(drawing, kind=None):
    return ["".join(e.itertext()) for e in drawing.iter("text") if kind in (None, e.get("class"))]


def points(line):
    return [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]


def test_a_line_goes_through_its_values_on_logarithmic_axes():
    x, y = [1.0, 10.0, 100.0], [1e-1, 1e-2, 1e-3]
    drawing = line_chart("n", "t", "d", [Line("a", x, y)], Axis("across", log=True), Axis("up", log=True))
    (line,) = marks(drawing, "polyline", "line")
    (x0, y0), (x1, y1), (x2, y2) = points(line)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.02)
    assert y0 < y2  # smaller values are lower on the drawing
    assert len(marks(drawing, "circle", "dot")) == 3
    assert "a: 10, 0.01" in [t.text for t in drawing.iter("title")]
    assert {"across", "up"} <= set(texts(drawing, "axis-name"))
    assert {"1", "10", "100"} <= set(texts(drawing, "tick"))


def test_what_has_no_place_on_an_axis_is_left_out_and_long_lines_are_thinned():
    y = [math.nan, math.inf, 0.0, -1.0] + [1.0 / (k + 1) for k in range(5_000)]
    wide = Line("", [1, 6_000], [1.0, 1e-5], faint=True)  # the same axes for both

    def drawn(x, y):
        drawing = line_chart("n", "t", "d", [wide, Line("a", x, y)], Axis("x"), Axis("y", log=True))
        return points(marks(drawing, "polyline", "one")[0])

    found = drawn(list(range(1, 5_005)), y)
    assert 60 <= len(found) <= MAX_POINTS + 1
    assert found[-1] == drawn([5, 5_004], [1.0, y[-1]])[-1]  # the last point is never left out
    nothing = line_chart("n", "t", "d", [Line("a", [1.0], [math.nan])], Axis("x"), Axis("y"))
    assert not marks(nothing, "polyline", "line")


def test_a_limit_and_a_legend():
    lines = [Line("one", [0, 1], [1, 2]), Line("two", [0, 1], [2, 3]), Line("", [0, 1], [1, 1], faint=True)]
    drawing = line_chart("n", "t", "d", lines, Axis("x"), Axis("y"), limit=("asked for", 2.5))
    assert len(marks(drawing, "polyline", "line")) == 3
    assert len(marks(drawing, "line", "limit")) == 1
    assert {"one", "two"} <= set(texts(drawing))
    named = [e.get("class") for e in marks(drawing, "polyline", "line")]
    assert len(set(named)) == 3  # told apart by dashes too


def test_bars_are_as_long_as_their_values():
    drawing = bar_chart("n", "t", "d", [("a", 30.0), ("b", 15.0), ("none", 0.0)], unit="rows")
    wide = [float(e.get("width")) for e in marks(drawing, "rect", "bar")]
    assert wide[0] == pytest.approx(2 * wide[1], abs=0.02)
    assert wide[2] == 1.0
    assert texts(drawing, "value") == ["30", "15", "0"]


def test_a_heat_map_has_a_cell_for_each_pair_with_its_share():
    counts = [[90, 10], [0, 0]]
    drawing = heat_map("n", "t", "d", ["<a>", "b"], counts)
    right, wrong = marks(drawing, "rect", "right"), marks(drawing, "rect", "wrong")
    assert len(right) == len(wrong) == 2
    assert [float(e.get("fill-opacity")) for e in right] == [0.9, 0.0]
    assert float(wrong[0].get("fill-opacity")) == pytest.approx(math.sqrt(0.1), abs=1e-3)
    assert "<a> taken for b: 10 (10.0\u00a0% of <a>)" in [t.text for t in drawing.iter("title")]
    assert {"90", "10"} <= set(texts(drawing))
    assert {"predicted class", "true class"} <= set(texts(drawing, "axis-name"))


def test_intervals_and_reliability():
    drawing = interval_chart(
        "n", "t", "d", [Interval("a", 0.9, 0.8, 0.95), Interval("b", 0.7, 0.6, 0.8)], "share"
    )
    (a, _), (dot_a, dot_b) = marks(drawing, "line", "whisker"), marks(drawing, "circle", "dot")
    assert float(a.get("x1")) < float(dot_a.get("cx")) < float(a.get("x2"))
    assert float(dot_b.get("cx")) < float(dot_a.get("cx"))
    bins = [Bin(0.55, 0.5, 0.4, 0.6, 10), Bin(0.95, 0.95, 0.9, 0.99, 1000)]
    drawing = reliability_diagram("n", "t", "d", bins)
    small, large = marks(drawing, "circle", "dot")
    assert float(small.get("r")) < float(large.get("r"))
    assert float(small.get("cy")) > float(large.get("cy"))
    assert len(marks(drawing, "line", "whisker")) == 2


@pytest.mark.parametrize("name", ["lines", "bars", "cells", "rows", "bins"])
def test_every_chart_stays_inside_its_frame_and_says_what_it_is(name):
    long = ["w" * 40, "<=50K", "字字字"]
    made = {
        "lines": lambda: line_chart("c", "t", "d", [Line("a", [1, 2], [3, 4])], Axis("x"), Axis("y")),
        "bars": lambda: bar_chart("c", "t", "d", [(word, 1e9) for word in long], unit="rows"),
        "cells": lambda: heat_map("c", "t", "d", long, [[123456] * 3] * 3),
        "rows": lambda: interval_chart("c", "t", "d", [Interval(w, 0.5, 0.1, 1.0) for w in long], "s"),
        "bins": lambda: reliability_diagram("c", "t", "d", [Bin(0.1, 0.0, 0.0, 0.3, 1)]),
    }[name]()
    _, _, width, height = map(float, made.get("viewBox").split())
    assert made[0].tag == "title"
    assert made[1].tag == "desc"
    assert made.get("aria-labelledby") == "c-title c-desc"
    for e in made.iter():
        for across in ("x", "x1", "x2", "cx"):
            assert -1 <= float(e.get(across, 0)) <= width + 1, ET.tostring(e)
        for down in ("y", "y1", "y2", "cy"):
            assert -1 <= float(e.get(down, 0)) <= height + 1, ET.tostring(e)
        assert "style" not in e.attrib
        assert not re.search("nan|inf", " ".join(e.attrib.values()).replace("confusion", ""))

"""Charts about predicted numbers: points, and a band or a line that they should lie on."""

from __future__ import annotations

import math

import numpy as np

from .charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, chart, frame
from .markup import Element, node
from .text import number

__all__ = ["MAX_POINTS_DRAWN", "scatter_chart"]

MAX_POINTS_DRAWN = 600


def scatter_chart(
    name: str,
    title: str,
    description: str,
    x: np.ndarray,
    y: np.ndarray,
    across: Axis,
    up: Axis,
    *,
    equal: bool = False,
) -> Element:
    """A dot for each pair, at most 600 of them; with a line where y = x if ``equal``, else where y = 0."""
    every = max(1, math.ceil(len(x) / MAX_POINTS_DRAWN))
    left, high = x[::every].tolist(), y[::every].tolist()
    both = [*left, *high]
    right = across.scale(both if equal else left, LEFT + 14, WIDTH - RIGHT)
    rising = up.scale(both if equal else [*high, 0.0], HEIGHT - BOTTOM, TOP)
    parts = frame(right, rising, across, up)
    ends = (right.low, right.high) if equal else (0.0, 0.0)
    parts.append(
        node("line", x1=right.start, x2=right.end, y1=rising(ends[0]), y2=rising(ends[1]), class_="limit")
    )
    parts += [
        node(
            "circle",
            node("title", f"{number(a)}, {number(b)}"),
            cx=right(a),
            cy=rising(b),
            r=2.2,
            class_="point",
        )
        for a, b in zip(left, high)
    ]
    return chart(name, title, description, WIDTH, HEIGHT, *parts)

"""Which columns matter, and the effects of the first few."""

from __future__ import annotations

from ...evaluation import ColumnStudy, Effect
from ..content import N_EFFECTS, ModelReport
from .charts import Axis, Line, line_chart
from .markup import Child, Element, datum, figure, node, table
from .text import percent, shortened

__all__ = ["columns_section"]

MAX_SHOWN = 20


def columns_section(report: ModelReport) -> list[Child]:
    """Importance and effects; nothing for a model without a table."""
    c = report.columns
    if c is None or not c.columns:
        return []
    return [*_importance(c), *_effects(c)]


def _importance(c: ColumnStudy) -> list[Child]:
    shown = c.columns[:MAX_SHOWN]
    rows = [
        [
            datum(one.name),
            percent(one.own),
            _points(one.drop),
            " to ".join(map(_points, one.drop_interval or ())) or "–",
            _points(one.drop_together),
            node("span", *_names(one.correlated)),
        ]
        for one in shown
    ]
    some = "" if len(shown) == c.n_columns else f", the first {len(shown)} of {c.n_columns:,} columns"
    caption = (
        f"Measured on {c.n_rows:,} rows{some}. Share: of what the outputs depend on, by the model's "
        "gradients; lost: percentage points of accuracy"
    )
    head = ["column", "share", "lost when shuffled", "95 %", "lost together", "correlated with"]
    parts: list[Child] = [
        node(
            "p",
            "How much accuracy is lost when the values of one column are shuffled among the rows, so that "
            "they say nothing. A column that others can stand in for loses little alone: see what is lost "
            "when it and its correlated columns are shuffled together.",
        ),
        table(head, rows, caption=caption, numbers=[1, 2, 3, 4]),
    ]
    return parts + [node("p", f"Note: {note}.", class_="note") for note in c.notes]


def _names(names: list[str]) -> list[Child]:
    parts: list[Child] = []
    for name in names[:4]:
        parts += [datum(name, 24), " "]
    return parts + ([f"and {len(names) - 4} more"] if len(names) > 4 else []) or ["–"]


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}".replace("-", "−")


def _effects(c: ColumnStudy) -> list[Child]:
    if not c.effects:
        return []
    drawn = [_drawn(k, effect) for k, effect in enumerate(c.effects[:N_EFFECTS])]
    return [
        node("h3", "Effects"),
        node(
            "p",
            "How the answer changes with one column while the others stay as they are, on average over the "
            "rows (accumulated local effects; for categories the mean answer with every row set to one).",
        ),
        node("div", drawn, class_="figures"),
    ]


def _drawn(k: int, effect: Effect) -> Element:
    name = shortened(effect.name, 40)[0]
    unit = "points of probability" if effect.on == "probability" else "score"
    share = effect.on == "probability"
    if effect.kind == "number":
        lines = [Line(label, effect.x, values) for label, values in effect.lines.items()]
        up = Axis(f"change of the {effect.on}", share=share)
        drawing = line_chart(f"effect{k}", f"Effect of {name}", f"on the {effect.on}", lines, Axis(name), up)
        return figure(drawing, name, f"In {unit}, for {_classes(effect)}.")
    rows = [
        [
            datum(word),
            *(
                f"{(100 if share else 1) * values[i]:+.3g}".replace("-", "−")
                for values in effect.lines.values()
            ),
        ]
        for i, word in enumerate(effect.categories)
    ]
    numbers = list(range(1, len(effect.lines) + 1))
    caption = f"{name}: {unit}"
    return table(["category", *effect.lines], rows, caption=caption, numbers=numbers)


def _classes(effect: Effect) -> str:
    return ", ".join(shortened(name, 24)[0] for name in effect.lines)

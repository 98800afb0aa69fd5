"""Rows worth looking at: influential support vectors or features, and the most confident mistakes."""

from __future__ import annotations

from typing import Any

from ..content import ModelReport
from .markup import Child, Element, datum, node, shown, table, values_list
from .pixels import images_of
from .text import number, percent

MAX_COLUMNS = 8  # of a table; of more, those that matter are shown
MAX_COLUMNS_THAT_MATTER = 6
MAX_LISTED = 8  # values of a sparse row that are not folded away
MAX_FOLDED = 60


def influence_section(report: ModelReport) -> list[Child]:
    """Support vectors, or weights of features."""
    parts: list[Child] = []
    if report.support is not None:
        parts += _support(report)
    if report.weights is not None and report.support is None:
        parts += _weights(report)
    if not parts:
        parts.append(
            node("p", "This model has no support vectors or weights that can be shown in terms of the table.")
        )
    return parts


def _support(report: ModelReport) -> list[Child]:
    s = report.support
    assert s is not None
    what = (
        "prototypes, which were moved and are not rows of the training table"
        if s.prototypes
        else "training rows after preparation: six digits, rare categories as “(another)”"
    )
    all_of_them = len(s.rows) == s.n_support
    some = f"The {len(s.rows)} of {s.n_support:,} support vectors with the largest coefficients"
    some = f"All {s.n_support:,} support vectors" if all_of_them else some
    weight = "" if all_of_them else f" {some} have {percent(s.share, 0)} of the weight."
    head = ["size", "votes for", "training row"]
    rows: list[tuple[list[Child], dict[str, Any]]] = [
        ([number(r.size, 3), datum(r.towards, 32), "–" if r.row is None else number(r.row + 1)], r.values)
        for r in s.rows
    ]
    return [
        node(
            "p",
            "A new row is compared with the support vectors; the more similar, the larger the vote of each."
            f"{weight} The values are those of {what}.",
        ),
        _rows_table(
            report, head, rows, f"{some}; size is the norm of a support vector's coefficients", {0, 2}
        ),
    ]


def _weights(report: ModelReport) -> list[Child]:
    w = report.weights
    assert w is not None
    rows = [[datum(r.feature), number(r.weight, 3), datum(r.towards, 32)] for r in w.rows]
    some = (
        f"The {len(rows)} features with the largest weights, of {w.n_nonzero:,} that have one and "
        f"{w.n_features:,} in all"
    )
    return [
        node(
            "p",
            "A linear model sums the values of a row, each times its weight. Numbers were standardised, "
            "so weights can be compared.",
        ),
        table(["feature", "weight", "a larger value votes for"], rows, caption=some, numbers=[1]),
    ]


def mistake_section(report: ModelReport) -> list[Child]:
    """The most confident mistakes, with their rows."""
    e = report.evaluation
    wrong = e.n_rows - round(e.accuracy * e.n_rows)
    if not report.mistakes:
        return [node("p", "No mistakes on these rows." if not wrong else "No mistakes can be shown.")]
    probable = any(m.mistake.probability is not None for m in report.mistakes)
    head = ["row", "true class", "predicted", "margin"] + (["probability"] if probable else [])
    rows = []
    for each in report.mistakes:
        m = each.mistake
        cells: list[Child] = [
            number(m.row + 1),
            datum(m.label, 32),
            datum(m.predicted, 32),
            number(m.margin, 3),
        ]
        rows.append((cells + ([percent(m.probability)] if probable else []), each.values))
    some = f"The {len(rows)} of {wrong:,} mistakes, the most confident ones"
    if len(rows) == wrong:
        some = "The only mistake" if wrong == 1 else f"All {wrong:,} mistakes, the most confident first"
    caption = f"{some}; rows are counted from 1"
    return [
        node(
            "p",
            "Look at these first: where the model is confident and wrong, the label may be wrong, a "
            "column may have "
            "changed its meaning, or the row is unusual. The margin is how much higher the predicted "
            "class scored than the true class.",
        ),
        _rows_table(report, head, rows, caption, {0, 3, 4}),
    ]


def _rows_table(
    report: ModelReport,
    head: list[str],
    rows: list[tuple[list[Child], dict[str, Any]]],
    caption: str,
    numbers: set[int],
) -> Element:
    """Rows of data after some cells of ours: the columns that matter; the others fold away."""
    numbers = {j for j in numbers if j < len(head)}
    data = [values for _, values in rows]
    n_features = report.data.n_features
    names = list(dict.fromkeys(name for values in data for name in values))
    if (images := images_of(data, n_features, head[0])) is not None:
        drawn = [[cells[0], image, *cells[1:]] for (cells, _), image in zip(rows, images)]
        moved = sorted(j + (j > 0) for j in numbers)
        return table([head[0], "image", *head[1:]], drawn, caption=caption, numbers=moved)
    if len(names) > MAX_COLUMNS and any(len(values) < n_features for values in data):  # sparse rows
        told = [{name: v for name, v in values.items() if v != 0} for values in data]
        listed = [[*cells, _folded(values, MAX_LISTED)] for (cells, _), values in zip(rows, told)]
        return table([*head, "values, without zeros"], listed, caption=caption, numbers=sorted(numbers))
    shown_names = _that_matter(report, names)
    numbers |= {len(head) + j for j, name in enumerate(shown_names) if _are_numbers(data, name)}
    body: list[list[Child]] = []
    for cells, values in rows:
        rest = {name: value for name, value in values.items() if name not in shown_names}
        own = [datum(shown(values.get(name)), 28) for name in shown_names]
        body.append([*cells, *own, *([_folded(rest, 0)] if len(shown_names) < len(names) else [])])
    more = ["other columns"] if len(shown_names) < len(names) else []
    return table([*head, *shown_names, *more], body, caption=caption, numbers=sorted(numbers))


def _that_matter(report: ModelReport, names: list[str]) -> list[str]:
    """Columns of their own in a table: all, or of many the most important, in the order of the file."""
    if len(names) <= MAX_COLUMNS:
        return names
    ranked = [c.name for c in report.columns.columns] if report.columns is not None else []
    first = [name for name in ranked if name in names][:MAX_COLUMNS_THAT_MATTER]
    kept = set(first or names[:MAX_COLUMNS_THAT_MATTER])
    return [name for name in names if name in kept]


def _are_numbers(data: list[dict[str, Any]], name: str) -> bool:
    return all(isinstance(values.get(name, 0.0), float | int | None) for values in data)


def _folded(values: dict[str, Any], n_open: int) -> Element:
    """The first values, and the others behind a word to click on."""
    items = list(values.items())
    first, rest = dict(items[:n_open]), dict(items[n_open:])
    parts: list[Child] = [values_list(first, n_open)] if first else []
    if rest:
        fold = node("details", node("summary", f"{len(rest):,} more"), values_list(rest, MAX_FOLDED))
        parts.append(fold)
    return node("div", parts)

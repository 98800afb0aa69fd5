"""Rows worth looking at: influential support vectors or features, and the most confident mistakes."""

from __future__ import annotations

from typing import Any

from ..content import ModelReport
from .markup import Child, Element, datum, node, shown, table, values_list
from .text import number, percent

MAX_COLUMNS = 8  # of a table; rows with more values are lists
MAX_LISTED = 16  # values of a list; where there are more, zeros are left out


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
        _rows_table(head, rows, f"{some}; size is the norm of a support vector's coefficients", {0, 2}),
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
        _rows_table(head, rows, caption, {0, 3, 4}),
    ]


def _rows_table(
    head: list[str], rows: list[tuple[list[Child], dict[str, Any]]], caption: str, numbers: set[int]
) -> Element:
    """Rows of data after some cells of ours: as columns of their own, or as a list where there are many."""
    names = list(dict.fromkeys(name for _, values in rows for name in values))
    numbers = {j for j in numbers if j < len(head)}
    if len(names) > MAX_COLUMNS:
        many = len(names) > MAX_LISTED
        told = [{name: v for name, v in values.items() if not many or v != 0} for _, values in rows]
        listed = [[*cells, values_list(values, MAX_LISTED)] for (cells, _), values in zip(rows, told)]
        return table(
            [*head, "values, without zeros" if many else "values"],
            listed,
            caption=caption,
            numbers=sorted(numbers),
        )
    is_number = [all(isinstance(v.get(name, 0.0), float | int | None) for _, v in rows) for name in names]
    numbers |= {len(head) + j for j, yes in enumerate(is_number) if yes}
    body = [[*cells, *(datum(shown(values.get(name)), 28) for name in names)] for cells, values in rows]
    return table([*head, *names], body, caption=caption, numbers=sorted(numbers))

"""Tables, lists of facts and figures as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .markup import Element, datum, node
from .text import number

Cell = Any  # a child of an element, several of them, or a number


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, caption: str, numbers: Sequence[int] = ()
) -> Element:
    """A table in a box of its own that scrolls sideways; the columns ``numbers`` are set to the right.

    The first cell of a row is its head. Names of columns are taken for data.
    """
    right = set(numbers)
    head = [
        node("th", datum(name, 28), scope="col", class_="n" if j in right else None)
        for j, name in enumerate(columns)
    ]
    body = [node("tr", [_cell(cell, j, j in right) for j, cell in enumerate(row)]) for row in rows]
    inner = node("table", node("caption", caption), node("thead", node("tr", head)), node("tbody", body))
    return node("div", inner, class_="box", tabindex=0, role="region", aria_label=caption)


def _cell(cell: Cell, place: int, right: bool) -> Element:
    shown = number(cell) if isinstance(cell, float | int) else cell
    if place == 0:
        return node("th", shown, scope="row", class_="n" if right else None)
    return node("td", shown, class_="n" if right else None)


def facts(pairs: Iterable[tuple[str, Cell | None]]) -> Element:
    """Names and values; pairs without a value are left out."""
    items = []
    for name, value in pairs:
        if value is not None:
            shown = number(value) if isinstance(value, float | int) else value
            items += [node("dt", name), node("dd", shown)]
    return node("dl", items)


def figure(drawing: Element, title: str, text: str, *, natural: bool = False) -> Element:
    """A chart with its title and a line that says what it means."""
    caption = node("figcaption", node("b", title), text)
    if natural:
        box = node("div", drawing, class_="box", tabindex=0, role="region", aria_label=title)
        return node("figure", box, caption, class_="natural")
    return node("figure", drawing, caption)


def values_list(values: dict[str, object], most: int) -> Element:
    """``name value`` pairs of a row in one cell."""
    pairs = [
        node("span", node("em", datum(name, 24), " "), datum(shown(value), 28))
        for name, value in list(values.items())[:most]
    ]
    more = len(values) - most
    return node("div", pairs, node("span", f"and {more:,} more") if more > 0 else None, class_="pairs")


def shown(value: object) -> str:
    """A value of a row of data."""
    if value is None:
        return "(missing)"
    return number(value, 6) if isinstance(value, float | int) else str(value)

"""HTML as a tree: every text and attribute is made visible and escaped by construction.

No string of markup is ever glued together, so text of a data set cannot become markup. The one style element
and the one script of a page to explore are written by us, and the page's policy names their hashes: nothing
else may style, run or load.
"""

from __future__ import annotations

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from .text import number, shortened, visible

Element = ET.Element
Child = Element | str | None
LETTER = re.compile(r"([A-Za-z\u03b1-\u03c9]+)")
SCRIPT = re.compile(r"([_^])(\{[^}]*\}|.)")


def node(tag: str, *children: Child | Iterable[Child], **attributes: object) -> Element:
    """An element; ``class_`` is the attribute class, and ``stroke_width`` is stroke-width.

    Attributes that are None, and children that are None, are left out.
    """
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    element = Element(tag, {name: visible(str(v)) for name, v in names.items() if v is not None})
    for child in children:
        append(element, child)
    return element


def append(parent: Element, child: Child | Iterable[Child]) -> None:
    """Put a text, an element or several of them at the end of an element."""
    if child is None:
        return
    if isinstance(child, str):
        text = visible(child)
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text
    elif isinstance(child, ET.Element):
        parent.append(child)
    else:
        for each in child:
            append(parent, each)


def datum(text: object, longest: int = 48) -> Element:
    """A word from the data: apart from the direction of the text around it, shortened where it is long."""
    shown, whole = shortened(str(text), longest)
    return node("bdi", shown, class_="datum", title=whole)


def formula(text: str) -> list[Child]:
    """``f_t(x)^2`` with single letters in italics, and subscripts and superscripts (``x_{ij}``) as such."""
    parts: list[Child] = []
    at = 0
    for match in SCRIPT.finditer(text):
        parts += _letters(text[at : match.start()])
        tag = "sub" if match.group(1) == "_" else "sup"
        parts.append(node(tag, _letters(match.group(2).strip("{}"), longest=3)))
        at = match.end()
    return parts + _letters(text[at:])


def _letters(text: str, longest: int = 1) -> list[Child]:
    """Letters as variables; words of more than ``longest`` letters, and signs of sums, stand upright."""
    pieces = LETTER.split(text)
    return [node("var", p) if LETTER.fullmatch(p) and len(p) <= longest else p for p in pieces if p]


def document(title: str, style: str, body: Iterable[Child], script: str | None = None) -> str:
    """A whole page under a policy by which only the one style element, and the one script, count."""
    allowed = f"style-src '{_digest(style)}'"
    if script is not None:
        allowed += f"; script-src '{_digest(script)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    sheet = Element("style")
    sheet.text = style
    head = node(
        "head",
        node("meta", charset="utf-8"),
        Element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        node("meta", name="viewport", content="width=device-width, initial-scale=1"),
        node("meta", name="color-scheme", content="light dark"),
        node("meta", name="generator", content="maxmargin report"),
        node("title", title),
        sheet,
    )
    whole = node("body", *body)
    if script is not None:
        run = Element("script")
        run.text = script
        whole.append(run)
    root = node("html", head, whole, lang="en")
    return "<!DOCTYPE html>\n" + ET.tostring(root, encoding="unicode", method="html") + "\n"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
    shown = number(cell) if isinstance(cell, Real) else cell
    if place == 0:
        return node("th", shown, scope="row", class_="n" if right else None)
    return node("td", shown, class_="n" if right else None)


def facts(pairs: Iterable[tuple[str, Cell | None]]) -> Element:
    """Names and values; pairs without a value are left out."""
    items = []
    for name, value in pairs:
        if value is not None:
            shown = number(value) if isinstance(value, Real) else value
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
    return number(value, 6) if isinstance(value, Real) else str(value)

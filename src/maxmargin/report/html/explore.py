"""The part of a page that needs its script: an empty section, and its data as inert JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..content import ModelReport
from .markup import Element, node
from .pixels import image_side
from .text import shortened

__all__ = ["EXPLORE_STYLE", "SCRIPT", "explore_section"]

MAX_TEXT = 200  # characters of a text from the data
ROW_TEXTS = (MAX_TEXT, 100, 50, 28, 12)  # of a text of a row: the first with which the data fits
MAX_DATA = 4_000_000  # bytes; with the plain report, the style and the script a page is below 5 MB
SCRIPT = files(__package__).joinpath("explore.js").read_text(encoding="utf-8").strip()
EXPLORE_STYLE = files(__package__).joinpath("explore.css").read_text(encoding="utf-8").strip()


def explore_section(report: ModelReport) -> Element:
    """Hidden until the script has filled it, so that a page without scripts is the plain report."""
    data = Element("script", {"type": "application/json", "id": "explore-data"})
    data.text = bounded_json(_with_image(report.exploration or {}))
    return node("section", data, id="explore", aria_label="Explore", hidden="hidden")


def _with_image(document: Mapping[str, Any]) -> dict[str, Any]:
    """With the side of the images that the rows are, if the page has all of their columns."""
    columns = document["values"]
    whole = len(columns) == document["n_columns"] and all(column["kind"] == "number" for column in columns)
    names, values = [c["name"] for c in columns], [c["values"] for c in columns]
    return {**document, "image": image_side(names, values) if whole else None}


def bounded_json(document: Mapping[str, Any]) -> str:
    """The document as inert JSON of at most ``MAX_DATA`` bytes: shorter texts of rows, then fewer columns.

    Nothing but the columns of the rows grows with the length of texts; those that matter least go first.
    """
    for longest in ROW_TEXTS:
        if sum(_least_size(column, longest) for column in document["values"]) <= MAX_DATA:
            columns = [_with_short_words(column, longest) for column in document["values"]]
            text = inert_json({**document, "values": columns})
            if len(text) <= MAX_DATA:
                return text
    columns = [_with_short_words(column, ROW_TEXTS[-1]) for column in document["values"]]
    sizes = [len(inert_json(column)) + 1 for column in columns]
    room = MAX_DATA - len(inert_json({**document, "values": []}))
    kept: set[int] = set()
    for place in _by_importance(document):
        room -= sizes[place]
        if kept and room < 0:
            break
        kept.add(place)
    fewer = [column for place, column in enumerate(columns) if place in kept]
    return inert_json({**document, "values": fewer})


def _with_short_words(column: Mapping[str, Any], longest: int) -> Mapping[str, Any]:
    if column["kind"] != "words":
        return column
    return {**column, "words": [shortened(word[: longest + 1], longest)[0] for word in column["words"]]}


def _least_size(column: Mapping[str, Any], longest: int) -> int:
    """Bytes that its words need in any case, six for a letter beyond ASCII."""
    words = column.get("words", ())
    return sum(len(word[:longest].encode("ascii", "backslashreplace")) for word in words)


def _by_importance(document: Mapping[str, Any]) -> list[int]:
    """The places of the columns of the rows, those that matter most first, the others as in the file."""
    listed = (document.get("columns") or {}).get("list", [])
    rank = {column["name"]: k for k, column in enumerate(listed)}
    names = [column["name"] for column in document["values"]]
    return sorted(range(len(names)), key=lambda place: rank.get(names[place], len(rank)))


def inert_json(document: Any) -> str:
    """JSON that is nothing but data wherever it stands: ASCII without ``<``, ``>`` and ``&``.

    Texts are escaped as on the rest of the page, so the script never sees what would turn a line around.
    """
    text = json.dumps(_visible(document), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return shortened(value, MAX_TEXT)[0]
    if isinstance(value, dict):
        return {name: _visible(entry) for name, entry in value.items()}
    return [_visible(entry) for entry in value] if isinstance(value, list) else value

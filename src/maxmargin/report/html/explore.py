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
SCRIPT = files(__package__).joinpath("explore.js").read_text(encoding="utf-8").strip()
EXPLORE_STYLE = files(__package__).joinpath("explore.css").read_text(encoding="utf-8").strip()


def explore_section(report: ModelReport) -> Element:
    """Hidden until the script has filled it, so that a page without scripts is the plain report."""
    data = Element("script", {"type": "application/json", "id": "explore-data"})
    data.text = inert_json(_with_image(report.exploration or {}))
    return node("section", data, id="explore", aria_label="Explore", hidden="hidden")


def _with_image(document: Mapping[str, Any]) -> dict[str, Any]:
    """With the side of the images that the rows are, if the page has all of their columns."""
    columns = document["values"]
    whole = len(columns) == document["n_columns"] and all(column["kind"] == "number" for column in columns)
    names, values = [c["name"] for c in columns], [c["values"] for c in columns]
    return {**document, "image": image_side(names, values) if whole else None}


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

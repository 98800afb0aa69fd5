"""Fields and lines of CSV, safe for spreadsheets if wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["field", "id_values", "line", "quoted", "safe_field"]


def id_values(column: Any) -> list[Any]:
    """Of a column that names the rows: text as it was, whole numbers without a point, None where missing."""
    if hasattr(column, "codes"):
        return [None if code < 0 else column.values[code] for code in column.codes.tolist()]
    return [
        None if value != value else int(value) if value.is_integer() else value for value in column.tolist()
    ]


_SPECIAL = (",", '"', "\n", "\r")
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # also in their full width


def field(text: object) -> str:
    """One field: quoted where it has to be."""
    word = str(text)
    if any(sign in word for sign in _SPECIAL) or word != word.strip():
        return quoted(word)
    return word


def quoted(word: str) -> str:
    """A field between quotes."""
    return '"' + word.replace('"', '""') + '"'


def safe_field(text: object) -> str:
    """One field that no spreadsheet takes for a formula, or splits at its own separator.

    Numbers stay as they are; other text is quoted, and has an apostrophe in front if it begins, after white
    space, like a formula.
    """
    word = str(text)
    try:
        float(word)
    except ValueError:
        begins = word.lstrip().startswith(_FORMULA) or word.startswith(("\t", "\r", "\n"))
        return quoted(f"'{word}" if begins else word)
    return field(word)


def line(fields: Iterable[str]) -> bytes:
    """One line, in UTF-8."""
    return (",".join(fields) + "\n").encode("utf-8", "surrogatepass")

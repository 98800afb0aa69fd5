"""The names of a CSV file's columns: its first row, or what was given instead; its delimiter and target."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import _native
from .table import DataFormatError
from .text import DataFile, Pieces
from .text_errors import text_error

DELIMITERS = (",", ";", "\t")
OTHERS = (*DELIMITERS, "|", ":", "~", "^", " ")  # in the order in which they are likely
MAX_COLUMNS = 1 << 20
IF_DATA = "If the first row is data, give the columns' names (names=[...])"


@dataclass(frozen=True)
class Header:
    """What precedes the data: names of all columns, where the data begin, and what separates fields."""

    names: tuple[str, ...]
    delimiter: str
    given: bool  # the file's first row is a header
    n_bytes: int  # of it, blank lines included
    line: int  # on which the data begin


def near(name: str, names: Sequence[str]) -> str:
    """Names like this one, or the first few, for an error's last words."""
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    return f"The columns are {shown}."


def _first_row(file: DataFile, pieces: Pieces, delimiter: str) -> tuple[list[str], int, int]:
    """Fields of the first row that is not blank, its bytes, the line behind it."""
    while True:
        fields, n_bytes, line, error = _native.csv_first_row(pieces.text, pieces.at_end, delimiter)
        if error is not None:
            what, where, column, byte, _, found = error
            place = f"line {where}, column {column + 1}"
            facts: dict[str, Any] = {"n_columns": 0, "delimiter": delimiter, "name": ""}
            raise text_error(file.path, place, what, found=found, byte=pieces.offset + byte, **facts)
        if n_bytes:
            return fields, n_bytes, line
        if pieces.at_end:
            raise DataFormatError(f"{file.path}: the file is empty; a header and rows are needed.")
        if not pieces.more():
            limit = file.limits.max_row_bytes
            raise text_error(file.path, "line 1", "long", n_columns=0, max_row_bytes=limit)


def _guess(file: DataFile, pieces: Pieces, names: Sequence[str] | None) -> str:
    """The delimiter that gives the first row as many fields as there are names, or else the most."""

    def fields(delimiter: str) -> tuple[bool, int]:
        try:
            n = len(_first_row(file, pieces, delimiter)[0])
        except DataFormatError:
            return False, 0
        return names is not None and n == len(names) > 1, n

    return max(DELIMITERS, key=fields)


def _check_names(path: Path, names: Sequence[str], source: str) -> None:
    if len(names) > MAX_COLUMNS:
        raise DataFormatError(
            f"{path}, {source}: {len(names):,} columns; at most {MAX_COLUMNS:,} are accepted. LIBSVM text is "
            "made for more."
        )
    for j, name in enumerate(names):
        if not name:
            raise DataFormatError(
                f"{path}, {source}, column {j + 1}: the column has no name; every column needs one. Give "
                "names (names=[...], header=True)."
            )
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        places = " and ".join(str(j + 1) for j, other in enumerate(names) if other == name)
        raise DataFormatError(
            f"{path}, {source}, columns {places}: the name {name!r} appears {count} times; names must "
            f"differ. {IF_DATA}."
        )


def read_header(
    file: DataFile, names: Sequence[str] | None, header: bool | None, delimiter: str | None
) -> Header:
    """The names of the columns, from the file or as given, checked against its first row."""
    given = names is None if header is None else header
    with file.pieces() as pieces:
        skipped = pieces.offset
        delimiter = delimiter or _guess(file, pieces, names)
        fields, n_bytes, line = _first_row(file, pieces, delimiter)
    if names is None:
        names = fields if given else [str(j) for j in range(len(fields))]
    elif len(names) != len(fields):
        raise DataFormatError(
            f"{file.path}, line {max(1, line - 1)}: the first row has {len(fields)} fields (delimiter "
            f"{delimiter!r}), and {len(names)} names were given; give one for each."
        )
    _check_names(file.path, names, "header" if given else "names")
    if not given:
        return Header(tuple(names), delimiter, False, skipped, 1)
    return Header(tuple(names), delimiter, True, skipped + n_bytes, line)


def _another_delimiter(names: Sequence[str]) -> str:
    """What to try where the first row is one field that others may be hidden in."""
    found = next((sign for sign in OTHERS if len(names) == 1 and sign in names[0]), None)
    return "" if found is None else f"If {found!r} stands between fields, say so (delimiter={found!r})"


def find_target(path: Path, target: Any, names: Sequence[str]) -> int | None:
    """The target's position: a name, or a position from 0, from the end if negative."""
    if target is None:
        return None
    if isinstance(target, str) and target in names:
        return list(names).index(target)
    try:
        position = int(target)
    except ValueError:
        raise DataFormatError(
            f"{path}: there is no column {target!r} to be the target. {near(target, names)} "
            f"{_another_delimiter(names) or IF_DATA}."
        ) from None
    if not -len(names) <= position < len(names):
        raise DataFormatError(
            f"{path}: the target's position is {position}, and there are {len(names)} columns: 0 to "
            f"{len(names) - 1}, or -1 for the last. Its name is accepted too."
        )
    return position % len(names)

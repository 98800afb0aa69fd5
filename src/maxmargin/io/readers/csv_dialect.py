"""The rules of CSV text: delimiters, the header, and the errors of rows that break the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import _native
from .errors import DataFormatError
from .table import Advice
from .text import DataFile, Pieces, long_row_error, text_error

DELIMITERS = (",", ";", "\t")  # guessed
UNGUESSED_DELIMITERS = ("|", ":", "~", "^", " ")  # suggested where nothing else fits, the likeliest first
IF_FIRST_ROW_IS_DATA = "if the first row is data, give the names of the columns ({names})"
MAX_COLUMNS = 1 << 20

# Errors in a row: the problem, and what to do. "trained ...": a trained model has fixed the column's kind.
CSV_PROBLEMS = {
    "short row": (
        "the row has {count} of {n_columns} fields",
        "every row needs all of them; leave a missing one empty",
    ),
    "long row": (
        "the row has {count} fields instead of {n_columns} (delimiter {delimiter!r})",
        "put a field that contains the delimiter into double quotes",
    ),
    "not a number": (
        "{found!r} is not a number, but the column is numeric",
        "correct it, add it to {missing} or declare the column categorical ({kinds})",
    ),
    "trained not a number": (
        "{found!r} is not a number, but the model was trained on numbers in this column",
        "correct it or add it to {missing}",
    ),
    "not finite": (
        "{found!r} is not a finite number (within ±1.8e308)",
        "correct it, add it to {missing} or declare the column categorical ({kinds})",
    ),
    "trained not finite": (
        "{found!r} is not a finite number (within ±1.8e308)",
        "correct it or add it to {missing}",
    ),
    "missing label": (
        "the label is missing: {found!r} stands for a missing value",
        "remove the row, or give {missing} without it if it is a label",
    ),
    "carriage return": (
        "a carriage return without a line feed, but lines end in \\n or \\r\\n",
        "put the field into double quotes if the carriage return is part of it",
    ),
    "text after quote": (
        "there is text after a closing quote: {found!r}",
        "double the quotes within a quoted field",
    ),
    "open quote": ("a quoted field begins here and never ends: {found!r}", "close the quotes"),
}


@dataclass(frozen=True)
class CsvHeader:
    """Names of all columns, where the data begins, and the delimiter."""

    names: tuple[str, ...]
    delimiter: str
    given: bool  # whether the file's first row is a header
    n_bytes: int  # of the header, blank lines included
    line: int  # on which the data begins


def _first_row(file: DataFile, pieces: Pieces, delimiter: str) -> tuple[list[str], int, int]:
    """Fields of the first row that is not blank, its bytes, and the line that follows."""
    while True:
        fields, n_bytes, line, error = _native.csv_first_row(pieces.text, pieces.at_end, delimiter)
        if error is not None:
            what, row_line, column, byte, _, found = error
            place = {"line": row_line, "column": column + 1, "found": found}
            raise text_error(file.path, what, CSV_PROBLEMS, **place, byte=pieces.offset + byte)
        if n_bytes:
            return fields, n_bytes, line
        if pieces.at_end:
            raise DataFormatError("the file is empty", name=file.path, remedy="a header and rows are needed")
        if not pieces.more():
            raise long_row_error(file.path, 1, file.limits)


def _guessed_delimiter(file: DataFile, pieces: Pieces, names: Sequence[str] | None) -> str:
    """The delimiter that splits the first row into as many fields as there are names, or into the most."""

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
            f"{len(names):,} columns; at most {MAX_COLUMNS:,} are accepted",
            name=path,
            place=source,
            remedy="LIBSVM text holds more",
        )
    if "" in names:
        raise DataFormatError(
            "the column has no name, and every column needs one",
            name=path,
            place=f"{source}, column {list(names).index('') + 1}",
            remedy="give the names of all columns ({names}, {header})",
            arguments={"names": None, "header": True},
        )
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        positions = " and ".join(str(j + 1) for j, other in enumerate(names) if other == name)
        raise DataFormatError(
            f"the name {name!r} appears {count} times, but names must differ",
            name=path,
            place=f"{source}, columns {positions}",
            remedy=IF_FIRST_ROW_IS_DATA,
            arguments={"names": None},
        )


def read_header(
    file: DataFile, names: Sequence[str] | None, header: bool | None, delimiter: str | None
) -> CsvHeader:
    """The names of the columns, from the file or as given, checked against the first row."""
    given = names is None if header is None else header
    with file.pieces() as pieces:
        skipped = pieces.offset
        delimiter = delimiter or _guessed_delimiter(file, pieces, names)
        fields, n_bytes, line = _first_row(file, pieces, delimiter)
    if names is None:
        names = _named(fields) if given else [str(j) for j in range(len(fields))]
    elif len(names) != len(fields):
        raise DataFormatError(
            f"the first row has {len(fields)} fields (delimiter {delimiter!r}), but {len(names)} names "
            "were given",
            name=file.path,
            line=max(1, line - 1),
            remedy="give one name for each field ({names})",
            arguments={"names": None},
        )
    _check_names(file.path, names, "header" if given else "names")
    if not given:
        return CsvHeader(tuple(names), delimiter, False, skipped, 1)
    return CsvHeader(tuple(names), delimiter, True, skipped + n_bytes, line)


INDEX_NAME = "(index)"  # of a first column without a name, as pandas writes the index of a frame


def _named(fields: list[str]) -> list[str]:
    """The names of a header; a nameless first column, before at least two named ones, is an index."""
    index = len(fields) > 2 and fields[0] == "" and "" not in fields[1:] and INDEX_NAME not in fields
    return [INDEX_NAME, *fields[1:]] if index else fields


def advice_on_columns(names: Sequence[str]) -> Advice:
    """Advice if a column is not found: try another delimiter, or the first row may be data."""
    signs = (*DELIMITERS, *UNGUESSED_DELIMITERS)
    delimiter = next((sign for sign in signs if len(names) == 1 and sign in names[0]), None)
    if delimiter is None:
        return IF_FIRST_ROW_IS_DATA, {"names": None}
    return "if the fields have another delimiter, give it ({delimiter})", {"delimiter": delimiter}


def one_group_each(values: Sequence[str], decimal: str) -> list[str]:
    """The values with a separator; none if one has the decimal sign or two separators."""
    separator = "." if decimal == "," else ","
    if any(decimal in value or value.count(separator) > 1 for value in values):
        return []
    return [value for value in values if separator in value]

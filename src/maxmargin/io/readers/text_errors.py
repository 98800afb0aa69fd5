"""What parsers of text find wrong, in sentences: file, line and column, what is there, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .table import DataFormatError

_CSV = {
    "short row": "the row has {count} of {n_columns} fields; every row needs all of them, empty if need be",
    "long row": "the row has {count} fields instead of {n_columns}; put a field that contains the delimiter "
    "{delimiter!r} into double quotes",
    "not a number": "{found!r} is no number, and the column is one of numbers{why}. Correct it{remedy}",
    "not finite": "{found!r} is no finite number: it must be within ±1.8e308. Correct it{remedy}",
    "missing label": "the label is missing: {found!r} is one of the values of `missing`. Remove the row, or "
    "give `missing` without it if it is a label",
    "carriage return": "a carriage return without a line feed; lines end in \\n or \\r\\n. Put the field "
    "into double quotes if it belongs there",
    "text after quote": "text behind a closing quote: {found!r}. Double the quotes within a quoted field",
    "open quote": "a quoted field that begins here has no closing quote: {found!r}",
}
_LIBSVM = {
    "no label": "{found!r} stands where the label should be; a row is `label index:value index:value ...`",
    "several labels": "{found!r} are several labels; rows have one label. If the file is CSV, give "
    "format='csv'",
    "missing label": "the label is missing: {found!r} is one of the values of `missing`",
    "qid": "{found!r}: ranking data with query numbers are not accepted; remove them",
    "no colon": "{found!r} has no colon; write index:value. If the file is CSV, give format='csv'",
    "index": "the index of {found!r} is no whole number",
    "negative index": "{found!r} has a negative index; indices are {first}, {second}, ...",
    "index 0": "{found!r}: indices begin with 1; give zero_based=True for a file in which they begin with 0",
    "index too large": "the index of {found!r} is too large; at most 2147483647 features are accepted",
    "more features": "{found!r} lies outside the {n_features} features that a model was trained with, or "
    "that were asked for (n_features)",
    "repeated index": "the index of {found!r} appears twice in the row",
    "index out of order": "the index of {found!r} is smaller than the one before; indices must ascend",
    "not a number": "the value of {found!r} is no number",
    "not finite": "the value of {found!r} is no finite number: it must be within ±1.8e308",
}
_BOTH = {
    "NUL byte": "a NUL byte (byte {byte:,} of the text); this is no text file, or a damaged one",
    "not UTF-8": "byte {byte:,} of the text, 0x{hex}, is not UTF-8; save the file as UTF-8",
    "long": "the row that begins here is longer than {max_row_bytes:,} bytes, as after a quote that is never "
    "closed; raise max_row_bytes if that is right",
}


def text_error(
    path: Path, where: str, what: str, *, found: bytes = b"", byte: int = 0, **facts: Any
) -> DataFormatError:
    """The error of that name at a place of a file; ``facts`` are what its sentence names."""
    sentences = _BOTH | (_CSV if "n_columns" in facts else _LIBSVM)
    shown = found.decode("utf-8", errors="ignore")
    sentence = sentences[what].format(found=shown, byte=byte, hex=found[:1].hex().upper(), **facts)
    return DataFormatError(f"{path}, {where}: {sentence}.")

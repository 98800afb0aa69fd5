"""Options about how a data file is read, the same for every command that reads one."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from .messages import UsageError

if TYPE_CHECKING:
    from ...io.readers import Source

_GROUP = Group("Reading the file", sort_key=10)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True)
class Reading:
    """How a data file is read. What is not given is taken from the model or detected."""

    target: Annotated[
        str | None, Parameter(help="The column to predict: its name, or its position (from 0, or -1).")
    ] = None
    format: Annotated[
        str | None, Parameter(help="csv, tsv, libsvm, parquet or npz; by default from the file's suffix.")
    ] = None
    names: Annotated[
        str | None,
        Parameter(help="Names of all columns of a file without a header: a,b,c, or @FILE with one per line."),
    ] = None
    header: Annotated[
        bool | None, Parameter(negative="--no-header", help="Whether the first line has the column names.")
    ] = None
    delimiter: Annotated[str | None, Parameter(help="Field separator: a character, or tab.")] = None
    missing: Annotated[str | None, Parameter(help="Values that mean missing, separated by commas.")] = None
    encoding: Annotated[
        str | None, Parameter(help="Encoding of a text file, such as latin-1 or shift_jis [utf-8].")
    ] = None
    decimal: Annotated[
        str | None,
        Parameter(help="Decimal sign of numbers in groups: , for 1.234,5 (or 1 234,5); . for 1,234.5."),
    ] = None
    words: Annotated[
        str | None, Parameter(help="Columns to read as categorical whatever they contain, such as zip,code.")
    ] = None
    numbers: Annotated[str | None, Parameter(help="Columns in which anything but a number is an error.")] = (
        None
    )
    drop: Annotated[str | None, Parameter(help="Columns to leave out, such as name,notes.")] = None
    id: Annotated[
        str | None, Parameter(help="Columns that name the rows: not features, and copied by predict.")
    ] = None
    array: Annotated[
        str | None, Parameter(help="The array of the features in an npz file [X, or X_train].")
    ] = None
    zero_based: Annotated[
        bool | None, Parameter(help="LIBSVM indices start at 0 instead of 1.", show_default=False)
    ] = None

    def options(self) -> dict[str, Any]:
        """What was given, as ``maxmargin.io.open_source`` takes it."""
        given = {
            "target": self.target,
            "format": self.format,
            "names": None if self.names is None else listed(self.names, "--names"),
            "header": self.header,
            "delimiter": "\t" if self.delimiter in ("tab", "\\t") else self.delimiter,
            "missing": None if self.missing is None else self.missing.split(","),
            "encoding": self.encoding,
            "decimal": self.decimal,
            "kinds": self._kinds() or None,
            "data": self.array,
            "drop": None if self.drop is None else listed(self.drop, "--drop"),
            "ids": None if self.id is None else listed(self.id, "--id"),
            "zero_based": self.zero_based,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _kinds(self) -> dict[str, str]:
        words = dict.fromkeys(listed(self.words or "", "--words"), "words")
        numbers = dict.fromkeys(listed(self.numbers or "", "--numbers"), "number")
        if both := sorted(words.keys() & numbers.keys()):
            raise UsageError(f"--words and --numbers both name {', '.join(both)}; name it in one of them.")
        return words | numbers

    def open(self, path: Path | list[Path]) -> Source:
        """The file, or several, read as these options say."""
        from ... import io

        return io.open_source(path, **self.options())

    def open_for(
        self, path: Path, model: Any, record: Mapping[str, Any] | None, *, target: bool = True
    ) -> Source:
        """The file, read as the training file of a model was except where these options say otherwise.

        With ``target=False`` the file may lack the target; if present, it is not a feature.
        """
        from ...evaluation import open_like_training

        return open_like_training(path, model, record, given=self.options(), with_target=target)


def listed(names: str, option: str, *, quoted: bool = False) -> list[str]:
    """``a,b,c`` or ``@FILE`` of an option: the names in a file are separated by commas or lines.

    With ``quoted`` each line is one of a CSV file: ``"height, cm",age`` are two names.
    """
    if not names.startswith("@"):
        return _names(names, quoted) if names else []
    file = Path(names[1:])
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{option} {names}: {file} cannot be read ({error.strerror})") from error
    return [name for line in text.splitlines() if line.strip() for name in _names(line, quoted)]


def _names(line: str, quoted: bool) -> list[str]:
    parts = next(csv.reader([line], skipinitialspace=True)) if quoted else line.split(",")
    return [name.strip() for name in parts]

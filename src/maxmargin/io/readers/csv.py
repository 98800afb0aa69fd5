"""CSV and TSV files: rows of named columns, of numbers or words."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import _native
from .table import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    Block,
    Column,
    DataFormatError,
    Kind,
    Words,
    join,
    rows_of_a_block,
)
from .text import (
    DataFile,
    Pieces,
    feed,
    text_error,
)

MAX_LABEL = 1000  # characters
ANY_NUMBER = 1 << 62
PADDING = 8  # columns a power of two apart would share few lines of the cache
_CODES = {"number": 0, "words": 1, "guess": 2, "skip": 3}


class CsvSource:
    """A CSV file that is open for reading; ``open_source`` makes one and states the rules.

    The kinds of columns that are not declared are found by one pass over the file, when they or the first
    block are asked for. ``read_all`` does without: it believes the first rows, and starts again where a
    later row contradicts them.
    """

    def __init__(
        self,
        file: DataFile,
        *,
        target: str | int | None,
        names: Sequence[str] | None,
        header: bool | None,
        delimiter: str | None,
        missing: Sequence[str],
        kinds: Mapping[str, Kind] | None,
    ) -> None:
        self._file, self.name = file, str(file.path)
        self._header = read_header(file, names, header, delimiter)
        self._missing = list(missing)
        self._position = find_target(file.path, target, self._header.names)
        self._names_given = names is not None
        self.declared = dict(kinds or {})  # what the caller says of columns
        self.fixed: frozenset[str] = frozenset()  # columns whose kind a model has decided
        self._kinds = self._declared(self.declared)

    def _declared(self, kinds: Mapping[str, Kind]) -> list[str]:
        """A kind or "guess" for each column; the target is one of words."""
        names = self._header.names
        for name, kind in kinds.items():
            if name not in names:
                raise DataFormatError(
                    f"{self.name}: kinds names a column {name!r} that the file does not have. "
                    f"{near(name, names)}"
                )
            if kind not in ("number", "words"):
                raise ValueError(f"kinds must be 'number' or 'words'; got {kind!r} for column {name!r}.")
        return ["words" if j == self._position else kinds.get(name, "guess") for j, name in enumerate(names)]

    @property
    def target(self) -> str | None:
        """Name of the target column."""
        return None if self._position is None else self._header.names[self._position]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, the target included, in the order of the file, which is not gone through."""
        return self._header.names

    @property
    def n_features(self) -> int:
        """Columns without the target."""
        return len(self._header.names) - (self._position is not None)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features; the file is gone through if their kinds are not known yet."""
        self._settle()
        kinds: Any = self._kinds
        pairs = enumerate(zip(self._header.names, kinds))
        return tuple(Column(name, kind) for j, (name, kind) in pairs if j != self._position)

    def options(self) -> dict[str, Any]:
        """What ``open_source`` needs in order to read another file as this one was read."""
        header: Header = self._header
        return {
            "format": "csv",
            "delimiter": header.delimiter,
            "header": header.given,
            "names": list(header.names) if self._names_given else None,
            "target": self.target,
            "missing": self._missing,
            "kinds": {column.name: column.kind for column in self.columns},
        }

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time; fewer where a block would take more than 64 MiB."""
        self._settle()
        return self._blocks(self._kinds, n_rows)

    def read_all(self) -> Block:
        """All rows, in one pass if the first rows tell the kinds of all columns."""
        if "guess" in self._kinds:
            kinds = self._guessed(whole=False)
            try:
                block = join(self._blocks(kinds, BLOCK_ROWS))
            except DataFormatError:
                self._settle()  # raises the same error, unless a later row has contradicted the first ones
            else:
                self._kinds = kinds
                return block
        return join(self._blocks(self._kinds, BLOCK_ROWS))

    def _settle(self) -> None:
        if "guess" in self._kinds:
            self._kinds = self._guessed(whole=True)

    def _guessed(self, whole: bool) -> list[str]:
        """The kinds with guesses from all rows, or from those of the first piece."""
        wanted = [kind if kind == "guess" else "skip" for kind in self._kinds]
        parser = self._parser(wanted)
        nothing = np.empty((0, 0)), np.empty((0, 0), dtype=np.int32)
        with self._pieces() as pieces:
            if whole:
                self._feed(parser, pieces, nothing, ANY_NUMBER)
            else:
                parser.feed(pieces.text, pieces.at_end, *nothing, ANY_NUMBER)
        kinds = list(self._kinds)
        for j in (j for j, kind in enumerate(kinds) if kind == "guess"):
            is_words, error = parser.guess(j)
            if whole and error is not None and not is_words:
                raise self._error(error, 0)
            kinds[j] = "words" if is_words else "number"
        return kinds

    def _parser(self, kinds: Sequence[str]) -> Any:
        codes = np.array([_CODES[kind] for kind in kinds], dtype=np.uint8)
        target = -1 if self._position is None else self._position
        delimiter, line = self._header.delimiter, self._header.line
        return _native.CsvParser(delimiter, codes, self._missing, target, line, BLOCK_BYTES)

    def _pieces(self) -> Any:
        return self._file.pieces(skip=self._header.n_bytes)

    def _feed(self, parser: Any, pieces: Pieces, out: tuple[np.ndarray, np.ndarray], n_rows: int) -> None:
        what = feed(parser, pieces, lambda text, at_end: parser.feed(text, at_end, *out, n_rows))
        if what == "long":
            limit = self._file.limits.max_row_bytes
            raise text_error(self._file.path, f"line {parser.line}", what, n_columns=0, max_row_bytes=limit)
        if what is not None:
            raise self._error(parser.error, pieces.offset)

    def _error(self, error: tuple, offset: int) -> DataFormatError:
        what, line, column, byte, count, found = error
        names = self._header.names
        where = f"line {line}, column {column + 1}" + (f" ({names[column]!r})" if column < len(names) else "")
        facts: dict[str, Any] = {
            "count": count,
            "n_columns": len(names),
            "delimiter": self._header.delimiter,
            **self._remedy(names[min(column, len(names) - 1)]),
        }
        return text_error(self._file.path, where, what, found=found, byte=offset + byte, **facts)

    def _remedy(self, name: str) -> dict[str, str]:
        """What to do about a value that is no number; what a model was trained with is no choice."""
        if name in self.fixed:
            return {"why": " that the model was trained with", "remedy": " or add it to `missing`"}
        words = f"kinds={{{name!r}: 'words'}}"
        return {"why": "", "remedy": f", add it to `missing` or declare the column as words: {words}"}

    def _blocks(self, kinds: Sequence[str], n_rows: int) -> Iterator[Block]:
        n_rows = rows_of_a_block(n_rows, len(kinds))
        parser, first = self._parser(kinds), 0
        with self._pieces() as pieces:
            while True:
                numbers = np.empty((kinds.count("number"), n_rows + PADDING))
                codes = np.empty((kinds.count("words"), n_rows + PADDING), dtype=np.int32)
                self._feed(parser, pieces, (numbers, codes), n_rows)
                if parser.n_rows == 0:
                    break
                yield self._block(kinds, parser, numbers, codes, first)
                first += parser.n_rows
                parser.next_block()
        if first == 0:
            raise DataFormatError(f"{self.name}: the file has a header and no rows; at least one is needed.")

    def _block(
        self, kinds: Sequence[str], parser: Any, numbers: np.ndarray, codes: np.ndarray, first: int
    ) -> Block:
        n_rows, features, target = parser.n_rows, {}, None
        number_rows, code_rows = iter(numbers[:, :n_rows]), iter(codes[:, :n_rows])
        for j, (name, kind) in enumerate(zip(self._header.names, kinds)):
            if kind == "number":
                features[name] = next(number_rows)
                continue
            words = Words(next(code_rows), tuple(parser.words(j)))
            if j == self._position:
                target = self._labels(words)
            else:
                features[name] = words
        return Block(features, target, first, n_rows)

    def _labels(self, words: Words) -> np.ndarray:
        longest = max(words.values, key=len)
        if len(longest) > MAX_LABEL:
            raise DataFormatError(
                f"{self.name}, column {self.target!r}: a label has {len(longest):,} characters; at most "
                f"{MAX_LABEL:,} are accepted. Is this the target?"
            )
        return np.array(words.values)[words.codes]


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

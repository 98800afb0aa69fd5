"""CSV and TSV files as blocks of named columns; the rules of the text are in ``csv_dialect``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ... import _native
from .csv_dialect import CSV_PROBLEMS, CsvHeader, advice_on_columns, one_group_each, read_header
from .errors import DataFormatError, unknown_column
from .table import (
    BLOCK_ROWS,
    MAX_BLOCK_BYTES,
    Block,
    Column,
    Kind,
    Words,
    find_target,
    join,
    rows_per_block,
    text_labels,
)
from .text import DataFile, Pieces, feed, long_row_error, text_error

UNLIMITED_ROWS = 1 << 62
ROWS_OF_A_LOOK = 1000
PART_BYTES = 1 << 17  # of text, the least for a thread of its own
COLUMN_PADDING = 8  # rows; columns a power of two apart would collide in the cache
_PARSER_CODES = {"number": 0, "words": 1, "guess": 2, "skip": 3}


class CsvSource:
    """A CSV file, open for reading; see ``open_source`` for the rules.

    The kinds of undeclared columns are found in one pass over the file, when they or the first block are
    asked for. ``read_all`` does without this pass: it guesses from the first rows, and starts again if a
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
        decimal: str | None = None,
        kinds: Mapping[str, Kind] | None,
    ) -> None:
        self._file, self.name = file, str(file.path)
        self._header = read_header(file, names, header, delimiter)
        self._missing, self._decimal = list(missing), decimal
        names_found = self._header.names
        self._position = find_target(file.path, target, names_found, advice_on_columns(names_found))
        self._names_given = names is not None
        self.declared = dict(kinds or {})  # kinds given by the caller
        self.fixed: frozenset[str] = frozenset()  # columns whose kind a trained model has fixed
        self._kinds = self._declared(self.declared)

    def _declared(self, kinds: Mapping[str, Kind]) -> list[str]:
        """A kind or "guess" for each column; the target is categorical."""
        names = self._header.names
        for name, kind in kinds.items():
            if name not in names:
                raise unknown_column(self.name, name, names)
            if kind not in ("number", "words"):
                raise ValueError(f"kinds must be 'number' or 'words'; got {kind!r} for column {name!r}.")
        return ["words" if j == self._position else kinds.get(name, "guess") for j, name in enumerate(names)]

    @property
    def target(self) -> str | None:
        """Name of the target column."""
        return None if self._position is None else self._header.names[self._position]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns in order, the target included; does not read the file."""
        return self._header.names

    @property
    def n_features(self) -> int:
        """Columns without the target."""
        return len(self._header.names) - (self._position is not None)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features; reads the file if their kinds are not known yet."""
        self._settle()
        kinds: Any = self._kinds
        pairs = enumerate(zip(self._header.names, kinds))
        return tuple(Column(name, kind) for j, (name, kind) in pairs if j != self._position)

    def options(self) -> dict[str, Any]:
        """Arguments with which ``open_source`` reads another file as this one was read."""
        header: CsvHeader = self._header
        given = {"encoding": self._file.encoding, "decimal": self._decimal}
        return {
            "format": "csv",
            "delimiter": header.delimiter,
            "header": header.given,
            "names": list(header.names) if self._names_given else None,
            "target": self.target,
            "missing": self._missing,
            "kinds": {column.name: column.kind for column in self.columns},
        } | {name: value for name, value in given.items() if value is not None}

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time; fewer if a block would take more than 64 MiB."""
        self._settle()
        return self._blocks(self._kinds, n_rows)

    def grouped_numbers(self) -> dict[str, list[str]]:
        """Columns of numbers such as 1.234 with a decimal comma, which may be decimals after all.

        In its first rows such a column has no value with a decimal sign or with two separators; given are its
        values with one.
        """
        if self._decimal is None:
            return {}
        numbers = [column.name for column in self.columns if column.kind == "number"]
        as_words: Any = next(self._blocks(["words"] * len(self._kinds), ROWS_OF_A_LOOK)).features
        found = {name: one_group_each(as_words[name].values, self._decimal) for name in numbers}
        return {name: values for name, values in found.items() if values}

    def read_all(self) -> Block:
        """All rows, in one pass if the first rows show the kinds of all columns."""
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
        """The kinds of all columns, guessed from all rows or from the first piece."""
        wanted = [kind if kind == "guess" else "skip" for kind in self._kinds]
        parser = self._parser(wanted)
        nothing = np.empty((0, 0)), np.empty((0, 0), dtype=np.int32)
        with self._pieces() as pieces:
            if whole:
                self._feed(parser, pieces, nothing, UNLIMITED_ROWS)
            else:
                parser.feed(pieces.text, pieces.at_end, *nothing, UNLIMITED_ROWS)
        kinds = list(self._kinds)
        for j in (j for j, kind in enumerate(kinds) if kind == "guess"):
            is_words, error = parser.guess(j)
            if whole and error is not None and not is_words:
                raise self._error(error, 0)
            kinds[j] = "words" if is_words else "number"
        return kinds

    def _parser(self, kinds: Sequence[str]) -> Any:
        codes = np.array([_PARSER_CODES[kind] for kind in kinds], dtype=np.uint8)
        target = -1 if self._position is None else self._position
        delimiter, line = self._header.delimiter, self._header.line
        rules = (self._missing, target, line, MAX_BLOCK_BYTES, self._decimal or "")
        return _native.CsvParser(delimiter, codes, *rules)

    def _pieces(self) -> Any:
        return self._file.pieces(skip=self._header.n_bytes)

    def _feed(self, parser: Any, pieces: Pieces, out: tuple[np.ndarray, np.ndarray], n_rows: int) -> None:
        n_threads = _native.effective_n_threads()
        what = feed(
            parser,
            pieces,
            lambda text, at_end: parser.feed(text, at_end, *out, n_rows, n_threads, PART_BYTES),
        )
        if what == "long":
            raise long_row_error(self._file.path, parser.line, self._file.limits)
        if what is not None:
            raise self._error(parser.error, pieces.offset)

    def _error(self, error: tuple, offset: int) -> DataFormatError:
        what, line, column, byte, count, found = error
        names = self._header.names
        name = names[column] if column < len(names) else None
        if name in self.fixed and f"trained {what}" in CSV_PROBLEMS:
            what = f"trained {what}"
        return text_error(
            self._file.path,
            what,
            CSV_PROBLEMS,
            line=line,
            column=column + 1,
            column_name=name,
            found=found,
            arguments={"missing": None, "kinds": {name: "words"}},
            byte=offset + byte,
            count=count,
            n_columns=len(names),
            delimiter=self._header.delimiter,
        )

    def _blocks(self, kinds: Sequence[str], n_rows: int) -> Iterator[Block]:
        n_rows = rows_per_block(n_rows, len(kinds))
        parser, first = self._parser(kinds), 0
        with self._pieces() as pieces:
            while True:
                numbers = np.empty((kinds.count("number"), n_rows + COLUMN_PADDING))
                codes = np.empty((kinds.count("words"), n_rows + COLUMN_PADDING), dtype=np.int32)
                self._feed(parser, pieces, (numbers, codes), n_rows)
                if parser.n_rows == 0:
                    break
                yield self._block(kinds, parser, numbers, codes, first)
                first += parser.n_rows
                parser.next_block()
        if first == 0:
            raise DataFormatError(
                "the file has a header and no rows", name=self.name, remedy="at least one row is needed"
            )

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
                target = text_labels(words, self.name, self.target)
            else:
                features[name] = words
        return Block(features, target, first, n_rows)

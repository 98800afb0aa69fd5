"""LIBSVM text: sparse rows, ``label index:value index:value ...``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ... import _native
from .errors import DataFormatError
from .table import BLOCK_ROWS, Block, Kind, join
from .text import DataFile, Pieces, feed, long_row_error, text_error

MAX_BLOCK_ENTRIES = 4 << 20
MAX_INT32 = (1 << 31) - 1
LABEL = "label"

# Errors in a row: the problem, and what to do.
LIBSVM_PROBLEMS = {
    "no label": (
        "{found!r} is where the label should be",
        "write rows as `label index:value index:value ...`",
    ),
    "several labels": (
        "{found!r} are several labels, but a row has one",
        "if the file is CSV, say so ({format})",
    ),
    "missing label": ("the label is missing: {found!r} stands for a missing value", "remove the row"),
    "qid": ("{found!r}: ranking data with query numbers is not supported", "remove the query numbers"),
    "no colon": (
        "{found!r} has no colon",
        "write index:value, or if the file is CSV, say so ({format})",
    ),
    "index": ("the index of {found!r} is not an integer", "write index:value"),
    "negative index": ("{found!r} has a negative index; indices are {first}, {second}, ...", "correct it"),
    "index 0": (
        "{found!r}: indices begin with 1",
        "if they begin with 0 in this file, say so ({zero_based})",
    ),
    "index too large": (
        "the index of {found!r} is too large",
        "at most 2147483647 features are accepted",
    ),
    "more features": (
        "{found!r} is outside the {n_features} features of the model, or of `n_features`",
        "remove the entry, or train with as many features",
    ),
    "repeated index": ("the index of {found!r} appears twice in the row", "keep one of them"),
    "index out of order": (
        "the index of {found!r} is smaller than the one before",
        "sort the entries of a row by index",
    ),
    "not a number": ("the value of {found!r} is not a number", "correct it"),
    "not finite": ("the value of {found!r} is not a finite number (within ±1.8e308)", "correct it"),
}


def whole_numbers(words: Sequence[str]) -> list[int] | None:
    """The strings as integers; None if one of them is not an integer that a double holds exactly."""
    numbers = []
    for word in words:
        try:
            number = float(word)
        except ValueError:
            return None
        if "_" in word or not word.isascii() or not (number.is_integer() and abs(number) <= 2.0**53):
            return None
        numbers.append(int(number))
    return numbers


class LibsvmSource:
    """A LIBSVM file, open for reading; see ``open_source`` for the rules.

    The number of features, and whether all labels are integers, are found in one pass over the file unless
    ``n_features`` and ``kinds={"label": ...}`` declare them.
    """

    columns = None
    target = LABEL

    def __init__(
        self,
        file: DataFile,
        *,
        n_features: int | None,
        zero_based: bool,
        missing: Sequence[str],
        kinds: Mapping[str, Kind] | None,
    ) -> None:
        self._file, self.name = file, str(file.path)
        self._zero_based, self._missing = zero_based, list(missing)
        self._n_features = n_features
        self._label_kind = dict(kinds or {}).get(LABEL)

    @property
    def n_features(self) -> int:
        """As declared, or the largest index in the file."""
        self._settle()
        assert self._n_features is not None
        return self._n_features

    def options(self) -> dict[str, Any]:
        """Arguments with which ``open_source`` reads another file as this one was read."""
        self._settle()
        return {
            "format": "libsvm",
            "n_features": self._n_features,
            "zero_based": self._zero_based,
            "missing": self._missing,
            "kinds": {LABEL: self._label_kind},
        } | ({} if self._file.encoding is None else {"encoding": self._file.encoding})

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time, fewer if they have more than four million entries."""
        self._settle()
        for block, labels, _ in self._parsed(n_rows):
            yield self._labelled(block, labels)

    def read_all(self) -> Block:
        """All rows, in one pass."""
        parts = list(self._parsed(BLOCK_ROWS))
        self._note([labels for _, labels, _ in parts], parts[-1][2])
        return join([self._labelled(block, labels) for block, labels, _ in parts])

    def _settle(self) -> None:
        if self._n_features is None or self._label_kind is None:
            seen = [(labels, n_columns) for _, labels, n_columns in self._parsed(BLOCK_ROWS)]
            self._note([labels for labels, _ in seen], seen[-1][1])

    def _note(self, seen: list[list[str]], n_columns: int) -> None:
        if self._n_features is None:
            self._n_features = n_columns
        if self._label_kind is None:
            whole = all(whole_numbers(labels) is not None for labels in seen)
            self._label_kind = "number" if whole else "words"

    def _labelled(self, block: Block, labels: list[str]) -> Block:
        """The block with its final width, and labels in place of their codes."""
        codes = block.target
        assert codes is not None
        values = np.array(labels)
        if self._label_kind == "number":
            numbers = whole_numbers(labels)
            if numbers is None:
                wrong = next(label for label in labels if whole_numbers([label]) is None)
                raise DataFormatError(
                    f"the label {wrong!r} is not an integer, but labels were declared numeric",
                    name=self.name,
                    remedy="declare them categorical ({kinds})",
                    arguments={"kinds": {LABEL: "words"}},
                )
            values = np.array(numbers, dtype=np.int64)
        parts: Any = block.features
        data, indices, starts = parts
        wide = len(data) > MAX_INT32
        kind = np.int64 if wide else np.int32
        parts = data, indices.astype(kind, copy=False), starts.astype(kind, copy=False)
        X = sparse.csr_matrix(parts, shape=(block.n_rows, self.n_features))
        return Block(X, values[codes], block.first_row, block.n_rows)

    def _parsed(self, n_rows: int) -> Iterator[tuple[Block, list[str], int]]:
        """Blocks with CSR parts and codes of labels; the labels; the number of columns seen so far."""
        width = MAX_INT32 if self._n_features is None else self._n_features
        first_index, first = 0 if self._zero_based else 1, 0
        parser = _native.LibsvmParser(first_index, width, self._missing, 1, MAX_BLOCK_ENTRIES)
        with self._file.pieces() as pieces:
            while True:
                self._feed(parser, pieces, n_rows)
                if parser.n_rows == 0:
                    break
                data, indices, starts, codes = parser.arrays()
                block = Block((data, indices, starts), codes, first, parser.n_rows)
                yield block, parser.labels(), parser.n_columns_seen
                first += parser.n_rows
                parser.next_block()
        if first == 0:
            raise DataFormatError("the file has no rows", name=self.name, remedy="at least one is needed")

    def _feed(self, parser: Any, pieces: Pieces, n_rows: int) -> None:
        what = feed(parser, pieces, lambda text, at_end: parser.feed(text, at_end, n_rows))
        if what == "long":
            raise long_row_error(self._file.path, parser.line, self._file.limits)
        if what is not None:
            _, line, column, byte, _, found = parser.error
            raise text_error(
                self._file.path,
                what,
                LIBSVM_PROBLEMS,
                line=line,
                column=column,
                found=found,
                arguments={"format": "csv", "zero_based": True},
                byte=pieces.offset + byte,
                n_features=self._n_features,
                first=1 - self._zero_based,
                second=2 - self._zero_based,
            )

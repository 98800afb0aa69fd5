"""LIBSVM text: sparse rows, ``label index:value index:value ...``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ... import _native
from .table import (
    BLOCK_ROWS,
    Block,
    DataFormatError,
    Kind,
    join,
)
from .text import (
    DataFile,
    Pieces,
    feed,
    text_error,
)

BLOCK_ENTRIES = 4 << 20
ANY_NUMBER = (1 << 31) - 1
LABEL = "label"


def whole_numbers(words: Sequence[str]) -> list[int] | None:
    """The words as integers; None if one of them is no whole number that a double holds exactly."""
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
    """A LIBSVM file that is open for reading; ``open_source`` makes one and states the rules.

    How many features there are, and whether all labels are whole numbers, is found by one pass over the file
    where it is not declared by ``n_features`` and ``kinds={"label": ...}``.
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
        """As declared, or the largest index of the file."""
        self._settle()
        assert self._n_features is not None
        return self._n_features

    def options(self) -> dict[str, Any]:
        """What ``open_source`` needs in order to read another file as this one was read."""
        self._settle()
        return {
            "format": "libsvm",
            "n_features": self._n_features,
            "zero_based": self._zero_based,
            "missing": self._missing,
            "kinds": {LABEL: self._label_kind},
        }

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time, fewer where they have more than four million entries."""
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
        """The block with its final width and its labels in place of their codes."""
        codes = block.target
        assert codes is not None
        values = np.array(labels)
        if self._label_kind == "number":
            numbers = whole_numbers(labels)
            if numbers is None:
                wrong = next(label for label in labels if whole_numbers([label]) is None)
                raise DataFormatError(
                    f"{self.name}: the label {wrong!r} is no whole number, as labels were declared to be; "
                    "kinds={'label': 'words'} takes labels as they are written."
                )
            values = np.array(numbers, dtype=np.int64)
        parts: Any = block.features
        data, indices, starts = parts
        wide = len(data) > ANY_NUMBER
        kind = np.int64 if wide else np.int32
        parts = data, indices.astype(kind, copy=False), starts.astype(kind, copy=False)
        X = sparse.csr_matrix(parts, shape=(block.n_rows, self.n_features))
        return Block(X, values[codes], block.first_row, block.n_rows)

    def _parsed(self, n_rows: int) -> Iterator[tuple[Block, list[str], int]]:
        """Blocks with the parts of CSR and the labels' codes; the labels; columns that were seen so far."""
        width = ANY_NUMBER if self._n_features is None else self._n_features
        first_index, first = 0 if self._zero_based else 1, 0
        parser = _native.LibsvmParser(first_index, width, self._missing, 1, BLOCK_ENTRIES)
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
            raise DataFormatError(f"{self.name}: the file has no rows; at least one is needed.")

    def _feed(self, parser: Any, pieces: Pieces, n_rows: int) -> None:
        what = feed(parser, pieces, lambda text, at_end: parser.feed(text, at_end, n_rows))
        if what == "long":
            limit = self._file.limits.max_row_bytes
            raise text_error(self._file.path, f"line {parser.line}", what, max_row_bytes=limit)
        if what is not None:
            _, line, column, byte, _, found = parser.error
            facts = {
                "n_features": self._n_features,
                "first": 1 - self._zero_based,
                "second": 2 - self._zero_based,
            }
            where = f"line {line}, column {column}"
            raise text_error(self._file.path, where, what, found=found, byte=pieces.offset + byte, **facts)

"""Sources whose targets are numbers, or are ignored."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...data import ParameterError
from ...io.readers import BLOCK_ROWS, Block, Source, read_all

__all__ = ["IgnoredTarget", "NumberTarget", "number_of", "numbers_of"]

INLIER = 1
# Digits in groups of three, as readers of text files take them: {0} separates groups, {1} decimals.
_WRITTEN = r"[-+]?(\d*|[1-9]\d{{0,2}}(?:(?P<group>[{0} '\u00a0\u202f\u2019])\d{{3}})(?:(?P=group)\d{{3}})*)"
_WRITTEN += r"(?:{1}\d*)?(?:[eE][-+]?\d+)?"
_PATTERNS = {
    decimal: re.compile(_WRITTEN.format(re.escape("." if decimal == "," else ","), re.escape(decimal)))
    for decimal in (",", ".")
}


def number_of(text: str, decimal: str | None = None) -> float | None:
    """The finite number that a text is, with this decimal sign; None if it is not one."""
    plain = text.strip()
    if decimal is not None:
        if not _PATTERNS[decimal].fullmatch(plain):
            return None
        kept = re.sub(rf"[^-+0-9eE{decimal}]", "", plain)
        plain = kept.replace(decimal, ".")
    elif not plain.isascii() or "_" in plain:
        return None
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def numbers_of(target: Any, name: str, first_row: int = 0, decimal: str | None = None) -> np.ndarray:
    """The targets of a block as float64; refused is the first that is not a finite number.

    Parameters
    ----------
    target : array of numbers or texts
    name : str
        The file.
    first_row : int
        The number of the first row.
    decimal : {",", "."}, optional
        As ``open_source`` takes it.
    """
    given = np.asarray(target)
    if given.dtype.kind in "iuf":
        out = given.astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(out))
    else:
        distinct = {value: _number(value, decimal) for value in set(given.tolist())}
        found = [distinct[value] for value in given.tolist()]
        wrong = np.flatnonzero([value is None for value in found])
        out = np.array([math.nan if value is None else value for value in found], dtype=np.float64)
    if len(wrong):
        raise _refusal(given[wrong[0]], name, first_row + int(wrong[0]), decimal)
    return out


def _number(value: Any, decimal: str | None) -> float | None:
    if isinstance(value, str):
        return number_of(value, decimal)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _refusal(value: Any, name: str, row: int, decimal: str | None) -> ParameterError:
    """The error of a target that is not a number."""
    value = value.item() if isinstance(value, np.generic) else value
    where = f"{name}: row {row}, counted from 0, has"
    if value is None or value != value or value == "":
        return ParameterError(f"{where} no target; remove rows without a target.")
    said = f"{where} the target {value!r}, which is not a finite number."
    other = "," if decimal is None or decimal == "." else "."
    if isinstance(value, str) and number_of(value, other) is not None:
        return ParameterError(said, "If that is its decimal sign, give it ({decimal}).", decimal=other)
    return ParameterError(
        said, "Correct it, or train a classifier ({task}) if targets are classes.", task="classification"
    )


class NumberTarget:
    """A source whose targets are numbers.

    Parameters
    ----------
    source : Source
        With a target.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def __getattr__(self, name: str) -> Any:
        if name == "source":
            raise AttributeError(name)
        return getattr(self.source, name)

    def options(self) -> dict[str, Any]:
        """How another file is read in the same way; labels of LIBSVM text need not be integers."""
        options = self.source.options()
        return options | {"kinds": {"label": "words"}} if options.get("format") == "libsvm" else options

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time."""
        for block in self.source.blocks(n_rows):
            yield self._with_numbers(block)

    def read_all(self) -> Block:
        """All rows."""
        return self._with_numbers(read_all(self.source))

    def _with_numbers(self, block: Block) -> Block:
        if block.target is None:
            return block
        decimal = self.source.options().get("decimal")
        return replace(block, target=numbers_of(block.target, self.source.name, block.first_row, decimal))


class IgnoredTarget:
    """A source whose rows are all alike: the target, if there is one, is neither a feature nor looked at."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def __getattr__(self, name: str) -> Any:
        if name == "source":
            raise AttributeError(name)
        return getattr(self.source, name)

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, at most ``n_rows`` at a time."""
        for block in self.source.blocks(n_rows):
            yield replace(block, target=np.full(block.n_rows, INLIER))

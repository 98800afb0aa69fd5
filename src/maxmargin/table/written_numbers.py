"""Columns of words that a person would take for numbers: said, not changed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping

from .preparation import TablePreparation, TableWarning

__all__ = ["warn_of_written_numbers"]

LOOKED_AT = 1000  # different words of a column
MOST = 0.9  # of the rows looked at, from which on a column is one of numbers with exceptions
SHOWN = 3
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WRITTEN = re.compile(
    r"[-+]?\s?[$€£¥₹]?\s?[-+]?(\d{1,3}([,.'’ \u00a0\u202f]\d{3})+|\d+)([.,]\d+)?\s?[%$€£¥₹]?"
)


def warn_of_written_numbers(preparation: TablePreparation, declared: Collection[str] = ()) -> None:
    """A ``TableWarning`` for each column of words whose values look like numbers, unless declared as words.

    Parameters
    ----------
    preparation : TablePreparation
        Fitted to rows, not read from a model file.
    declared : collection of str
        Columns that somebody has said are of words.
    """
    names = preparation.kinds_
    for place, words in preparation._running.words.items():
        name = list(names)[place]
        if name not in declared and (text := _odd(name, words.counts)):
            warnings.warn(text, TableWarning, stacklevel=2)


def _odd(name: str, counts: Mapping[str, int]) -> str | None:
    looked_at = dict(list(counts.items())[:LOOKED_AT])
    plain = [word for word in looked_at if _PLAIN.fullmatch(word)]
    written = [word for word in looked_at if not _PLAIN.fullmatch(word) and _WRITTEN.fullmatch(word)]
    other = [word for word in looked_at if not _WRITTEN.fullmatch(word) and not _PLAIN.fullmatch(word)]
    n_rows = sum(looked_at.values())
    n_numbers = n_rows - sum(looked_at[word] for word in other)
    if n_numbers < MOST * n_rows or not (plain or written):
        return None
    if written:
        return (
            f"column {name!r} is taken as words, and looks like numbers written for people: "
            f"{_shown(written)}. Write {_shown(written[:1])} as a plain number, without signs and "
            f"separators and with a decimal point, or declare the column: kinds={{{name!r}: 'words'}}."
        )
    return (
        f"column {name!r} is taken as words, and has numbers in {n_numbers:,} of {n_rows:,} rows: the others "
        f"are {_shown(other)}. Add these to `missing` if they stand for missing values, or declare the "
        f"column: kinds={{{name!r}: 'words'}}."
        if other
        else None
    )


def _shown(words: list[str]) -> str:
    return ", ".join(repr(word[:40]) for word in words[:SHOWN]) + (", ..." if len(words) > SHOWN else "")

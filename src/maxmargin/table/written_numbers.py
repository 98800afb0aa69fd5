"""Categorical columns that a person would read as numbers: a warning, no change."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping

from .preparation import TablePreparation, TableWarning

__all__ = ["warn_of_written_numbers"]

MAX_VALUES_CHECKED = 1000  # different values of a column
MIN_SHARE_OF_NUMBERS = 0.9  # of the rows checked, from which on a column is numeric with exceptions
MAX_VALUES_SHOWN = 3
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WRITTEN = re.compile(
    r"[-+]?\s?[$€£¥₹]?\s?[-+]?(\d{1,3}([,.'’ \u00a0\u202f]\d{3})+|\d+)([.,]\d+)?\s?[%$€£¥₹]?"
)


def warn_of_written_numbers(preparation: TablePreparation, declared: Collection[str] = ()) -> None:
    """Warn of each categorical column whose values look like numbers, unless it is declared.

    Parameters
    ----------
    preparation : TablePreparation
        Fitted to rows, not read from a model file.
    declared : collection of str
        Columns whose kind the caller has declared.
    """
    names = preparation.kinds_
    for place, words in preparation._running.words.items():
        name = list(names)[place]
        if name not in declared and (warning := _warning(name, words.counts)):
            warnings.warn(warning, stacklevel=2)


def _warning(name: str, counts: Mapping[str, int]) -> TableWarning | None:
    looked_at = dict(list(counts.items())[:MAX_VALUES_CHECKED])
    plain = [word for word in looked_at if _PLAIN.fullmatch(word)]
    written = [word for word in looked_at if not _PLAIN.fullmatch(word) and _WRITTEN.fullmatch(word)]
    other = [word for word in looked_at if not _WRITTEN.fullmatch(word) and not _PLAIN.fullmatch(word)]
    n_rows = sum(looked_at.values())
    n_numbers = n_rows - sum(looked_at[word] for word in other)
    if n_numbers < MIN_SHARE_OF_NUMBERS * n_rows or not (plain or written):
        return None
    if written:
        return TableWarning(
            f"column {name!r} is read as categorical, but looks like formatted numbers: {_shown(written)}. "
            f"Write {_shown(written[:1])} as a plain number, without signs and separators and with a decimal "
            "point,",
            "or declare the column as categorical ({kinds}).",
            kinds={name: "words"},
        )
    if not other:
        return None
    return TableWarning(
        f"column {name!r} is read as categorical, but {n_numbers:,} of {n_rows:,} rows have numbers; the "
        f"others have {_shown(other)}.",
        "Add these to {missing} if they stand for missing values, or declare the column as categorical "
        "({kinds}).",
        missing=None,
        kinds={name: "words"},
    )


def _shown(words: list[str]) -> str:
    return ", ".join(repr(word[:40]) for word in words[:MAX_VALUES_SHOWN]) + (
        ", ..." if len(words) > MAX_VALUES_SHOWN else ""
    )

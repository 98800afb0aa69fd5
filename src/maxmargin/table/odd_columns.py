"""Columns of words that a person would read as numbers or as dates: a warning, no change."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from .preparation import TablePreparation, TableWarning
from .statistics import RunningWords
from .written_dates import (
    LAST_YEAR,
    PIVOT_YEAR,
    are_seasons,
    date_values,
    has_short_year,
    order_matters,
)

__all__ = ["warn_of_odd_columns"]

MAX_VALUES_CHECKED = 1000  # different values of a column
MIN_SHARE_OF_NUMBERS = (
    0.9  # of the rows checked, from which on a column is numeric, or of dates, with exceptions
)
MAX_VALUES_SHOWN = 3
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WRITTEN = re.compile(
    r"[-+]?\s?[$€£¥₹]?\s?[-+]?(\d{1,3}([,.'’ \u00a0\u202f]\d{3})+|\d+)([.,]\d+)?\s?[%$€£¥₹]?"
)

_FORMS = {
    ",": re.compile(r"[-+]?([1-9]\d{0,2}([. '’\u00a0\u202f]\d{3})+|\d+)(,\d+)?"),
    ".": re.compile(r"[-+]?([1-9]\d{0,2}([, '’\u00a0\u202f]\d{3})+|\d+)(\.\d+)?"),
}


def warn_of_odd_columns(
    preparation: TablePreparation,
    declared: Collection[str] = (),
    grouped: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """Warn of each column that may be meant otherwise than it is read, unless it is declared.

    These are columns of words whose values look like numbers, dates that have two meanings, and numbers with
    one separator that may be a decimal sign.

    Parameters
    ----------
    preparation : TablePreparation
        Fitted to rows, not read from a model file.
    declared : collection of str
        Columns whose kind the caller has declared.
    grouped : mapping of str to sequence of str
        Columns of numbers whose values have one separator and no decimal sign, with some of these.
    """
    names = preparation.kinds_
    for place, words in preparation._running.words.items():
        name = list(names)[place]
        if name in declared or name in (preparation.roles or {}):
            continue
        first = _warning(name, words.counts) or _dates_warning(name, words)
        for warning in (first, _far_dates_warning(name, words), _short_years_warning(name, words)):
            if warning is not None:
                warnings.warn(warning, stacklevel=2)
    for name in [name for name in grouped if name in names and name not in declared]:
        warnings.warn(_grouped_warning(name, grouped[name]), stacklevel=2)


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
        kinds = {name: "words"}
        looks = (
            f"column {name!r} is read as categorical, but looks like formatted numbers: {_shown(written)}."
        )
        if decimal := _decimal_sign([*plain, *written]):
            advice = "Give the decimal sign ({decimal}), or declare the column as categorical ({kinds})."
            return TableWarning(looks, advice, decimal=decimal, kinds=kinds)
        return TableWarning(
            f"{looks} Write {_shown(written[:1])} as a plain number, without signs and separators and with a "
            "decimal point,",
            "or declare the column as categorical ({kinds}).",
            kinds=kinds,
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


def _decimal_sign(numbers: list[str]) -> str | None:
    """The decimal sign by which all of these are numbers; None where there is none, or both would do."""
    fits = [sign for sign, form in _FORMS.items() if all(form.fullmatch(number) for number in numbers)]
    return fits[0] if len(fits) == 1 else None


def _dates_warning(name: str, words: RunningWords) -> TableWarning | None:
    """Of dates whose order of day and month is a guess, and of columns with dates and something else."""
    looked_at = dict(list(words.counts.items())[:MAX_VALUES_CHECKED])
    if words.dates is not None and words.dates.is_ambiguous:
        some = [word for word in looked_at if order_matters(word)]
        return TableWarning(
            f"column {name!r} has dates of which the text does not tell whether the day or the month comes "
            f"first: {_shown(some)}. They are read with the month first.",
            "Write them as 2026-12-31, or declare the column as categorical ({kinds}).",
            kinds={name: "words"},
        )
    if words.are_dates or are_seasons(looked_at):
        return None
    texts = list(looked_at)
    odd = np.minimum(*(np.isnan(date_values(texts, order)[:, 0]) for order in (False, True)))
    n_rows, n_odd = sum(looked_at.values()), sum(looked_at[texts[k]] for k in np.flatnonzero(odd).tolist())
    if n_odd > (1.0 - MIN_SHARE_OF_NUMBERS) * n_rows:
        return None
    if not n_odd:
        return TableWarning(
            f"column {name!r} has dates with the day first and dates with the month first, such as "
            f"{_shown([text for text in texts if order_matters(text)])}, and is read as words.",
            "Write them in one order, such as 2026-12-31, or declare the column as categorical ({kinds}).",
            kinds={name: "words"},
        )
    return TableWarning(
        f"column {name!r} is read as words, but {n_rows - n_odd:,} of {n_rows:,} rows have dates; the others "
        f"have {_shown([texts[k] for k in np.flatnonzero(odd).tolist()])}.",
        "Add these to {missing} if they stand for missing values, or declare the column as categorical "
        "({kinds}).",
        missing=None,
        kinds={name: "words"},
    )


def _grouped_warning(name: str, values: Sequence[str]) -> TableWarning:
    separator = "." if "." in values[0] else ","
    plain = values[0].replace(separator, "")
    return TableWarning(
        f"column {name!r} has numbers with one {separator!r} and no decimal sign: {_shown(list(values))}. "
        f"The sign separates groups of three digits, so {values[0]!r} is read as {plain}.",
        "If it is the decimal sign, give it ({decimal}); if not, declare the column as numeric ({kinds}).",
        decimal=separator,
        kinds={name: "number"},
    )


def _far_dates_warning(name: str, words: RunningWords) -> TableWarning | None:
    """Of dates such as 9999-12-31 among others."""
    if words.dates is None or not words.are_dates or not words.dates.far:
        return None
    return TableWarning(
        f"column {name!r} has dates after the year {LAST_YEAR} in {words.dates.n_far:,} row(s): "
        f"{_shown(sorted(words.dates.far))}. They count as missing.",
        "Add these to {missing}, or declare the column as categorical ({kinds}).",
        missing=None,
        kinds={name: "words"},
    )


def _short_years_warning(name: str, words: RunningWords) -> TableWarning | None:
    """Of dates whose century is a guess."""
    short = [word for word in words.counts if has_short_year(word)] if words.are_dates else []
    if not short or words.dates is None:
        return None
    year = int(date_values(short[:1], bool(words.dates.day_first))[0, 0])
    return TableWarning(
        f"column {name!r} has dates with two digits of the year: {_shown(short)}. The first of them is read "
        f"as of {year} ({PIVOT_YEAR} to 99 are 19{PIVOT_YEAR} to 1999, 00 to {PIVOT_YEAR - 1} are 2000 to "
        f"20{PIVOT_YEAR - 1}).",
        "Write the whole year, or declare the column as categorical ({kinds}).",
        kinds={name: "words"},
    )


def _shown(words: list[str]) -> str:
    return ", ".join(repr(word[:40]) for word in words[:MAX_VALUES_SHOWN]) + (
        ", ..." if len(words) > MAX_VALUES_SHOWN else ""
    )

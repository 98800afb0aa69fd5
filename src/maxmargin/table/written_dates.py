"""Dates written as text: the forms that are read, and the numbers that a date becomes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

import numpy as np

__all__ = [
    "PARTS",
    "are_seasons",
    "common_order",
    "date_values",
    "days_of",
    "has_short_year",
    "is_far",
    "iso_date",
    "order_matters",
]

PARTS = ("year", "month", "weekday", "hour", "days")  # days since 1970-01-01, in UTC where a zone is written
EPOCH = date(1970, 1, 1).toordinal()
PIVOT_YEAR = 69  # two digits from here on are 1969 to 1999, as in POSIX
FIRST_YEAR, LAST_YEAR = 1500, 2200  # of dates
MAX_FAR_DATES = 3  # different values beyond the last year, such as 9999-12-31, that stand for a missing date
MAX_LENGTH = 48  # characters; a longer text is no date
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = (
    r"(?:[T ] ?(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])[Mm])?(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?"
)
_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday),? )?"
_YEAR_FIRST = re.compile(
    r"(?P<y>\d{4})(?:(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<d>\d{1,2})"
    r"|年 ?(?P<m2>\d{1,2})月 ?(?P<d2>\d{1,2})日)" + _TIME
)
_YEAR_AND_MONTH = re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})")
_YEAR_LAST = re.compile(r"(?P<a>\d{1,2})(?P<sign>[-/.])(?P<b>\d{1,2})(?P=sign)(?P<y>\d{4}|\d{2})" + _TIME)
_NAMED = re.compile(
    rf"{_WEEKDAY}(?:(?P<d>\d{{1,2}})[ -]{_NAME}[ -]"
    rf"|{_NAME.replace('<name>', '<name2>')} (?P<d2>\d{{1,2}}),? )"
    r"(?P<y>\d{4})" + _TIME,
    re.IGNORECASE,
)


def date_values(texts: Sequence[str], day_first: bool) -> np.ndarray:
    """The parts of each date, one row a text; NaN where a text is not a date of the years 1500 to 2200.

    Year, month, weekday (0 is Monday) and hour are those written; days are counted in UTC.

    Parameters
    ----------
    texts : sequence of str
    day_first : bool
        Whether 01/02/2026 is the first of February.

    Returns
    -------
    ndarray of shape (n_texts, 5)
    """
    out = np.full((len(texts), len(PARTS)), np.nan)
    for i, text in enumerate(texts):
        found = _parts(text, day_first)
        if found is not None and FIRST_YEAR <= found[0] <= LAST_YEAR:
            out[i] = found
    return out


def days_of(texts: Sequence[str], day_first: bool) -> np.ndarray:
    """Days since 1970-01-01 of each date, in UTC; NaN where a text is not a date.

    Parameters
    ----------
    texts : sequence of str
    day_first : bool
        As :func:`common_order` finds it.

    Returns
    -------
    ndarray of shape (n_texts,)

    Examples
    --------
    >>> from maxmargin.table import days_of
    >>> days_of(["1970-01-03", "04/01/1970", "soon"], day_first=True).tolist()
    [2.0, 3.0, nan]
    """
    return date_values(texts, day_first)[:, PARTS.index("days")]


def is_far(text: str, day_first: bool) -> bool:
    """Whether a text is a date beyond the last year, such as 9999-12-31."""
    found = _parts(text, day_first)
    return found is not None and found[0] > LAST_YEAR


def are_seasons(texts: Iterable[str]) -> bool:
    """Whether all texts are a year and the next one, such as 2001-02, rather than a year and a month."""
    found = (_YEAR_AND_MONTH.fullmatch(text.strip()) for text in texts)
    return all(match and (int(match["y"]) + 1) % 100 == int(match["m"]) for match in found)


def common_order(texts: Sequence[str], later: Sequence[str] = ()) -> bool | None:
    """Whether the day comes first in these dates; None if they are not all dates.

    Of two possible orders it is one in which the later texts are dates too, and the month first of equals.

    Parameters
    ----------
    texts : sequence of str
        Different values of a column.
    later : sequence of str
        Of the same column in another file.

    Returns
    -------
    bool or None

    Examples
    --------
    >>> from maxmargin.table import common_order
    >>> common_order(["01/02/2026", "13/02/2026"]), common_order(["01/02/2026"]), common_order(["soon"])
    (True, False, None)
    """
    possible = [] if are_seasons(texts) else [order for order in (False, True) if _all_dates(texts, order)]
    return min(possible, key=lambda order: not _all_dates(later, order)) if possible else None


def _all_dates(texts: Sequence[str], day_first: bool) -> bool:
    odd = np.flatnonzero(np.isnan(date_values(texts, day_first)[:, 0])).tolist()
    return (
        (not odd or len(odd) < len(texts))
        and len(odd) <= MAX_FAR_DATES
        and all(is_far(texts[k], day_first) for k in odd)
    )


def has_short_year(text: str) -> bool:
    """Whether a date is written with two digits of the year."""
    found = _YEAR_LAST.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    return found is not None and len(found["y"]) == 2


def iso_date(values: Sequence[float]) -> str:
    """The parts of a date as 2026-02-01, with the time of day unless it is midnight: 2026-02-01 18:30.

    Day and time are those written: the weekday shows which day that was where UTC had another one.
    """
    weekday, hours, days = values[2], min(max(values[3], 0.0), 24.0), values[4]
    place = round(min(max(days - hours / 24.0 + EPOCH, 1.0), float(date.max.toordinal())))
    apart = (round(weekday) - date.fromordinal(place).weekday() + 3) % 7 - 3
    if abs(apart) == 1 and 1 <= place + apart <= date.max.toordinal():
        place += apart
    minutes, seconds = divmod(round(3600.0 * hours), 60)
    time = f" {minutes // 60:02d}:{minutes % 60:02d}" + (f":{seconds:02d}" if seconds else "")
    return date.fromordinal(place).isoformat() + (time if minutes or seconds else "")


def order_matters(text: str) -> bool:
    """Whether a date has its day and its month in an order that the text does not tell."""
    found = _YEAR_LAST.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    return found is not None and found["sign"] != "." and found["a"] != found["b"]


def _parts(text: str, day_first: bool) -> tuple[float, ...] | None:
    if len(text) > MAX_LENGTH:
        return None
    text = text.strip()
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = int(found["y"]), int(found["m"] or found["m2"]), int(found["d"] or found["d2"])
    elif found := _YEAR_LAST.fullmatch(text):
        if len(found["y"]) == 2 and found["sign"] != "/":  # 1.2.10 is the number of a version
            return None
        a, b, year = int(found["a"]), int(found["b"]), _whole_year(found["y"])
        day, month = (a, b) if day_first or found["sign"] == "." else (b, a)
    elif found := _NAMED.fullmatch(text):
        year, day = int(found["y"]), int(found["d"] or found["d2"])
        month = 1 + MONTHS.index((found["name"] or found["name2"])[:3].lower())
    elif found := _YEAR_AND_MONTH.fullmatch(text):
        return _numbers(int(found["y"]), int(found["m"]), 1, 0.0, 0.0)
    else:
        return None
    hours = _hours(found)
    return None if hours is None else _numbers(year, month, day, hours, _zone_hours(found["zone"]))


def _numbers(year: int, month: int, day: int, hours: float, zone: float) -> tuple[float, ...] | None:
    try:
        written = date(year, month, day)
    except ValueError:  # such as the 30th of February
        return None
    days = written.toordinal() - EPOCH + (hours - zone) / 24.0
    return float(year), float(month), float(written.weekday()), hours, days


def _whole_year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (1900 if year >= PIVOT_YEAR else 2000)


def _hours(found: re.Match[str]) -> float | None:
    """Hours since midnight; None for a time that does not exist."""
    if found["H"] is None:
        return 0.0
    hour, minute = int(found["H"]), int(found["M"])
    second = int(found["S"] or 0) + float(f"0.{found['f'] or 0}")
    if found["half"] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"] in "Pp" else 0)
    if hour > 24 or minute > 59 or second >= 61.0 or (hour == 24 and (minute or second)):
        return None
    return hour + minute / 60.0 + second / 3600.0


def _zone_hours(zone: str | None) -> float:
    if zone is None or zone[0] not in "+-":
        return 0.0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (-1.0 if zone[0] == "-" else 1.0) * (int(digits[:2]) + int(digits[2:]) / 60.0)

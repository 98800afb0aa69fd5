"""Text of data sets made safe to look at, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from unicodedata import category, east_asian_width

MAX_DATUM_LENGTH = 48  # characters of a word that are shown
MAX_TITLE_LENGTH = 1_000  # of those that appear when one points at it
HIDDEN = frozenset(
    ("Cc", "Cf", "Cn", "Cs", "Co", "Zl", "Zp")
)  # categories that show nothing, or turn text around
WIDE = frozenset("<=>+−%@mwMWOQDHNU")
SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def visible(text: str) -> str:
    r"""The text with everything that cannot be seen written as ``\n``, ``\x00``, ``\u202e``.

    Control characters, marks that change the direction of writing, characters of no width, half surrogates:
    none of them reaches the page.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if category(c) in HIDDEN else c for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def shortened(text: str, longest: int = MAX_DATUM_LENGTH) -> tuple[str, str | None]:
    """The text, and None; or its beginning, and for a title as much of it as is reasonable."""
    text = visible(text[: 4 * MAX_TITLE_LENGTH]) + ("" if len(text) <= 4 * MAX_TITLE_LENGTH else " …")
    if len(text) <= longest:
        return text, None
    whole = text if len(text) <= MAX_TITLE_LENGTH else text[:MAX_TITLE_LENGTH] + " …"
    return text[: longest - 1].rstrip() + "…", whole


def number(value: Any, digits: int = 4) -> str:
    """Up to ``digits`` digits: 32,561; 0.8513; 1.2 × 10⁻⁵."""
    if value is None:
        return "–"
    value = float(value)
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == round(value) and abs(value) < 1e15:
        return _minus(f"{value:,.0f}")
    if 1e-3 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{float(f'{value:.{digits}g}'):,.{decimals}f}"
        return _minus(text.rstrip("0").rstrip(".") if "." in text else text)
    return power(value, min(digits, 3))


def power(value: float, digits: int = 2) -> str:
    """``1.2 × 10⁻⁵``."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    raised = "10" + str(int(exponent)).translate(SUPERSCRIPT)
    return raised if mantissa.strip("0.") == "1" else _minus(f"{mantissa} × {raised}")


def percent(share: Any, decimals: int = 1) -> str:
    """``85.1 %``, not to be broken; a share that is neither all nor nothing never reads so."""
    if share is None or not math.isfinite(share):
        return "–"
    text = f"{100.0 * share:.{decimals}f}"
    if 0.0 < share < 1.0 and float(text) in (0.0, 100.0) and decimals < 4:
        return percent(share, decimals + 1)
    return _minus(text) + "\u00a0%"


def percent_ticks(values: Sequence[float]) -> list[str]:
    """Shares on an axis, all with as many decimals as the finest of them needs."""
    for decimals in range(4):
        if all(abs(100.0 * v - round(100.0 * v, decimals)) < 1e-6 for v in values):
            break
    return [_minus(f"{100.0 * v:.{decimals}f}") + "\u00a0%" for v in values]


def seconds(value: Any) -> str:
    """A length of time in the unit that suits it."""
    if value is None or not math.isfinite(value):
        return "–"
    if value < 1.0:
        return f"{number(1000.0 * value, 2)} ms"
    if value < 120.0:
        return f"{number(value, 3)} s"
    if value < 7200.0:
        return f"{number(value / 60.0, 3)} min"
    return f"{number(value / 3600.0, 3)} h"


def count(n: int, one: str, many: str | None = None) -> str:
    """``1 row``, ``32,561 rows``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def width(text: str) -> float:
    """About how many units 12-unit type takes: enough for the widest of the system's fonts."""
    return sum(13.0 if east_asian_width(c) in "WF" else 10.5 if c in WIDE else 7.4 for c in text)


def fitting(text: str, units: float) -> str:
    """The text, or as much of its beginning as fits into so many units of width."""
    shown = shortened(text)[0]
    while width(shown) > units and len(shown) > 1:
        shown = shown[:-2].rstrip("…") + "…" if len(shown) > 2 else shown[:1]
    return shown


def _minus(text: str) -> str:
    return text.replace("-", "−")

"""Where a value lies on an axis, and which numbers stand beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .text import number, power


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic map from [low, high] to [start, end] on the drawing."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; one out of range is at the end."""
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Values inside the range with their texts, no more than ``most``."""
        if self.log and math.log10(self.high / self.low) >= 0.7:
            return _decades(self.low, self.high, most)
        return _round_steps(self.low, self.high, most)


def linear(values: Sequence[float], start: float, end: float, *, zero: bool = False) -> Scale:
    """A scale that holds all values, with a little room."""
    low, high = min(values), max(values)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.04 * (high - low) or 0.05 * abs(high) or 0.5
    return Scale(low if zero and low == 0.0 else low - room, high + room, start, end)


def logarithmic(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale in powers of ten that holds all (positive) values."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.04 if high > low else 2.0
    return Scale(low / room, high * room, start, end, log=True)


def _decades(low: float, high: float, most: int) -> list[tuple[float, str]]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:  # too few: 1, 2, 5, 10, ... instead
        fine = [m * 10.0**e for e in range(first - 1, last + 1) for m in (1, 2, 5)]
        return [(v, number(v)) for v in fine if low <= v <= high]
    every = max(1, math.ceil((last - first + 1) / most))
    return [(10.0**e, _decade(e)) for e in range(first, last + 1) if e % every == 0]


def _decade(exponent: int) -> str:
    return number(10.0**exponent) if -2 <= exponent <= 4 else power(10.0**exponent)


def _round_steps(low: float, high: float, most: int) -> list[tuple[float, str]]:
    rough = (high - low) / max(1, most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, number(float(f"{k * step:.12g}"), 6)) for k in range(first, last + 1)]

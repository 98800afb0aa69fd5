"""Losses of the error ``m = f(x) - y`` of a regression, and what tells them from losses of a margin.

Methods that minimise either take the loss as a function of m, and m from an ``Argument``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ERROR",
    "MARGIN",
    "Argument",
    "Huber",
    "NarrowHuber",
    "Pinball",
    "SmoothedPinball",
    "SquaredError",
]

FloatArray = NDArray[np.float64]


class Argument:
    """``m = y f``, for y in {-1, 0, +1}; a row with y = 0 takes no part."""

    def of(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """The argument of the loss for targets and outputs."""
        return y * f

    def per_output(self, cost: FloatArray, y: FloatArray) -> FloatArray:
        """Costs times the derivative of the argument in f, whose square is 1."""
        return cost * y

    def taking_part(self, y: FloatArray) -> FloatArray:
        """Numbers that are 0 where a row takes no part."""
        return y


class Error(Argument):
    """``m = f - y``, for real y; every row takes part."""

    def of(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """The argument of the loss for targets and outputs."""
        return f - y

    def per_output(self, cost: FloatArray, y: FloatArray) -> FloatArray:
        """The costs: the derivative is 1."""
        return cost

    def taking_part(self, y: FloatArray) -> FloatArray:
        """Ones."""
        return np.ones_like(y)


MARGIN, ERROR = Argument(), Error()


@dataclass(frozen=True)
class SquaredError:
    """``m^2 / 2``."""

    name: str = "squared-error"

    @np.errstate(over="ignore")
    def value(self, m: FloatArray) -> FloatArray:
        """``m^2 / 2``."""
        return 0.5 * m * m

    def slope(self, m: FloatArray) -> FloatArray:
        """``m``."""
        return m

    @np.errstate(over="ignore")
    def conjugate(self, u: FloatArray) -> FloatArray:
        """``u^2 / 2``."""
        return 0.5 * u * u

    def curvature(self, m: FloatArray) -> FloatArray:
        """``1``."""
        return np.ones_like(m)


@dataclass(frozen=True)
class Huber:
    """``m^2 / 2``, from ``delta`` on ``delta (|m| - delta / 2)``, all times ``steepest / delta``.

    So ``steepest`` is its largest slope; with ``steepest = delta`` it is the Huber loss itself.
    """

    delta: float
    steepest: float
    name: str = "huber"

    def value(self, m: FloatArray) -> FloatArray:
        """``steepest near (|m| - near delta / 2)`` with ``near = min(|m| / delta, 1)``."""
        size = np.abs(m)
        near = np.minimum(size / self.delta, 1.0)
        return self.steepest * near * (size - 0.5 * near * self.delta)

    def slope(self, m: FloatArray) -> FloatArray:
        """``steepest m / delta``, within ``[-steepest, steepest]``."""
        return self.steepest * np.clip(m / self.delta, -1.0, 1.0)

    @np.errstate(over="ignore")
    def conjugate(self, u: FloatArray) -> FloatArray:
        """``u^2 delta / (2 steepest)`` on ``|u| <= steepest``."""
        return np.where(np.abs(u) <= self.steepest, 0.5 * u * (u * self.delta / self.steepest), np.inf)

    def curvature(self, m: FloatArray) -> FloatArray:
        """``steepest / delta`` on the parabola, 0 elsewhere."""
        return np.where(np.abs(m) < self.delta, self.steepest / self.delta, 0.0)

    def secant(self, m: FloatArray, cost: FloatArray) -> FloatArray:
        """``cost`` times the curvature of the flattest parabola that touches the loss at m from above."""
        return cost * (self.steepest / np.maximum(self.delta, np.abs(m)))


@dataclass(frozen=True)
class NarrowHuber(Huber):
    """A Huber loss whose parabola is too narrow for Newton's method to find: it has wider twins."""

    kink: ClassVar[float] = 0.0

    def smoothed(self, width: float) -> NarrowHuber:
        """The envelope ``min over n of loss(n) + (m - n)^2 / (2 width)``, which is a Huber loss too."""
        return NarrowHuber(self.delta + width * self.steepest, self.steepest)


@dataclass(frozen=True)
class Pinball:
    """``max(-q m, (1 - q) m)``: in the residual r = -m, ``max(q r, (q - 1) r)``."""

    quantile: float
    name: str = "pinball"

    def value(self, m: FloatArray) -> FloatArray:
        """``max(-q m, (1 - q) m)``."""
        return np.maximum(-self.quantile * m, (1.0 - self.quantile) * m)

    def slope(self, m: FloatArray) -> FloatArray:
        """``1 - q if m > 0 else -q``."""
        return np.where(m > 0.0, 1.0 - self.quantile, -self.quantile)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """``0`` on ``-q <= u <= 1 - q``."""
        return np.where((u >= -self.quantile) & (u <= 1.0 - self.quantile), 0.0, np.inf)

    def smoothed(self, width: float) -> SmoothedPinball:
        """The twin that Newton methods use."""
        return SmoothedPinball(self.quantile, width)


@dataclass(frozen=True)
class SmoothedPinball:
    """The pinball loss, rounded off by a parabola over ``-q width < m < (1 - q) width``.

    It lies below the pinball loss by at most ``width max(q, 1 - q)^2 / 2``.
    """

    quantile: float
    width: float
    name: str = "smoothed-pinball"
    kink: ClassVar[float] = 0.0

    def value(self, m: FloatArray) -> FloatArray:
        """``m^2 / (2 width)`` on the parabola, tangents beyond."""
        near = np.clip(m, -self.quantile * self.width, (1.0 - self.quantile) * self.width)
        return near * (m - 0.5 * near) / self.width

    def slope(self, m: FloatArray) -> FloatArray:
        """``m / width``, within ``[-q, 1 - q]``."""
        return np.clip(m / self.width, -self.quantile, 1.0 - self.quantile)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """``width u^2 / 2`` on ``-q <= u <= 1 - q``."""
        inside = (u >= -self.quantile) & (u <= 1.0 - self.quantile)
        return np.where(inside, 0.5 * self.width * u * u, np.inf)

    def curvature(self, m: FloatArray) -> FloatArray:
        """``1 / width`` on the parabola, 0 elsewhere."""
        inside = (m > -self.quantile * self.width) & (m < (1.0 - self.quantile) * self.width)
        return np.where(inside, 1.0 / self.width, 0.0)

    def secant(self, m: FloatArray, cost: FloatArray) -> FloatArray:
        """``cost`` times the curvature of the flattest parabola that touches the loss at m from above."""
        return cost / np.maximum(
            self.width, 2.0 * np.abs(m) - np.sign(m) * (1.0 - 2.0 * self.quantile) * self.width
        )
